/**
 * Keys of a shared secret, one for each algorithm, imported when first asked for. The key is kept, not its promise: a
 * Worker's requests may not wait for one another's work.
 */
import type { KeyFinder } from "./token-verifier.ts";

const HMAC = /^HS(256|384|512)$/;

/** Gives the secret itself for an algorithm that takes none: what verifies then refuses it. */
export function secretKeys(secretOf: () => Promise<Uint8Array<ArrayBuffer>>): KeyFinder {
  const imported = new Map<string, CryptoKey>();
  return async ({ alg = "" }) => {
    const known = imported.get(alg);
    if (known) return known;
    const secret = await secretOf();
    const [, bits] = HMAC.exec(alg) ?? [];
    if (bits === undefined) return secret;
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: `SHA-${bits}` }, false, ["verify"]);
    imported.set(alg, key);
    return key;
  };
}
