/**
 * The conversations in which a user, or anybody of a tenant, may have something open: what a sweep has to visit. It may
 * lag behind the actors as every read here does; the sweep asks again until it finds nothing. Names ids and nothing else.
 */
import type { TenantHistory } from "./read-outcome.ts";
import { textIn } from "./row.ts";
import { prepared } from "./statement.ts";

export interface HoldingsQuery {
  /** Absent: of the whole tenant. */
  readonly userId?: string;
  /** Conversation ids above this one; "": from the first. */
  readonly after: string;
  readonly limit: number;
}

const OF_TENANT = `SELECT conversation_id FROM conversations WHERE tenant_id = ?1 AND conversation_id > ?2
  ORDER BY conversation_id LIMIT ?3`;

// With a place in it, or without one: as its operator, or as one of those who may look while an operator is wanted (the
// history does not know who), or by a run that goes on after the place was taken away.
const OF_USER = `SELECT c.conversation_id FROM conversations c WHERE c.tenant_id = ?1 AND c.conversation_id > ?2
    AND (c.operator_id = ?4 OR c.handover_state <> 'none'
      OR EXISTS (SELECT 1 FROM participants p WHERE p.tenant_id = c.tenant_id AND p.conversation_id = c.conversation_id
        AND p.generation = c.generation AND p.user_id = ?4)
      OR EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = c.tenant_id AND r.conversation_id = c.conversation_id
        AND r.generation = c.generation AND r.started_by = ?4 AND r.finished_at IS NULL))
  ORDER BY c.conversation_id LIMIT ?3`;

/** In ascending order. */
export async function readHoldings(
  { tenantId, db }: TenantHistory,
  { userId, after, limit }: HoldingsQuery,
): Promise<string[]> {
  const statement =
    userId === undefined
      ? { sql: OF_TENANT, params: [tenantId, after, limit] }
      : { sql: OF_USER, params: [tenantId, after, limit, userId] };
  const { results } = await prepared(db, statement).all();
  return results.map((row) => textIn(row, "conversation_id"));
}
