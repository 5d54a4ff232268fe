/**
 * Where a key is registered: one of 16 objects per tenant, chosen by the key's hash, so that they fill evenly. The name
 * tells neither the tenant nor the key.
 */
async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export async function registryName(tenantId: string, key: string): Promise<string> {
  const [tenant, hash] = await Promise.all([digest(`tenant:${tenantId}`), digest(key)]);
  return `g1.${base64Url(tenant)}.${((hash[0] ?? 0) >> 4).toString(16)}`;
}
