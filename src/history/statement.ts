/**
 * What the projection writes: SQL with its parameters, and the database that takes it. Statements are constants; values
 * are bound, never spliced. The interface is the part of a D1 that is used, so tests run it on `node:sqlite`.
 */

export type Value = string | number | null;

export interface Statement {
  readonly sql: string;
  readonly params: readonly Value[];
}

export interface HistoryStatement {
  bind(...values: unknown[]): HistoryStatement;
  all(): Promise<{ results: Record<string, unknown>[] }>;
}

/** Of a `D1Database`: `batch` is one transaction. */
export interface HistoryDatabase {
  prepare(sql: string): HistoryStatement;
  batch(statements: HistoryStatement[]): Promise<{ results: Record<string, unknown>[] }[]>;
}

/** Whose log it is. */
export interface Subject {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly generation: string;
}

/**
 * The first four parameters of every projecting statement: ?1 tenant, ?2 conversation, ?3 generation, ?4 the event's
 * seq. The guard holds only for the very next event of this generation, or for one that was left out before; an erased
 * conversation has no row, so nothing holds for it. That makes every statement idempotent per (conversation, seq).
 */
export const GUARD = `EXISTS (SELECT 1 FROM conversations g
  WHERE g.tenant_id = ?1 AND g.conversation_id = ?2 AND g.generation = ?3 AND (g.seq = ?4 - 1 OR EXISTS (
    SELECT 1 FROM holes h WHERE h.tenant_id = ?1 AND h.conversation_id = ?2 AND h.generation = ?3 AND h.seq = ?4)))`;

/** The rows of this conversation and generation, in a table named without alias. */
export const OF_CONVERSATION = "tenant_id = ?1 AND conversation_id = ?2 AND generation = ?3";

/** @param params ?5 and on */
export const guarded = (
  { tenantId, conversationId, generation }: Subject,
  seq: number,
  sql: string,
  ...params: readonly Value[]
): Statement => ({ sql, params: [tenantId, conversationId, generation, seq, ...params] });

export const prepared = (db: HistoryDatabase, { sql, params }: Statement): HistoryStatement =>
  db.prepare(sql).bind(...params);
