/**
 * Sub-keys of the one master secret, by purpose (HKDF-SHA-256): what one purpose signs is worthless for another.
 * The master secret itself signs nothing.
 */
import { lengthPrefixed, utf8 } from "./bytes.ts";

export type Purpose = "development-sign-in" | "page-cursors" | "conversation-ids" | "tickets";

/** 32 bytes for this purpose. */
export async function deriveKey(masterKey: string, purpose: Purpose): Promise<Uint8Array<ArrayBuffer>> {
  const master = await crypto.subtle.importKey("raw", utf8(masterKey), "HKDF", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt: utf8("holdpoint/1"), info: utf8(purpose) },
    master,
    256,
  );
  return new Uint8Array(bits);
}

export interface Mac {
  /** HMAC-SHA-256 over the parts, each with its length. */
  sign(parts: readonly string[]): Promise<Uint8Array<ArrayBuffer>>;
  /** In constant time. */
  verify(parts: readonly string[], mac: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

export function macOf(masterKey: string, purpose: Purpose): Mac {
  // The key is kept, not its promise: a Worker's requests may not wait for one another's work.
  let imported: CryptoKey | null = null;
  const key = async () => {
    if (imported !== null) return imported;
    const raw = await deriveKey(masterKey, purpose);
    imported = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
    return imported;
  };
  return {
    sign: async (parts) => new Uint8Array(await crypto.subtle.sign("HMAC", await key(), lengthPrefixed(parts))),
    verify: async (parts, mac) => crypto.subtle.verify("HMAC", await key(), mac, lengthPrefixed(parts)),
  };
}
