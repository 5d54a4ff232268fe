/** The one way to a history: of one tenant. Whoever holds it cannot ask about another. */
import type { TenantHistory } from "./read-outcome.ts";
import type { HistoryDatabase } from "./statement.ts";

export const historyFor = (db: HistoryDatabase, tenantId: string): TenantHistory => ({ db, tenantId });
