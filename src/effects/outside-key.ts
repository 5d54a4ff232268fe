/**
 * The key under which the outside world knows a call: the same over attempts, restarts and people's resolutions, and not
 * to be guessed by anybody who knows the call's id.
 */
import { base64Url } from "./digests.ts";

export const OUTSIDE_KEY_PURPOSE = "outside-key";

export interface OutsideCall {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly runId: string;
  readonly toolCallId: string;
}

/** @returns 43 characters of base64url */
export async function outsideKey(key: CryptoKey, call: OutsideCall): Promise<string> {
  const parts = [call.tenantId, call.conversationId, call.runId, call.toolCallId];
  return base64Url(await crypto.subtle.sign("HMAC", key, lengthPrefixed(parts)));
}

/** Without the lengths, ("ab", "c") and ("a", "bc") would have one key. */
function lengthPrefixed(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoded = parts.map((part) => new TextEncoder().encode(part));
  const bytes = new Uint8Array(encoded.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of encoded) {
    view.setUint32(at, part.length);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return bytes;
}
