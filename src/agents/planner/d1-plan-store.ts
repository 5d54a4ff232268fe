/** Plans in the D1 binding `APP`. */
import * as z from "zod";
import { isoOf } from "../../protocol/time.ts";
import { decodeRow, decodeRows } from "../../sql/rows.ts";
import { AmbiguousOutcome } from "../../tools/outcome.ts";
import { stored, type Owner, type Plan, type PlanStore, type StoredPlan } from "./plan-store.ts";

const Row = z
  .object({
    id: z.string(),
    title: z.string(),
    notes: z.string(),
    version: z.int(),
    last_change: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .transform(({ last_change: lastChange, created_at, updated_at, ...plan }): StoredPlan => {
    return { plan: { ...plan, createdAt: isoOf(created_at), updatedAt: isoOf(updated_at) }, lastChange };
  });

const COLUMNS = "id, title, notes, version, last_change, created_at, updated_at";
const OF_OWNER = "tenant_id = ?1 AND user_id = ?2";

export class D1PlanStore implements PlanStore {
  readonly #db: D1Database;
  readonly #now: () => number;

  constructor(db: D1Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async list(owner: Owner, limit: number) {
    const sql = `SELECT ${COLUMNS} FROM plans WHERE ${OF_OWNER} ORDER BY created_at DESC, id DESC LIMIT ?3`;
    const rows = await this.#rows(sql, owner, limit);
    return stored(decodeRows(Row, rows).map(({ plan }) => plan));
  }

  async find(owner: Owner, id: string) {
    return stored(await this.#find(owner, id));
  }

  async insert(owner: Owner, { id, title, notes, mark }: Parameters<PlanStore["insert"]>[1]) {
    const sql = `INSERT INTO plans (tenant_id, user_id, id, title, notes, version, last_change, created_at, updated_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?7) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;
    const row = decodeRow(Row, await this.#rows(sql, owner, id, title, notes, mark, this.#now()));
    const plan = row ?? (await this.#find(owner, id));
    if (plan === null) throw unavailable("The plan was neither stored nor found.");
    return stored(plan.plan);
  }

  async update(owner: Owner, { id, version, title, notes, mark }: Parameters<PlanStore["update"]>[1]) {
    const sql = `UPDATE plans SET title = coalesce(?5, title), notes = coalesce(?6, notes), version = version + 1,
      last_change = ?7, updated_at = ?8 WHERE ${OF_OWNER} AND id = ?3 AND version = ?4 RETURNING ${COLUMNS}`;
    const values = [id, version, title ?? null, notes ?? null, mark, this.#now()];
    const row = decodeRow(Row, await this.#rows(sql, owner, ...values));
    return stored<Plan | null>(row && row.plan);
  }

  async remove(owner: Owner, { id, version }: Parameters<PlanStore["remove"]>[1]) {
    const sql = `DELETE FROM plans WHERE ${OF_OWNER} AND id = ?3 AND version = ?4 RETURNING id`;
    return stored((await this.#rows(sql, owner, id, version)).length > 0);
  }

  async #find(owner: Owner, id: string): Promise<StoredPlan | null> {
    return decodeRow(Row, await this.#rows(`SELECT ${COLUMNS} FROM plans WHERE ${OF_OWNER} AND id = ?3`, owner, id));
  }

  async #rows(sql: string, { tenantId, userId }: Owner, ...values: (string | number | null)[]): Promise<unknown[]> {
    try {
      const { results } = await this.#db
        .prepare(sql)
        .bind(tenantId, userId, ...values)
        .all();
      return results;
    } catch (error) {
      throw unavailable("The store of the plans gave no answer.", error);
    }
  }
}

function unavailable(message: string, cause?: unknown): AmbiguousOutcome {
  return new AmbiguousOutcome({ code: "PLANS_UNAVAILABLE", message, retryable: true }, cause);
}
