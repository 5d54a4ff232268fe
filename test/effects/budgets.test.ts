import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Budgets, type BudgetDeps, type LedgerStub } from "../../src/effects/budgets.ts";
import { pricesOf } from "../../src/effects/prices.ts";
import type { BudgetLimits } from "../../src/protocol/budget.ts";
import type { Usage } from "../../src/protocol/run.ts";
import { migrateActor } from "../../src/sql/actor-migrations.ts";
import { Ledger } from "../../src/tenant/ledger.ts";
import { LEDGER_MIGRATIONS } from "../../src/tenant/ledger-migrations.ts";
import { nodeSql } from "../support/node-sql.ts";

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 10, 30, 10);

/** Two ledgers on SQLite, a clock, and stubs that can be made to fail. */
class House {
  now = T0;
  readonly errors: string[] = [];
  readonly warned: unknown[] = [];
  readonly calls: string[] = [];
  readonly tenant = this.#ledger();
  readonly service = this.#ledger();
  /** Names of calls that do not get through. */
  broken = new Set<string>();
  limits: { tenant: BudgetLimits; service: BudgetLimits } = { tenant: {}, service: {} };

  #ledger(): Ledger {
    const sql = nodeSql(new DatabaseSync(":memory:"));
    migrateActor(sql, LEDGER_MIGRATIONS, T0);
    return new Ledger(sql);
  }

  #stub(name: string, ledger: Ledger): LedgerStub {
    const met = (call: string) => {
      this.calls.push(`${name}.${call}`);
      if (this.broken.has(`${name}.${call}`)) throw new Error(`${name} is away`);
    };
    return {
      reserve: async ({ ask, limits }) => (met("reserve"), ledger.reserve(ask, limits, this.now)),
      settle: async ({ tenantId, id, cost, limits }) => (
        met("settle"),
        ledger.settle(tenantId, id, cost, limits, this.now)
      ),
      admit: async ({ ask, limits }) => (met("admit"), ledger.reserve(ask, limits, this.now)),
      release: async (tenantId, id) => {
        met("release");
        ledger.settle(tenantId, id, { tokens: 0, microUsd: 0 }, {}, this.now);
      },
      occupy: async () => met("occupy"),
      levels: async (tenantId, limits) => ledger.levels(tenantId, limits, this.now),
    };
  }

  budgets(): Budgets {
    const deps: BudgetDeps = {
      clock: { now: () => this.now, after: () => () => undefined },
      log: {
        info: () => undefined,
        warn: (event, fields) => void this.warned.push({ event, ...fields }),
        error: (event) => void this.errors.push(event),
      },
      prices: pricesOf(),
      settings: {
        limitsOf: () => this.limits.tenant,
        service: this.limits.service,
        outputTokens: 1_000,
        retryMs: 5_000,
        leaseMs: MINUTE,
      },
      tenant: async () => this.#stub("tenant", this.tenant),
      service: async () => this.#stub("service", this.service),
      object: "c1.object",
      model: "gpt-5-mini",
    };
    return new Budgets(deps);
  }

  level(of: "tenant" | "service" = "tenant") {
    const whose = of === "service" ? "service" : "acme";
    return this[of].levels(whose, { tokensPerHour: 1e9 }, this.now).tokensPerHour;
  }
}

