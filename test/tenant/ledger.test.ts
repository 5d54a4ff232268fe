import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { BudgetLimits } from "../../src/protocol/budget.ts";
import { migrateActor } from "../../src/sql/actor-migrations.ts";
import { Ledger, type Reservation } from "../../src/tenant/ledger.ts";
import { LEDGER_MIGRATIONS } from "../../src/tenant/ledger-migrations.ts";
import { nodeSql } from "../support/node-sql.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 30, 10, 20);
const TENANT = "acme";

const opened = (db = new DatabaseSync(":memory:")) => {
  const sql = nodeSql(db);
  migrateActor(sql, LEDGER_MIGRATIONS, NOW);
  return new Ledger(sql);
};
const ask = (id: string, tokens: number, over: Partial<Reservation> = {}): Reservation => ({
  tenantId: TENANT,
  id,
  conversationId: `conversation of ${id}`,
  tokens,
  microUsd: tokens * 2,
  least: { tokens: Math.floor(tokens / 2), microUsd: tokens },
  expiresAt: NOW + 60_000,
  ...over,
});
const cost = (tokens: number) => ({ tokens, microUsd: tokens * 2 });
const HOURLY: BudgetLimits = { tokensPerHour: 1_000 };
const level = (ledger: Ledger, limits = HOURLY, now = NOW) => ledger.levels(TENANT, limits, now).tokensPerHour;

describe("reserving before, booking after", () => {
  test("what is reserved is not there for anybody else, and what was not used comes back", () => {
    const ledger = opened();
    expect(ledger.reserve(ask("a", 600), HOURLY, NOW)).toEqual({ ok: true });
    const refused = { ok: false, name: "tokensPerHour", spent: false, freeAt: Date.UTC(2026, 10, 30, 11) };
    expect(ledger.reserve(ask("b", 600), HOURLY, NOW)).toEqual(refused);
    expect(level(ledger)).toMatchObject({ used: 0, reserved: 600, bound: 1_000 });
    ledger.settle(TENANT, "a", cost(100), HOURLY, NOW);
    expect(level(ledger)).toMatchObject({ used: 100, reserved: 0 });
    expect(ledger.reserve(ask("b", 600), HOURLY, NOW)).toEqual({ ok: true });
  });

  test("who is alone may begin while anything is left, so a large call is never locked out, and one call is the most that is over", () => {
    const ledger = opened();
    expect(ledger.reserve(ask("a", 5_000), HOURLY, NOW).ok).toBe(true);
    expect(ledger.reserve(ask("b", 1), HOURLY, NOW).ok).toBe(false);
    ledger.settle(TENANT, "a", cost(999), HOURLY, NOW);
    expect(ledger.reserve(ask("c", 5_000), HOURLY, NOW).ok).toBe(true);
    ledger.settle(TENANT, "c", cost(5_000), HOURLY, NOW);
    expect(ledger.reserve(ask("d", 1), HOURLY, NOW)).toMatchObject({ ok: false, spent: true });
  });

  test("any limit refuses, and is named; money of an unknown price does not count, its tokens do", () => {
    const ledger = opened();
    const limits = { microUsdPerHour: 1_000, tokensPerDay: 5_000 };
    ledger.reserve(ask("a", 400), limits, NOW);
    expect(ledger.reserve(ask("b", 400), limits, NOW)).toMatchObject({ ok: false, name: "microUsdPerHour" });
    expect(ledger.reserve(ask("c", 4_000, { microUsd: null }), limits, NOW)).toEqual({ ok: true });
    ledger.settle(TENANT, "c", { tokens: 4_900, microUsd: null }, limits, NOW);
    expect(ledger.reserve(ask("d", 400), limits, NOW)).toMatchObject({ ok: false, name: "microUsdPerHour" });
    ledger.settle(TENANT, "a", cost(0), limits, NOW);
    expect(ledger.reserve(ask("d", 200), limits, NOW)).toEqual({ ok: true });
    expect(ledger.reserve(ask("e", 100), limits, NOW)).toMatchObject({ ok: false, name: "tokensPerDay" });
  });

  test("reserving the same attempt again replaces it; settling it twice books it once", () => {
    const ledger = opened();
    ledger.reserve(ask("a", 800), HOURLY, NOW);
    expect(ledger.reserve(ask("a", 700), HOURLY, NOW)).toEqual({ ok: true });
    expect(level(ledger)).toMatchObject({ reserved: 700 });
    ledger.settle(TENANT, "a", cost(300), HOURLY, NOW);
    ledger.settle(TENANT, "a", cost(300), HOURLY, NOW);
    ledger.settle(TENANT, "never reserved", cost(300), HOURLY, NOW);
    expect(level(ledger)).toMatchObject({ used: 300, reserved: 0 });
  });

  test("the first call of a run does not stand in its own way: the hold of its start is not counted against it", () => {
    const ledger = opened();
    const conversationId = "c1";
    expect(ledger.reserve(ask("start:x", 600, { conversationId }), HOURLY, NOW).ok).toBe(true);
    expect(ledger.reserve(ask("other", 600), HOURLY, NOW).ok).toBe(false);
    expect(ledger.reserve(ask("c1.r1.s1#1", 900, { conversationId }), HOURLY, NOW).ok).toBe(true);
    expect(level(ledger)).toMatchObject({ reserved: 900 });
  });
});

