/**
 * The Durable Object of a ledger: one per tenant, and one for the whole service. Each change is one synchronous turn.
 * Limits and rules come with each call, from the caller's configuration; nothing here has any of its own.
 */
import { DurableObject } from "cloudflare:workers";
import type { Amounts, BudgetLevels, BudgetLimits, BudgetWarning } from "../protocol/budget.ts";
import { migrateActor } from "../sql/actor-migrations.ts";
import { Circuits, type Circuit, type CircuitRules } from "./circuits.ts";
import { Ledger, type Reservation, type Reserved } from "./ledger.ts";
import { LEDGER_MIGRATIONS } from "./ledger-migrations.ts";
import { Occupancy } from "./occupancy.ts";
import { Waiting } from "./waiting.ts";

export interface ReserveRequest {
  readonly ask: Reservation;
  readonly limits: BudgetLimits;
  /** The conversation's object, told when there may be room again. */
  readonly object: string;
}
export interface SettleRequest {
  readonly tenantId: string;
  readonly id: string;
  readonly cost: Amounts;
  readonly limits: BudgetLimits;
}
export interface AdmitRequest {
  /** Of one call, under an id of its own; it stands until the run's first call reserves for itself. */
  readonly ask: Reservation;
  readonly limits: BudgetLimits;
}
export type Admitted = { readonly ok: true } | ({ readonly ok: false } & (Refused | { readonly full: true }));
type Refused = Extract<Reserved, { ok: false }>;

/** A run waits for its budget for a day at most. */
const WAITING_MS = 25 * 3_600_000;

interface Books {
  readonly ledger: Ledger;
  readonly occupancy: Occupancy;
  readonly circuits: Circuits;
  readonly waiting: Waiting;
}

export class LedgerObject extends DurableObject<Env> {
  #books: Books | null = null;
  /** When the alarm stands, as far as this life knows. */
  #alarmAt: number | null = null;

  reserve({ ask, limits, object }: ReserveRequest): Reserved {
    return this.#turn((now, { ledger, waiting }) => {
      const reserved = ledger.reserve(ask, limits, now);
      if (!reserved.ok) waiting.add(ask.tenantId, object, now);
      return reserved;
    });
  }

  settle({ tenantId, id, cost, limits }: SettleRequest): BudgetWarning[] {
    const warnings = this.#turn((now, { ledger }) => ledger.settle(tenantId, id, cost, limits, now));
    this.#tellNext(tenantId);
    return warnings;
  }

  admit({ ask, limits }: AdmitRequest): Admitted {
    return this.#turn((now, { ledger, occupancy }) => {
      const { tenantId, id, conversationId } = ask;
      const { concurrentRuns } = limits;
      const room = concurrentRuns === undefined || occupancy.hold(tenantId, id, conversationId, concurrentRuns, now);
      if (!room) return { ok: false, full: true };
      const reserved = ledger.reserve(ask, limits, now);
      if (!reserved.ok) occupancy.release(tenantId, id);
      return reserved;
    });
  }

  /** A start that was let in came to nothing. */
  release(tenantId: string, id: string): void {
    this.#turn((now, { ledger, occupancy }) => {
      occupancy.release(tenantId, id);
      ledger.settle(tenantId, id, { tokens: 0, microUsd: 0 }, {}, now);
    });
    this.#tellNext(tenantId);
  }

  /** Queued and running runs of a conversation, as they are now. */
  occupy(tenantId: string, conversationId: string, runs: number): void {
    this.#turn((now, { occupancy }) => occupancy.level(tenantId, conversationId, runs, now));
  }

  levels(tenantId: string, limits: BudgetLimits): BudgetLevels {
    return this.#turn((now, { ledger, occupancy }) => {
      occupancy.sweep(now);
      const { concurrentRuns: bound } = limits;
      const runs =
        bound === undefined ? {} : { concurrentRuns: { used: occupancy.count(tenantId), reserved: 0, bound } };
      return { ...ledger.levels(tenantId, limits, now), ...runs };
    });
  }

  toolFailed(tenantId: string, tool: string, rules: CircuitRules): Circuit {
    return this.#turn((now, { circuits }) => circuits.failed(tenantId, tool, rules, now));
  }

  toolWorked(tenantId: string, tool: string): void {
    this.#turn((_, { circuits }) => circuits.worked(tenantId, tool));
  }

  /** Everybody who waits asks again: a limit was raised. */
  tellAll(tenantId: string): void {
    for (let told = 1; told > 0;) told = this.#tellNext(tenantId, 100);
  }

  override alarm(): void {
    this.#alarmAt = null;
    const tenants = this.#turn((now, { ledger, waiting }) => {
      waiting.sweep(now - WAITING_MS);
      return ledger.expire(now) ? waiting.tenants() : [];
    });
    for (const tenantId of tenants) this.#tellNext(tenantId);
  }

  #turn<T>(act: (now: number, books: Books) => T): T {
    const now = Date.now();
    const { storage } = this.ctx;
    const books = this.#open(now);
    const { result, next } = storage.transactionSync(() => {
      const acted = act(now, books);
      const times = [books.ledger.sweep(now), books.occupancy.sweep(now)].filter((at) => at !== null);
      return { result: acted, next: times.length === 0 ? null : Math.min(...times) };
    });
    if (next !== null && (this.#alarmAt === null || this.#alarmAt > next)) {
      this.#alarmAt = next;
      void storage.setAlarm(next);
    }
    return result;
  }

  #open(now: number): Books {
    if (this.#books) return this.#books;
    const { storage } = this.ctx;
    const { sql } = storage;
    storage.transactionSync(() => migrateActor(sql, LEDGER_MIGRATIONS, now));
    this.#books = {
      ledger: new Ledger(sql),
      occupancy: new Occupancy(sql),
      circuits: new Circuits(sql),
      waiting: new Waiting(sql),
    };
    return this.#books;
  }

  /** Nobody waits for the answer: who is not reached asks again by its own alarm. */
  #tellNext(tenantId: string, count = 1): number {
    const objects = this.#turn((_, { waiting }) => waiting.next(tenantId, count));
    for (const object of objects) {
      const told = this.env.CONVERSATIONS.getByName(object).budgetChanged();
      this.ctx.waitUntil(Promise.resolve(told).catch(() => undefined));
    }
    return objects.length;
  }
}
