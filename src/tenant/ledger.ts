/**
 * What a tenant has spent and has reserved. A call reserves before it is sent and is settled when it has ended, so that
 * callers side by side never see the same money. A reservation that nobody settles expires; it is then booked at the
 * least that its call has cost, because what was sent was read. A late settlement still puts the amount right.
 *
 * Asking for more than is left is refused, but for one thing: who is alone may begin while anything is left. So the
 * spending ends at most one call above its limit, however large a call is reserved.
 */
import * as z from "zod";
import {
  SPENDS,
  WARN_PERCENTS,
  type Amounts,
  type BudgetLevels,
  type BudgetLimits,
  type BudgetWarning,
  type Spend,
  type SpendName,
} from "../protocol/budget.ts";
import { isoOf } from "../protocol/time.ts";
import { decodeRow, type Sql } from "../sql/rows.ts";

const DAY_MS = 24 * 3_600_000;
/** How long an expired reservation may still be settled, and periods are remembered. */
const KEPT_MS = 2 * DAY_MS;

export interface Reservation extends Amounts {
  readonly tenantId: string;
  /** Of the attempt: reserving it again replaces it. */
  readonly id: string;
  /** What holds of the same conversation do not count against it. */
  readonly conversationId: string;
  /** What it has cost in any case once it was sent. */
  readonly least: Amounts;
  /** Epoch ms. */
  readonly expiresAt: number;
}

export type Reserved =
  | { readonly ok: true }
  /** `spent` false: the rest is only reserved, and may come free any moment. */
  | { readonly ok: false; readonly name: SpendName; readonly spent: boolean; readonly freeAt: number };

const Sum = z.object({ spent: z.number(), reserved: z.number(), open: z.number() });
const ReservationRow = z.object({
  began_at: z.number(),
  least_tokens: z.number(),
  least_micro_usd: z.number().nullable(),
  booked: z.number(),
});

export class Ledger {
  readonly #sql: Sql;

