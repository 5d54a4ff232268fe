/**
 * Fills the names in a case's data: `{{run}}` is the stage's run. Objects with one `$` member stand for what JSON cannot
 * say, or not in a line: `{"$repeat": ["x", 1000]}` (text), `{"$bytes": [255]}`, `{"$zeros": 70000}` (bytes), and
 * `{"$join": [...]}` of such texts.
 */
export type Names = Readonly<Record<string, string>>;

export function fill(value: unknown, names: Names): unknown {
  if (typeof value === "string") return filled(value, names);
  if (Array.isArray(value)) return value.map((item) => fill(item, names));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (only && entries.length === 1 && only[0].startsWith("$")) return made(only[0], only[1], names);
  return Object.fromEntries(entries.map(([name, member]) => [filled(name, names), fill(member, names)]));
}

function made(kind: string, value: unknown, names: Names): string | Uint8Array {
  if (kind === "$zeros" && typeof value === "number") return new Uint8Array(value);
  if (!Array.isArray(value)) throw new Error(`${kind} takes a list`);
  const parts = value.map((part) => fill(part, names));
  if (kind === "$join") return parts.map(String).join("");
  if (kind === "$bytes") return Uint8Array.from(parts.map(Number));
  const [text, times] = parts;
  if (kind === "$repeat" && typeof text === "string" && typeof times === "number") return text.repeat(times);
  throw new Error(`nothing is called ${kind}`);
}

function filled(text: string, names: Names): string {
  return text.replaceAll(/\{\{([a-zA-Z.]+)\}\}/g, (_, name: string) => {
    if (name === "fresh") return crypto.randomUUID();
    const value = names[name];
    if (value === undefined) throw new Error(`nothing is called ${name} here`);
    return value;
  });
}
