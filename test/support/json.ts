/** Looking at JSON that a test or a service under test sent. */

export type JsonObject = { readonly [key: string]: unknown };

/** A mistake of the caller of a control route; answered with 400 and this message. */
export class BadRequest extends Error {}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Refuses misspelt fields of a control request: a silently ignored field is a test that tests something else. */
export function onlyKnown(object: JsonObject, known: readonly string[], what: string): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) throw new BadRequest(`${what}: unknown field "${key}" (known: ${known.join(", ")})`);
  }
}

export function atLeastZero(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The same text for the same JSON value, whatever the order of members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** `body` where the text is JSON, else `bodyText`. */
export function readable(text: string): { body: unknown; bodyText: string | null } {
  if (text === "") return { body: null, bodyText: null };
  try {
    return { body: JSON.parse(text), bodyText: null };
  } catch {
    return { body: null, bodyText: text };
  }
}
