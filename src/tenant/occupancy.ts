/**
 * How many runs of a tenant are queued or running, as the actors say, and the starts that were let in meanwhile. Actors
 * tell a level and no increments, so a message that is lost or doubled is put right by the next one; what nobody speaks
 * of any more expires.
 */
import type { Sql } from "../sql/rows.ts";

/** A start that was let in is registered within this time, or never. */
const HOLD_MS = 30_000;
/** An actor that is at work says so again long before. */
export const OCCUPANCY_MS = 3_600_000;

export class Occupancy {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns false: there are as many as there may be */
  hold(tenantId: string, id: string, conversationId: string, bound: number, now: number): boolean {
    this.sweep(now);
    if (this.count(tenantId) >= bound) return false;
    this.#sql.exec(
      `INSERT INTO holds (tenant_id, id, conversation_id, expires_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (tenant_id, id) DO UPDATE SET expires_at = ?4`,
      tenantId,
      id,
      conversationId,
      now + HOLD_MS,
    );
    return true;
  }

  release(tenantId: string, id: string): void {
    this.#sql.exec("DELETE FROM holds WHERE tenant_id = ? AND id = ?", tenantId, id);
  }

  /** What a conversation has now. Its own holds are part of it. */
  level(tenantId: string, conversationId: string, runs: number, now: number): void {
    this.#sql.exec("DELETE FROM holds WHERE tenant_id = ? AND conversation_id = ?", tenantId, conversationId);
    if (runs === 0) {
      this.#sql.exec("DELETE FROM occupancy WHERE tenant_id = ? AND conversation_id = ?", tenantId, conversationId);
      return;
    }
    this.#sql.exec(
      `INSERT INTO occupancy (tenant_id, conversation_id, runs, expires_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET runs = ?3, expires_at = ?4`,
      tenantId,
      conversationId,
      runs,
      now + OCCUPANCY_MS,
    );
  }

  /** Of a tenant, after a sweep. */
  count(tenantId: string): number {
    const [row] = this.#sql
      .exec(
        `SELECT (SELECT coalesce(sum(runs), 0) FROM occupancy WHERE tenant_id = ?1)
           + (SELECT count(*) FROM holds WHERE tenant_id = ?1) AS n`,
        tenantId,
      )
      .toArray();
    return Number(row?.["n"] ?? 0);
  }

  /** @returns when something expires next (epoch ms); null: there is nothing */
  sweep(now: number): number | null {
    this.#sql.exec("DELETE FROM holds WHERE expires_at <= ?", now);
    this.#sql.exec("DELETE FROM occupancy WHERE expires_at <= ?", now);
    const [next] = this.#sql
      .exec(
        "SELECT min(at) AS at FROM (SELECT min(expires_at) AS at FROM holds UNION ALL SELECT min(expires_at) FROM occupancy)",
      )
      .toArray();
    return typeof next?.["at"] === "number" ? next["at"] : null;
  }
}
