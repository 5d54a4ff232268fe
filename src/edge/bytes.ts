/** Encodings that more than one part of the edge needs. */
import { base64url } from "jose";

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(encoder.encode(text));
export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
export const toBase64Url = (bytes: Uint8Array): string => base64url.encode(bytes);

/** null for anything but the one way to write these bytes: no padding, no stray bits at the end. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = new Uint8Array(base64url.decode(text));
    return toBase64Url(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Each part with its length in four bytes before it, so that no two lists of parts give the same bytes: ("a|b", "c")
 * and ("a", "b|c") stay apart whatever the parts contain.
 */
export function lengthPrefixed(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoded = parts.map(utf8);
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
