/**
 * JSON for model APIs. They refuse a body with a lone surrogate, and some of their stores choke on NUL; one of either
 * in the history would make every later request of the conversation fail. So neither leaves here: both become U+FFFD.
 */
import { canonicalJson } from "../protocol/canonical-json.ts";

/** One escape of JSON text. Every escape is matched, so that `\\ud800` (a backslash and five letters) stays as it is. */
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** JSON of a value that JSON has; `null` for one that it does not have. */
export function encodeJson(value: unknown): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) return "null";
  if (!json.includes("\\u0000") && !json.includes("\\ud")) return json;
  return json.replaceAll(ESCAPE, (escape) => (escape.length === 6 ? "\ufffd" : escape));
}

/** Call arguments as every API takes them: the JSON text of an object, whatever was written. */
export function argumentsText(args: unknown): string {
  const value = typeof args === "string" ? parsed(args) : args;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "{}";
  try {
    return canonicalJson(JSON.parse(encodeJson(value)));
  } catch {
    // Nested deeper than the stack. What was written is in the log; a history that cannot be told would end the actor.
    return "{}";
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