describe("a reservation that nobody settles", () => {
  test("expires, and is booked at the least that its call has cost: who dies pays", () => {
    const ledger = opened();
    ledger.reserve(ask("a", 600), HOURLY, NOW);
    expect(level(ledger, HOURLY, NOW + 59_999)).toMatchObject({ used: 0, reserved: 600 });
    expect(level(ledger, HOURLY, NOW + 60_000)).toMatchObject({ used: 300, reserved: 0 });
    expect(ledger.open(TENANT, NOW + 60_000)).toBe(0);
  });

  test("is put right by a settlement that comes late", () => {
    const ledger = opened();
    ledger.reserve(ask("a", 600), HOURLY, NOW);
    ledger.expire(NOW + 60_000);
    ledger.settle(TENANT, "a", cost(450), HOURLY, NOW + 70_000);
    expect(level(ledger, HOURLY, NOW + 70_000)).toMatchObject({ used: 450, reserved: 0 });
    ledger.settle(TENANT, "a", cost(450), HOURLY, NOW + 80_000);
    expect(level(ledger, HOURLY, NOW + 80_000)).toMatchObject({ used: 450 });
  });

  test("is found by the sweep, which forgets what is long past and says when to come back", () => {
    const ledger = opened();
    expect(ledger.sweep(NOW)).toBeNull();
    ledger.reserve(ask("a", 600), HOURLY, NOW);
    ledger.reserve(ask("b", 100, { expiresAt: NOW + 10_000 }), HOURLY, NOW);
    expect(ledger.sweep(NOW)).toBe(NOW + 10_000);
    expect(ledger.sweep(NOW + 10_000)).toBe(NOW + 60_000);
    expect(ledger.sweep(NOW + 100 * HOUR)).toBeNull();
    expect(ledger.settle(TENANT, "a", cost(1), HOURLY, NOW + 100 * HOUR)).toEqual([]);
  });
});

describe("periods", () => {
  test("are whole hours of UTC; a call counts in the one in which it began", () => {
    const ledger = opened();
    const before = Date.UTC(2026, 10, 30, 10, 59, 59, 999);
    const after = Date.UTC(2026, 10, 30, 11);
    ledger.reserve(ask("a", 900, { expiresAt: after + HOUR }), HOURLY, before);
    expect(ledger.reserve(ask("b", 900), HOURLY, before).ok).toBe(false);
    expect(ledger.reserve(ask("b", 900, { expiresAt: after + HOUR }), HOURLY, after).ok).toBe(true);
    ledger.settle(TENANT, "a", cost(900), HOURLY, after + 5_000);
    expect(level(ledger, HOURLY, after)).toEqual({
      used: 0,
      reserved: 900,
      bound: 1_000,
      resetsAt: "2026-11-30T12:00:00.000Z",
    });
  });

  test("of a day hold over its hours", () => {
    const ledger = opened();
    const limits = { tokensPerDay: 1_000 };
    ledger.reserve(ask("a", 900), limits, NOW);
    ledger.settle(TENANT, "a", cost(1_000), limits, NOW);
    const tomorrow = Date.UTC(2026, 11, 1);
    expect(ledger.reserve(ask("b", 1), limits, NOW + HOUR)).toMatchObject({ ok: false, freeAt: tomorrow });
    expect(ledger.reserve(ask("b", 1, { expiresAt: tomorrow + HOUR }), limits, tomorrow).ok).toBe(true);
  });

  test("outlive the object", () => {
    const db = new DatabaseSync(":memory:");
    const ledger = opened(db);
    ledger.reserve(ask("a", 900), HOURLY, NOW);
    ledger.settle(TENANT, "a", cost(700), HOURLY, NOW);
    ledger.reserve(ask("b", 200), HOURLY, NOW);
    expect(level(opened(db))).toMatchObject({ used: 700, reserved: 200 });
  });
});

describe("warnings", () => {
  test("come at 50, 80 and 100 percent of what is booked, once a period each, the highest of several", () => {
    const ledger = opened();
    const spend = (id: string, tokens: number, now = NOW) => {
      ledger.reserve(ask(id, tokens, { expiresAt: now + 1_000 }), HOURLY, now);
      return ledger.settle(TENANT, id, cost(tokens), HOURLY, now);
    };
    const scope = "tokensPerHour";
    expect(spend("a", 499)).toEqual([]);
    expect(spend("b", 1)).toEqual([{ percent: 50, scope }]);
    expect(spend("c", 100)).toEqual([]);
    expect(spend("d", 400)).toEqual([{ percent: 100, scope }]);
    expect(spend("e", 1)).toEqual([]);
    expect(spend("f", 800, NOW + HOUR)).toEqual([{ percent: 80, scope }]);
  });
});
