/**
 * Canonical JSON (RFC 8785): one text for one value, whatever the order of its members. What is digested is this text.
 * Throws on a value that JSON does not have, and on lone surrogates; callers hand it validated data only.
 */
import canonicalize from "canonicalize";

export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return text;
}
