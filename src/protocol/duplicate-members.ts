/**
 * Whether any object of a JSON text names a member twice. Parsers differ in which of the two they take, so a token or a
 * command that has one means one thing where it was made or looked at, and may mean another here.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

/** @param json a text that parses */
export function namesTwice(json: string): boolean {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of json.matchAll(TOKEN)) {
    // A list has no names, but takes its place among what is open.
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const names = open.at(-1);
      // Names may be written in several ways.
      const name = last.includes("\\") ? String(JSON.parse(last)) : last.slice(1, -1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
    last = token;
  }
  return false;
}
