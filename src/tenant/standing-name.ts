/** Where a tenant's standing is kept: one object per tenant. */
import { tenantDigest } from "./tenant-digest.ts";

export const standingName = async (tenantId: string): Promise<string> => `s1.${await tenantDigest(tenantId)}`;
