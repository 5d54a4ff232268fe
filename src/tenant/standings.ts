/**
 * Who of a tenant counts, in the tenant's own object: the epochs from which tokens are good, who is deactivated, whether
 * the tenant is paused, and how far each sweep has come that carries such a change to the conversations.
 *
 * A tenant of which nothing was ever changed has no tables: asking writes nothing.
 */
import * as z from "zod";
import type { SweepOrder } from "../protocol/rpc.ts";
import type { Standing, Sweep, TenantStanding, UserStanding } from "../protocol/standing.ts";
import { GOOD_STANDING } from "../protocol/standing.ts";
import { isoOf } from "../protocol/time.ts";
import { migrateActor } from "../sql/actor-migrations.ts";
import { decodeRow, type Sql } from "../sql/rows.ts";

const MIGRATIONS = [
  {
    id: 1,
    // user_id '': the tenant itself.
    sql: `CREATE TABLE standings (
      tenant_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      valid_from INTEGER NOT NULL,
      deactivated INTEGER NOT NULL,
      paused INTEGER NOT NULL,
      changed_by TEXT NOT NULL,
      changed_at INTEGER NOT NULL,
      PRIMARY KEY (tenant_id, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sweeps (
      tenant_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      ordered_at INTEGER NOT NULL,
      pass_began_at INTEGER NOT NULL,
      after TEXT NOT NULL,
      found INTEGER NOT NULL,
      passes INTEGER NOT NULL,
      conversations INTEGER NOT NULL,
      runs INTEGER NOT NULL,
      sockets INTEGER NOT NULL,
      due_at INTEGER,
      PRIMARY KEY (tenant_id, user_id)
    ) STRICT, WITHOUT ROWID`,
  },
];

const StandingRow = z.object({ valid_from: z.number(), deactivated: z.number(), paused: z.number() });
const SweepKind = z.enum(["deactivated", "paused", "resumed"]);
const SweepRow = z.object({
  tenant_id: z.string(),
  user_id: z.string(),
  kind: SweepKind,
  ordered_at: z.number(),
  pass_began_at: z.number(),
  after: z.string(),
  found: z.number(),
  passes: z.number(),
  conversations: z.number(),
  runs: z.number(),
  sockets: z.number(),
  due_at: z.number().nullable(),
});
export type SweepRow = z.infer<typeof SweepRow>;

/** The tenant itself among its users: no user has an empty id. */
const TENANT = "";

export interface Change {
  readonly tenantId: string;
  /** Who orders it. */
  readonly by: string;
  /** Epoch ms. */
  readonly now: number;
}

export class Standings {
  readonly #sql: Sql;
  #open = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Of one user: what holds for the tenant holds for each of them. */
  of(tenantId: string, userId: string): Standing {
    const tenant = this.#row(tenantId, TENANT);
    const user = this.#row(tenantId, userId);
    if (!tenant && !user) return GOOD_STANDING;
    return {
      validFrom: Math.max(tenant?.valid_from ?? 0, user?.valid_from ?? 0),
      deactivated: tenant?.deactivated === 1 || user?.deactivated === 1,
      paused: tenant?.paused === 1,
    };
  }

