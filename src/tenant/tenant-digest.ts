/** Names of a tenant's objects begin with this: it tells neither the tenant nor anything else. */
export const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export const tenantDigest = async (tenantId: string): Promise<string> => base64Url(await sha256(`tenant:${tenantId}`));
