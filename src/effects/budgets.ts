/**
 * The ledgers as the actor and the model's adapter see them: of the tenant, and of the whole service. What is to be
 * limited is known here from the configuration, so that a tenant without limits never costs a message to anybody.
 *
 * Nothing is sent that was not reserved: where a ledger cannot be asked, nothing is sent either, and the run waits. What
 * was reserved is settled whatever became of it; a settlement that does not get through leaves a reservation, which
 * expires.
 */
import type { Clock, Log } from "../actor/ports.ts";
import type { Admission, BudgetPort } from "../actor/tenant-ports.ts";
import {
  hasLimits,
  hasSpendLimits,
  type Amounts,
  type BudgetLevels,
  type BudgetLimits,
  type BudgetWarning,
} from "../protocol/budget.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import type { Usage } from "../protocol/run.ts";
import { estimateTokens } from "./model-usage.ts";
import { costOf, type Prices } from "./prices.ts";

export interface LedgerAsk extends Amounts {
  readonly tenantId: string;
  readonly id: string;
  readonly conversationId: string;
  readonly least: Amounts;
  readonly expiresAt: number;
}
type Refused = { readonly ok: false; readonly name: string; readonly spent: boolean; readonly freeAt: number };

/** A ledger's object, over RPC. */
export interface LedgerStub {
  reserve(request: {
    readonly ask: LedgerAsk;
    readonly limits: BudgetLimits;
    readonly object: string;
  }): Promise<{ readonly ok: true } | Refused>;
  settle(request: {
    readonly tenantId: string;
    readonly id: string;
    readonly cost: Amounts;
    readonly limits: BudgetLimits;
  }): Promise<readonly BudgetWarning[]>;
  admit(request: {
    readonly ask: LedgerAsk;
    readonly limits: BudgetLimits;
  }): Promise<{ readonly ok: true } | Refused | { readonly ok: false; readonly full: true }>;
  release(tenantId: string, id: string): Promise<void>;
  occupy(tenantId: string, conversationId: string, runs: number): Promise<void>;
  levels(tenantId: string, limits: BudgetLimits): Promise<BudgetLevels>;
}

export interface BudgetSettings {
  readonly limitsOf: (tenantId: string) => BudgetLimits;
  readonly service: BudgetLimits;
  /** What an answer is taken to be long at most, in tokens. */
  readonly outputTokens: number;
  /** How soon a run asks again that waits for what others have only reserved. */
  readonly retryMs: number;
  /** How long after its deadline a call's reservation stands. */
  readonly leaseMs: number;
}

export interface BudgetDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly prices: Prices;
  readonly settings: BudgetSettings;
  /** A fresh stub at each call. */
  readonly tenant: (tenantId: string) => Promise<LedgerStub>;
  readonly service: () => Promise<LedgerStub>;
  /** The conversation's object, to be told when there may be room. */
  readonly object: string;
  /** The model asked where a conversation names none. */
  readonly model: string;
}

/** One model call, as it is about to be sent. */
export interface CallToReserve {
  readonly tenantId: string;
  readonly conversationId: string;
  /** Of the attempt. */
  readonly id: string;
  readonly model: string;
  readonly body: string;
  /** Epoch ms. */
  readonly deadlineAt: number;
}

export type ReservedCall =
  | { readonly ok: true; readonly settle: (usage: Usage) => Promise<readonly BudgetWarning[]> }
  | { readonly ok: false; readonly retryAt: number };

interface Book {
  readonly scope: "tenant" | "service";
  readonly limits: BudgetLimits;
  readonly stub: () => Promise<LedgerStub>;
}

const SERVICE = "service";
const FREE: ReservedCall = { ok: true, settle: () => Promise.resolve([]) };
const SETTLE_TRIES = 3;

