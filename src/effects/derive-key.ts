/**
 * Sub-keys of the one master secret, by purpose: a leak of one tells nothing of another, and a value signed for one
 * purpose never passes for another. The secret itself is used for nothing else.
 */
const utf8 = new TextEncoder();

/** @param master HOLDPOINT_KEY; an empty one is refused, since everybody knows it */
export async function deriveKey(master: string, purpose: string): Promise<CryptoKey> {
  if (master === "") throw new Error("the master secret is empty");
  const material = await crypto.subtle.importKey("raw", utf8.encode(master), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: utf8.encode("holdpoint"), info: utf8.encode(`holdpoint/${purpose}/1`) },
    material,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign"],
  );
}
