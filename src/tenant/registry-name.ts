/**
 * Where a key is registered: one of 16 objects per tenant, chosen by the key's hash, so that they fill evenly. The name
 * tells neither the tenant nor the key.
 */
import { sha256, tenantDigest } from "./tenant-digest.ts";

export async function registryName(tenantId: string, key: string): Promise<string> {
  const [tenant, hash] = await Promise.all([tenantDigest(tenantId), sha256(key)]);
  return `g1.${tenant}.${((hash[0] ?? 0) >> 4).toString(16)}`;
}