export class Budgets implements BudgetPort {
  readonly #deps: BudgetDeps;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  async admit({ tenantId, conversationId, id, text }: Admission): Promise<Rejection | null> {
    const { clock, settings, model } = this.#deps;
    const books = this.#books(tenantId, hasLimits);
    if (books.length === 0) return null;
    const now = clock.now();
    const ask = this.#ask({ tenantId, conversationId, id: holdOf(id), model, body: text, deadlineAt: now });
    const held: Book[] = [];
    for (const book of books) {
      try {
        const ledger = await book.stub();
        const admitted = await ledger.admit({ ask: { ...ask, ...whoseOf(book, ask) }, limits: book.limits });
        if (admitted.ok) {
          held.push(book);
          continue;
        }
        this.#releaseAll(held, ask);
        if ("full" in admitted) return FULL;
        const retryAfterMs = admitted.spent ? admitted.freeAt - now : Math.min(settings.retryMs, admitted.freeAt - now);
        return reject("budget_exhausted", `The budget ${book.scope}.${admitted.name} is used up.`, { retryAfterMs });
      } catch (error) {
        this.#deps.log.error("ledger_unavailable", error, { tenantId, conversationId });
        this.#releaseAll(held, ask);
        return UNAVAILABLE;
      }
    }
    return null;
  }

  release({ tenantId, id }: Admission): void {
    this.#releaseAll(this.#books(tenantId, hasLimits), { tenantId, id: holdOf(id) });
  }

  occupied(tenantId: string, conversationId: string, runs: number): void {
    const books = this.#books(tenantId, ({ concurrentRuns }) => concurrentRuns !== undefined);
    for (const book of books) {
      this.#quietly(book, (ledger) => ledger.occupy(whoseOf(book, { tenantId }).tenantId, conversationId, runs));
    }
  }

  /** Reserves what the call may cost. Never rejects. */
  async reserve(call: CallToReserve): Promise<ReservedCall> {
    const { clock, log, settings, object } = this.#deps;
    const { tenantId } = call;
    const books = this.#books(tenantId, hasSpendLimits);
    if (books.length === 0) return FREE;
    const ask = this.#ask(call);
    const held: Book[] = [];
    for (const book of books) {
      try {
        const ledger = await book.stub();
        const whose = { ...ask, ...whoseOf(book, ask) };
        const reserved = await ledger.reserve({ ask: whose, limits: book.limits, object });
        if (reserved.ok) {
          held.push(book);
          continue;
        }
        this.#releaseAll(held, ask);
        const soon = clock.now() + settings.retryMs;
        return { ok: false, retryAt: reserved.spent ? reserved.freeAt : Math.min(soon, reserved.freeAt) };
      } catch (error) {
        log.error("ledger_unavailable", error, { tenantId, conversationId: call.conversationId });
        this.#releaseAll(held, ask);
        return { ok: false, retryAt: clock.now() + settings.retryMs };
      }
    }
    return { ok: true, settle: (usage) => this.#settle(held, ask, usage) };
  }

  /** Of an attempt that an earlier life had reserved. */
  lost(call: Pick<CallToReserve, "tenantId" | "id">, usage: Usage): void {
    void this.#settle(this.#books(call.tenantId, hasSpendLimits), call, usage);
  }

  async #settle(
    books: readonly Book[],
    { tenantId, id }: Pick<LedgerAsk, "tenantId" | "id">,
    { inputTokens, outputTokens, costMicroUsd: microUsd }: Usage,
  ): Promise<readonly BudgetWarning[]> {
    const cost = { tokens: inputTokens + outputTokens, microUsd };
    const told = await Promise.all(
      books.map(async (book) => {
        const request = { ...whoseOf(book, { tenantId }), id, cost, limits: book.limits };
        const warnings = await this.#surely(book, (ledger) => ledger.settle(request));
        return (warnings ?? []).map(({ percent, scope }) => ({ percent, scope: `${book.scope}.${scope}` }));
      }),
    );
    for (const { percent, scope } of told.flat()) {
      this.#deps.log.warn("budget_warned", { tenantId, kind: scope, figure: percent });
    }
    return told.flat();
  }

  /** Tries it a few times; it is safe to do twice. null: it did not get through, and expires by itself. */
  async #surely<T>({ stub }: Book, act: (ledger: LedgerStub) => Promise<T>): Promise<T | null> {
    for (let tries = 1; ; tries++) {
      try {
        return await act(await stub());
      } catch (error) {
        if (tries < SETTLE_TRIES) continue;
        this.#deps.log.error("ledger_unavailable", error);
        return null;
      }
    }
  }

  #quietly(book: Book, act: (ledger: LedgerStub) => Promise<unknown>): void {
    void this.#surely(book, act);
  }

  #releaseAll(books: readonly Book[], ask: Pick<LedgerAsk, "tenantId" | "id">): void {
    for (const book of books) {
      this.#quietly(book, (ledger) => ledger.release(whoseOf(book, ask).tenantId, ask.id));
    }
  }

  #ask({ tenantId, conversationId, id, model, body, deadlineAt }: CallToReserve): LedgerAsk {
    const { prices, settings } = this.#deps;
    const inputTokens = estimateTokens(body);
    const amounts = (outputTokens: number): Amounts => ({
      tokens: inputTokens + outputTokens,
      microUsd: costOf(prices, model, { inputTokens, outputTokens }),
    });
    return {
      tenantId,
      conversationId,
      id,
      ...amounts(settings.outputTokens),
      least: id.startsWith(HOLD) ? NOTHING : amounts(0),
      expiresAt: deadlineAt + settings.leaseMs,
    };
  }

  /** The ledgers that count for this tenant. */
  #books(tenantId: string, count: (limits: BudgetLimits) => boolean): Book[] {
    const { settings, tenant, service } = this.#deps;
    const books: Book[] = [
      { scope: "tenant", limits: settings.limitsOf(tenantId), stub: () => tenant(tenantId) },
      { scope: SERVICE, limits: settings.service, stub: service },
    ];
    return books.filter(({ limits }) => count(limits));
  }
}

const HOLD = "start:";
/** A ledger knows a start's hold from a call's reservation by this. */
const holdOf = (id: string): string => `${HOLD}${id}`;
const NOTHING: Amounts = { tokens: 0, microUsd: 0 };
const FULL = reject("tenant_concurrency", "The tenant has as many runs at once as it may have.", {
  retryAfterMs: 5_000,
});
const UNAVAILABLE = reject("overloaded", "The budget cannot be looked up.", { retryAfterMs: 1_000 });

/** In the service's ledger everybody is one. */
const whoseOf = ({ scope }: Book, { tenantId }: { readonly tenantId: string }) => ({
  tenantId: scope === SERVICE ? SERVICE : tenantId,
});
