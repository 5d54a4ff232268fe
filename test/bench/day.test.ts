import { describe, expect, test } from "vitest";
import { ASKED, hottest, largestTenant, SHARDS, turnsBySecond, type Day } from "../../bench/scaling/day.ts";
import { randomOf } from "../../sim/random.ts";

const DAY: Day = {
  conversations: 20_000,
  tenants: 100,
  skew: 1,
  turnsPerConversation: 5,
  pauseSeconds: 60,
  peak: 2,
  budgets: true,
};
const random = () => randomOf(1, "test");
const sum = (turns: Uint32Array) => turns.reduce((all, one) => all + one, 0);
const of = (day: Day, object: string) => hottest(day, random()).find((one) => one.object === object)?.perSecond ?? 0;

describe("a day of many conversations", () => {
  test("has as many turns as its conversations have on average", () => {
    const turns = sum(turnsBySecond(DAY, DAY.conversations, random()));
    expect(turns / DAY.conversations).toBeCloseTo(DAY.turnsPerConversation, 0);
  });

  test("is busier by day than by night", () => {
    const turns = turnsBySecond(DAY, DAY.conversations, random());
    expect(sum(turns.subarray(0, 43_200))).toBeGreaterThan(1.5 * sum(turns.subarray(43_200)));
  });

  test("shares the conversations among the tenants by the skew", () => {
    expect(largestTenant({ ...DAY, tenants: 1 })).toBe(DAY.conversations);
    expect(largestTenant({ ...DAY, skew: 0 })).toBe(DAY.conversations / DAY.tenants);
    expect(largestTenant(DAY)).toBeGreaterThan(largestTenant({ ...DAY, skew: 0.5 }));
  });

  test("asks one shard of the register for less than the whole, and for no less than its share", () => {
    const one = { ...DAY, tenants: 1, conversations: 200_000 };
    const register = of(one, "register");
    const unsharded = of(one, "standing") * (ASKED.register / ASKED.standing);
    expect(register).toBeLessThan(unsharded);
    expect(register).toBeGreaterThanOrEqual(unsharded / SHARDS);
  });

  test("asks no ledger where there is no budget", () => {
    expect(of(DAY, "ledger")).toBeGreaterThan(0);
    expect(of({ ...DAY, budgets: false }, "ledger")).toBe(0);
  });
});