  /** @param sql with the tables of `ledger-migrations.ts` */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  reserve(ask: Reservation, limits: BudgetLimits, now: number): Reserved {
    this.expire(now);
    for (const spend of SPENDS) {
      const bound = limits[spend.name];
      if (bound === undefined) continue;
      const { spent, reserved, open } = this.#sum(spend, ask.tenantId, now, ask);
      const fits = spent + reserved + amountOf(spend, ask) <= bound || (open === 0 && spent < bound);
      if (!fits) return { ok: false, name: spend.name, spent: spent >= bound, freeAt: endOf(spend, now) };
    }
    // From now on the call stands for itself; what is left of a start's hold would keep others out.
    this.#sql.exec(
      "DELETE FROM reservations WHERE tenant_id = ? AND conversation_id = ? AND booked = 0 AND id LIKE 'start:%'",
      ask.tenantId,
      ask.conversationId,
    );
    this.#sql.exec(
      `INSERT INTO reservations (tenant_id, id, conversation_id, began_at, tokens, micro_usd, least_tokens,
         least_micro_usd, expires_at, booked)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0)
       ON CONFLICT (tenant_id, id) DO UPDATE SET tokens = ?5, micro_usd = ?6, least_tokens = ?7, least_micro_usd = ?8,
         expires_at = ?9`,
      ask.tenantId,
      ask.id,
      ask.conversationId,
      now,
      ask.tokens,
      ask.microUsd,
      ask.least.tokens,
      ask.least.microUsd,
      ask.expiresAt,
    );
    return { ok: true };
  }

  /** Books what the call has cost, and gives the rest back. Twice is once. @returns the warnings that are due now */
  settle(tenantId: string, id: string, cost: Amounts, limits: BudgetLimits, now: number): BudgetWarning[] {
    this.expire(now);
    const rows = this.#sql.exec(
      "SELECT began_at, least_tokens, least_micro_usd, booked FROM reservations WHERE tenant_id = ? AND id = ?",
      tenantId,
      id,
    );
    const row = decodeRow(ReservationRow, rows.toArray());
    if (!row) return [];
    this.#sql.exec("DELETE FROM reservations WHERE tenant_id = ? AND id = ?", tenantId, id);
    const before =
      row.booked === 1 ? { tokens: row.least_tokens, microUsd: row.least_micro_usd } : { tokens: 0, microUsd: 0 };
    this.#book(tenantId, row.began_at, {
      tokens: cost.tokens - before.tokens,
      microUsd: (cost.microUsd ?? 0) - (before.microUsd ?? 0),
    });
    return this.#warnings(tenantId, limits, row.began_at);
  }

  /** Reservations of calls that nobody has heard of again. @returns whether there were any */
  expire(now: number): boolean {
    const rows = this.#sql
      .exec("SELECT * FROM reservations WHERE booked = 0 AND expires_at <= ? ORDER BY tenant_id, id", now)
      .toArray();
    for (const row of rows) {
      const { began_at, least_tokens, least_micro_usd } = ReservationRow.parse(row);
      this.#book(String(row["tenant_id"]), began_at, { tokens: least_tokens, microUsd: least_micro_usd });
    }
    if (rows.length > 0) {
      this.#sql.exec("UPDATE reservations SET booked = 1 WHERE booked = 0 AND expires_at <= ?", now);
    }
    return rows.length > 0;
  }

  /** Forgets what is long past. @returns when something is to be expired next (epoch ms); null: nothing is */
  sweep(now: number): number | null {
    this.expire(now);
    const past = now - KEPT_MS;
    this.#sql.exec("DELETE FROM reservations WHERE booked = 1 AND expires_at <= ?", past);
    this.#sql.exec("DELETE FROM spent WHERE until <= ?", past);
    this.#sql.exec("DELETE FROM warned WHERE until <= ?", past);
    const [next] = this.#sql.exec("SELECT min(expires_at) AS at FROM reservations WHERE booked = 0").toArray();
    return typeof next?.["at"] === "number" ? next["at"] : null;
  }

  levels(tenantId: string, limits: BudgetLimits, now: number): BudgetLevels {
    this.expire(now);
    return Object.fromEntries(
      SPENDS.flatMap((spend) => {
        const bound = limits[spend.name];
        if (bound === undefined) return [];
        const { spent: used, reserved } = this.#sum(spend, tenantId, now, null);
        return [[spend.name, { used, reserved, bound, resetsAt: isoOf(endOf(spend, now)) }]];
      }),
    );
  }

  /** Reservations that stand now. */
  open(tenantId: string, now: number): number {
    this.expire(now);
    const [row] = this.#sql
      .exec("SELECT count(*) AS n FROM reservations WHERE tenant_id = ? AND booked = 0", tenantId)
      .toArray();
    return Number(row?.["n"] ?? 0);
  }

  /** Of the period that `now` lies in; without the reservation itself and without holds of its own conversation. */
  #sum(
    { unit, periodMs }: Spend,
    tenantId: string,
    now: number,
    ask: Pick<Reservation, "id" | "conversationId"> | null,
  ): z.infer<typeof Sum> {
    const column = unit === "tokens" ? "tokens" : "micro_usd";
    const began = startOf(periodMs, now);
    const rows = this.#sql.exec(
      `SELECT coalesce((SELECT ${column} FROM spent WHERE tenant_id = ?1 AND period_ms = ?2 AND began_at = ?3), 0) AS spent,
         coalesce(sum(${column}), 0) AS reserved, count(*) AS open
       FROM reservations WHERE tenant_id = ?1 AND booked = 0 AND began_at >= ?3 AND id <> ?4
         AND NOT (conversation_id = ?5 AND id LIKE 'start:%')`,
      tenantId,
      periodMs,
      began,
      ask?.id ?? "",
      ask?.conversationId ?? "",
    );
    return Sum.parse(rows.toArray()[0]);
  }

  #book(tenantId: string, at: number, { tokens, microUsd }: Amounts): void {
    for (const periodMs of new Set(SPENDS.map((spend) => spend.periodMs))) {
      const began = startOf(periodMs, at);
      this.#sql.exec(
        `INSERT INTO spent (tenant_id, period_ms, began_at, until, tokens, micro_usd) VALUES (?1, ?2, ?3, ?4, max(0, ?5), max(0, ?6))
         ON CONFLICT (tenant_id, period_ms, began_at) DO UPDATE SET tokens = max(0, tokens + ?5), micro_usd = max(0, micro_usd + ?6)`,
        tenantId,
        periodMs,
        began,
        began + periodMs,
        tokens,
        microUsd ?? 0,
      );
    }
  }

  /** Each threshold once in its period; of several that were crossed at once, the highest is told. */
  #warnings(tenantId: string, limits: BudgetLimits, at: number): BudgetWarning[] {
    return SPENDS.flatMap((spend) => {
      const bound = limits[spend.name];
      if (bound === undefined) return [];
      const { spent } = this.#sum(spend, tenantId, at, null);
      const crossed = WARN_PERCENTS.filter((percent) => spent * 100 >= bound * percent);
      const fresh = crossed.filter((percent) => this.#warn(tenantId, spend, at, percent));
      const percent = fresh.at(-1);
      return percent === undefined ? [] : [{ percent, scope: spend.name }];
    });
  }

  #warn(tenantId: string, { name, periodMs }: Spend, at: number, percent: number): boolean {
    const began = startOf(periodMs, at);
    const rows = this.#sql.exec(
      `INSERT INTO warned (tenant_id, name, began_at, percent, until) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING 1 AS fresh`,
      tenantId,
      name,
      began,
      percent,
      began + periodMs,
    );
    return rows.toArray().length > 0;
  }
}

const amountOf = ({ unit }: Spend, { tokens, microUsd }: Amounts): number =>
  unit === "tokens" ? tokens : (microUsd ?? 0);
const startOf = (periodMs: number, at: number): number => at - (at % periodMs);
const endOf = ({ periodMs }: Spend, at: number): number => startOf(periodMs, at) + periodMs;
