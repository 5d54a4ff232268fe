/** Where a tenant's ledger is kept: one object per tenant. That of the whole service has no tenant's name. */
import { tenantDigest } from "./tenant-digest.ts";

export const ledgerName = async (tenantId: string): Promise<string> => `l1.${await tenantDigest(tenantId)}`;
export const SERVICE_LEDGER = "l1.service";