  user(tenantId: string, userId: string): UserStanding {
    return { tenantId, userId, ...this.#shown(tenantId, userId) };
  }

  tenant(tenantId: string): TenantStanding {
    return { tenantId, paused: this.#row(tenantId, TENANT)?.paused === 1, ...this.#shown(tenantId, TENANT) };
  }

  /** @param userId absent: the whole tenant */
  deactivate(change: Change, userId = TENANT): void {
    // Tokens have whole seconds: one that was issued in this very second is revoked too.
    const validFrom = Math.floor(change.now / 1_000) + 1;
    this.#set(change, userId, { validFrom, deactivated: 1 });
    this.#order(change, userId, "deactivated");
  }

  /** Old tokens stay worthless: who comes back signs in anew. */
  reactivate(change: Change, userId = TENANT): void {
    this.#set(change, userId, { validFrom: Math.floor(change.now / 1_000), deactivated: 0 });
    this.#forgetSweep(change.tenantId, userId, "deactivated");
    // What was paused or resumed meanwhile has not been carried anywhere.
    const paused = this.#row(change.tenantId, TENANT)?.paused === 1;
    if (userId === TENANT) this.#order(change, TENANT, paused ? "paused" : "resumed");
  }

  pause(change: Change): void {
    this.#set(change, TENANT, { paused: 1 });
    this.#orderPause(change, "paused");
  }

  resume(change: Change): void {
    this.#set(change, TENANT, { paused: 0 });
    this.#orderPause(change, "resumed");
  }

  /** A tenant has one sweep. The one that locks people out is not given up for one that only lets their runs wait. */
  #orderPause(change: Change, kind: "paused" | "resumed"): void {
    if (this.#row(change.tenantId, TENANT)?.deactivated !== 1) this.#order(change, TENANT, kind);
  }

  /** The sweep that has waited longest, of those that are to go on by now. */
  due(now: number): SweepRow | null {
    if (!this.#isOpen()) return null;
    const rows = this.#sql.exec("SELECT * FROM sweeps WHERE due_at <= ? ORDER BY due_at LIMIT 1", now);
    return decodeRow(SweepRow, rows.toArray());
  }

  /** Epoch ms of the next thing to do; null: every sweep is done. */
  nextDue(): number | null {
    if (!this.#isOpen()) return null;
    const [row] = this.#sql.exec("SELECT min(due_at) AS at FROM sweeps").toArray();
    return typeof row?.["at"] === "number" ? row["at"] : null;
  }

  /** Keeps where a sweep is, unless another order has taken its place meanwhile. */
  keep(row: SweepRow): void {
    this.#sql.exec(
      `UPDATE sweeps SET pass_began_at = ?4, after = ?5, found = ?6, passes = ?7, conversations = ?8, runs = ?9,
         sockets = ?10, due_at = ?11
       WHERE tenant_id = ?1 AND user_id = ?2 AND ordered_at = ?3`,
      row.tenant_id,
      row.user_id,
      row.ordered_at,
      row.pass_began_at,
      row.after,
      row.found,
      row.passes,
      row.conversations,
      row.runs,
      row.sockets,
      row.due_at,
    );
  }

  #set(
    { tenantId, by, now }: Change,
    userId: string,
    to: { readonly validFrom?: number; readonly deactivated?: 0 | 1; readonly paused?: 0 | 1 },
  ): void {
    this.#create(now);
    const old = this.#row(tenantId, userId);
    this.#sql.exec(
      `INSERT INTO standings (tenant_id, user_id, valid_from, deactivated, paused, changed_by, changed_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (tenant_id, user_id) DO UPDATE SET valid_from = ?3, deactivated = ?4, paused = ?5, changed_by = ?6,
         changed_at = ?7`,
      tenantId,
      userId,
      // Never back: what was revoked stays revoked, whatever the clock does.
      Math.max(old?.valid_from ?? 0, to.validFrom ?? 0),
      to.deactivated ?? old?.deactivated ?? 0,
      to.paused ?? old?.paused ?? 0,
      by,
      now,
    );
  }

  #order({ tenantId, now }: Change, userId: string, kind: SweepOrder["kind"]): void {
    this.#sql.exec(
      `INSERT INTO sweeps (tenant_id, user_id, kind, ordered_at, pass_began_at, after, found, passes, conversations,
         runs, sockets, due_at)
       VALUES (?1, ?2, ?3, ?4, ?4, '', 0, 0, 0, 0, 0, ?4)
       ON CONFLICT (tenant_id, user_id) DO UPDATE SET kind = ?3, ordered_at = max(?4, ordered_at + 1), pass_began_at = ?4,
         after = '', found = 0, passes = 0, conversations = 0, runs = 0, sockets = 0, due_at = ?4`,
      tenantId,
      userId,
      kind,
      now,
    );
  }

  #forgetSweep(tenantId: string, userId: string, kind: SweepOrder["kind"]): void {
    this.#sql.exec("DELETE FROM sweeps WHERE tenant_id = ? AND user_id = ? AND kind = ?", tenantId, userId, kind);
  }

  #shown(tenantId: string, userId: string): Pick<UserStanding, "state" | "validFrom" | "sweep"> {
    const row = this.#row(tenantId, userId);
    const sweep = this.#sweep(tenantId, userId);
    return {
      state: row?.deactivated === 1 ? "deactivated" : "active",
      ...(row && row.valid_from > 0 ? { validFrom: isoOf(row.valid_from * 1_000) } : {}),
      ...(sweep ? { sweep } : {}),
    };
  }

  #sweep(tenantId: string, userId: string): Sweep | null {
    if (!this.#isOpen()) return null;
    const found = this.#sql.exec("SELECT * FROM sweeps WHERE tenant_id = ? AND user_id = ?", tenantId, userId);
    const row = decodeRow(SweepRow, found.toArray());
    if (!row) return null;
    const { passes, conversations, runs, sockets, due_at } = row;
    return { state: due_at === null ? "done" : "running", passes, conversations, runs, sockets };
  }

  #row(tenantId: string, userId: string): z.infer<typeof StandingRow> | null {
    if (!this.#isOpen()) return null;
    const rows = this.#sql.exec(
      "SELECT valid_from, deactivated, paused FROM standings WHERE tenant_id = ? AND user_id = ?",
      tenantId,
      userId,
    );
    return decodeRow(StandingRow, rows.toArray());
  }

  #isOpen(): boolean {
    this.#open ||= this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'standings'").toArray().length > 0;
    return this.#open;
  }

  #create(now: number): void {
    migrateActor(this.#sql, MIGRATIONS, now);
    this.#open = true;
  }
}
