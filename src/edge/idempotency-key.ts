/** `Idempotency-Key`: one key, bare or as an RFC 8941 string; `abc` and `"abc"` are the same key. */
import { IdempotencyKey } from "../protocol/ids.ts";
import { reject, type Result } from "../protocol/problems.ts";

export type KeyUse = "required" | "accepted" | "none";

export function readIdempotencyKey(headers: Headers, use: KeyUse): Result<string | undefined> {
  const header = use === "none" ? null : headers.get("idempotency-key");
  if (header === null) {
    return use === "required"
      ? { ok: false, rejection: reject("idempotency_key_missing", "Send an Idempotency-Key: one click, one key.") }
      : { ok: true, value: undefined };
  }
  // A header that was sent twice arrives joined by ", ": the space makes it no key.
  const key = IdempotencyKey.safeParse(header.startsWith('"') ? unquoted(header) : header);
  if (key.success) return { ok: true, value: key.data };
  const detail = "An Idempotency-Key has 1 to 255 visible ASCII characters, bare or in double quotes.";
  return { ok: false, rejection: reject("invalid_request", detail) };
}

const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const unquoted = (text: string): string => (QUOTED.exec(text)?.[1] ?? "").replaceAll(/\\(["\\])/g, "$1");
