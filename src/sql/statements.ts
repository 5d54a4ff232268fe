/**
 * Cuts SQL text into statements, because D1 prepares one at a time. Knows strings, quoted names, comments and the
 * semicolons inside a trigger's body; it is for migrations of ours, not for SQL from anywhere else.
 */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_][A-Za-z_0-9]*|;|\S/g;
const COMMENT = /^(?:--|\/\*)/;

export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let words: string[] = [];
  let depth = 0;
  let empty = true;
  const close = (end: number) => {
    if (!empty) statements.push(sql.slice(start, end).trim());
    start = end;
    words = [];
    depth = 0;
    empty = true;
  };
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (COMMENT.test(token)) continue;
    if (token === ";" && depth === 0) {
      close(index);
      start = index + 1;
      continue;
    }
    empty = false;
    const word = token.toUpperCase();
    if (words.length < 3) words.push(word);
    if (!isTrigger(words)) continue;
    if (word === "BEGIN" || word === "CASE") depth++;
    if (word === "END") depth--;
  }
  close(sql.length);
  return statements;
}

const isTrigger = ([first, second, third]: readonly string[]): boolean =>
  first === "CREATE" &&
  (second === "TRIGGER" || ((second === "TEMP" || second === "TEMPORARY") && third === "TRIGGER"));
