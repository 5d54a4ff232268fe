/** Names of a tenant's objects begin with this: it tells neither the tenant nor anything else. */
export const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** An isolate serves few tenants, and asks at every command. */
const KEPT = 100;
const digests = new Map<string, string>();

export async function tenantDigest(tenantId: string): Promise<string> {
  const known = digests.get(tenantId);
  if (known !== undefined) return known;
  const digest = base64Url(await sha256(`tenant:${tenantId}`));
  if (digests.size >= KEPT) digests.clear();
  digests.set(tenantId, digest);
  return digest;
}