const call = (id: string, over: Partial<Parameters<Budgets["reserve"]>[0]> = {}) => ({
  tenantId: "acme",
  conversationId: `c-${id}`,
  id,
  model: "gpt-5-mini",
  body: "x".repeat(4_000),
  deadlineAt: T0 + 5 * MINUTE,
  ...over,
});
const usage = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  costMicroUsd: inputTokens + outputTokens,
  estimated: false,
  model: "gpt-5-mini",
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a model call", () => {
  test("of a tenant without limits asks nobody", async () => {
    const house = new House();
    const reserved = await house.budgets().reserve(call("a"));
    expect(reserved.ok && (await reserved.settle(usage(1, 1)))).toEqual([]);
    expect(house.calls).toEqual([]);
  });

  test("reserves its input and as much output as is taken for the most, at both ledgers, and settles at both", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 10_000 }, service: { microUsdPerHour: 1_000_000 } };
    const reserved = await house.budgets().reserve(call("a"));
    expect(house.level()).toMatchObject({ reserved: 2_000 });
    expect(house.level("service")).toMatchObject({ reserved: 2_000 });
    const warnings = reserved.ok ? await reserved.settle(usage(5_000, 200)) : [];
    expect(warnings).toEqual([{ percent: 50, scope: "tenant.tokensPerHour" }]);
    expect(house.warned).toMatchObject([{ event: "budget_warned", kind: "tenant.tokensPerHour", figure: 50 }]);
    expect(house.level()).toMatchObject({ used: 5_200, reserved: 0 });
    expect(house.level("service")).toMatchObject({ used: 5_200, reserved: 0 });
  });

  test("that one ledger refuses is given back by the other; it comes again soon, or with the next period", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 10_000 }, service: { tokensPerHour: 3_000 } };
    const budgets = house.budgets();
    const first = await budgets.reserve(call("a"));
    expect(await budgets.reserve(call("b"))).toEqual({ ok: false, retryAt: T0 + 5_000 });
    await settled();
    expect(house.level()).toMatchObject({ reserved: 2_000 });
    if (first.ok) await first.settle(usage(3_000, 0));
    expect(await budgets.reserve(call("b"))).toEqual({ ok: false, retryAt: T0 + 60 * MINUTE });
  });

  test("is not sent where a ledger cannot be asked: the run waits", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 10_000 }, service: { tokensPerHour: 10_000 } };
    house.broken.add("service.reserve");
    expect(await house.budgets().reserve(call("a"))).toEqual({ ok: false, retryAt: T0 + 5_000 });
    await settled();
    expect(house.errors).toEqual(["ledger_unavailable"]);
    expect(house.level()).toMatchObject({ reserved: 0 });
  });

  test("whose settlement does not get through expires, and is then paid at the least", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 10_000 }, service: {} };
    const reserved = await house.budgets().reserve(call("a"));
    house.broken.add("tenant.settle");
    expect(reserved.ok && (await reserved.settle(usage(1_000, 300)))).toEqual([]);
    expect(house.level()).toMatchObject({ reserved: 2_000 });
    house.now = T0 + 7 * MINUTE;
    expect(house.level()).toMatchObject({ used: 1_000, reserved: 0 });
  });

  test("of a model without a price counts by its tokens, and never as free money", async () => {
    const house = new House();
    house.limits = { tenant: { microUsdPerHour: 1, tokensPerHour: 10_000 }, service: {} };
    const unknown = await house.budgets().reserve(call("a", { model: "nobody-knows" }));
    if (unknown.ok) await unknown.settle({ ...usage(9_000, 2_000), costMicroUsd: null });
    expect(await house.budgets().reserve(call("b", { model: "nobody-knows" }))).toMatchObject({ ok: false });
  });
});

describe("a start", () => {
  const start = { tenantId: "acme", conversationId: "c", id: "request", text: "hello" };

  test("holds what its first call may take, and gives it back where it comes to nothing", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 1_500 }, service: {} };
    const budgets = house.budgets();
    expect(await budgets.admit(start)).toBeNull();
    expect(await budgets.admit({ ...start, conversationId: "d", id: "other" })).toMatchObject({
      code: "budget_exhausted",
      retryAfterMs: 5_000,
    });
    budgets.release(start);
    await settled();
    expect(await budgets.admit({ ...start, conversationId: "d", id: "other" })).toBeNull();
  });

  test("is told when the period ends, once all is spent", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 1_500 }, service: {} };
    const reserved = await house.budgets().reserve(call("a"));
    if (reserved.ok) await reserved.settle(usage(1_500, 0));
    house.now += 20 * MINUTE;
    expect(await house.budgets().admit(start)).toMatchObject({
      code: "budget_exhausted",
      retryAfterMs: 40 * MINUTE,
      detail: "The budget tenant.tokensPerHour is used up.",
    });
  });

  test("is refused as overloaded where the ledger cannot be asked", async () => {
    const house = new House();
    house.limits = { tenant: { tokensPerHour: 1_500 }, service: {} };
    house.broken.add("tenant.admit");
    expect(await house.budgets().admit(start)).toMatchObject({ code: "overloaded" });
  });
});

test("after a thousand runs with random deaths and lost messages nothing is reserved, and nobody was free", async () => {
  const house = new House();
  house.limits = { tenant: { tokensPerHour: 1e9 }, service: { tokensPerHour: 1e9 } };
  let seed = 7;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  let leastPaid = 0;
  let died = 0;
  for (let run = 0; run < 1_000; run++) {
    const budgets = house.budgets();
    const id = `c${run}.r1`;
    if (random() < 0.5)
      await budgets.admit({ tenantId: "acme", conversationId: id, id: `request ${run}`, text: "hello" });
    house.broken = new Set(random() < 0.1 ? ["tenant.settle", "service.release"] : []);
    for (let step = 1; step <= 3; step++) {
      const reserved = await budgets.reserve(
        call(`${id}.s${step}#1`, { deadlineAt: house.now + 5 * MINUTE, conversationId: id }),
      );
      if (!reserved.ok) throw new Error("there is room");
      leastPaid += 1_000;
      const fate = random();
      if (fate < 0.2) {
        // The object dies: its next life settles what it had out, or nobody ever does.
        died++;
        if (fate < 0.1) house.budgets().lost({ tenantId: "acme", id: `${id}.s${step}#1` }, usage(1_000, 20));
        break;
      }
      await reserved.settle(usage(1_000, Math.floor(random() * 900)));
    }
    house.now += 200;
  }
  await settled();
  expect(died).toBeGreaterThan(100);
  house.broken = new Set();
  house.now += 7 * MINUTE;
  for (const of of ["tenant", "service"] as const) {
    expect(house.level(of)).toMatchObject({ reserved: 0 });
    expect(house[of].open(of === "service" ? "service" : "acme", house.now)).toBe(0);
    expect(house.level(of)?.used).toBeGreaterThanOrEqual(leastPaid);
  }
}, 60_000);
