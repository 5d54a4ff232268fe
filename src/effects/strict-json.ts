/**
 * The argument text of a call, read strictly: complete JSON of one object, nothing repaired and nothing guessed. A
 * lenient reading would run a tool with something that the model did not say.
 */
import { LIMITS } from "../protocol/limits.ts";
import { utf8Bytes } from "../protocol/text.ts";

export type StrictArgs =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  /** A clean sentence for the model. */
  | { readonly ok: false; readonly detail: string };

/** Half of what an event may hold: arguments stand in it beside the preview and what the model wrote. */
export const ARGS_BYTES = LIMITS.argsBytes / 2;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]/g;

/** Empty text is an empty object: calls of tools without parameters come like that. */
export function parseArgs(text: string): StrictArgs {
  if (text.trim() === "") return { ok: true, value: {} };
  if (utf8Bytes(text) > ARGS_BYTES) return no(`The arguments must be at most ${ARGS_BYTES} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return no("The arguments are not complete JSON.");
  }
  if (typeof value === "string") return no("The arguments are a string; they must be a JSON object, encoded once.");
  if (!isObject(value)) return no("The arguments must be a JSON object.");
  const detail = complaint(text);
  return detail === null ? { ok: true, value } : no(detail);
}

const no = (detail: string): StrictArgs => ({ ok: false, detail });
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What `JSON.parse` accepts but changes or hides. The text is known to be JSON. */
function complaint(json: string): string | null {
  const open: (Set<string> | null)[] = [];
  let names = 0;
  let expectName = false;
  for (const [token] of json.matchAll(TOKEN)) {
    const members = open.at(-1);
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > LIMITS.jsonDepth) return `The arguments are nested deeper than ${LIMITS.jsonDepth}.`;
      expectName = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      expectName = false;
    } else if (token === ",") expectName = open.at(-1) instanceof Set;
    else if (token === ":") expectName = false;
    else if (token.startsWith('"')) {
      const text = String(JSON.parse(token));
      if (!text.isWellFormed()) return "The arguments hold half of a surrogate pair.";
      if (!expectName || !members) continue;
      if (text === "__proto__") return "A member may not be named __proto__.";
      if (members.has(text)) return "The arguments name a member twice.";
      members.add(text);
      if (++names > LIMITS.jsonKeys) return `The arguments have more than ${LIMITS.jsonKeys} members.`;
    } else if (!isExact(Number(token))) return "A number is too large to be kept exactly; send it as a string.";
  }
  return null;
}

const isExact = (n: number): boolean => Number.isFinite(n) && (!Number.isInteger(n) || Number.isSafeInteger(n));
