import { describe, expect, test } from "vitest";
import { Rates } from "../../src/actor/rates.ts";

function rates(burst: number, perMinute: number) {
  const clock = { now: 1_000_000 };
  return { clock, rates: new Rates({ burst, perMinute }, () => clock.now) };
}

describe("a token bucket", () => {
  test("gives exactly what it holds, and then exactly what has come in since", () => {
    const { clock, rates: bucket } = rates(3, 60);
    const taken = () => bucket.spend("ann") === null;
    expect([taken(), taken(), taken(), taken()]).toEqual([true, true, true, false]);
    clock.now += 999;
    expect(taken()).toBe(false);
    clock.now += 1;
    expect([taken(), taken()]).toEqual([true, false]);
    clock.now += 3_600_000;
    expect([taken(), taken(), taken(), taken()]).toEqual([true, true, true, false]);
  });

  test("is each person's own", () => {
    const { rates: bucket } = rates(1, 60);
    expect([bucket.spend("ann"), bucket.spend("bob")]).toEqual([null, null]);
    expect(bucket.spend("ann")).toMatchObject({ code: "rate_limited" });
  });

  test("says when there is one again, and how much there is", () => {
    const { clock, rates: bucket } = rates(2, 30);
    bucket.spend("ann");
    expect(bucket.state("ann")).toEqual({ policy: "commands", limit: 2, windowS: 4, remaining: 1, resetS: 2 });
    bucket.spend("ann");
    clock.now += 500;
    expect(bucket.spend("ann")).toMatchObject({ retryAfterMs: 1_500, rate: { remaining: 0, resetS: 4 } });
  });

  test("knows who does not stop when told", () => {
    const { clock, rates: bucket } = rates(2, 60);
    for (let n = 0; n < 4; n++) bucket.spend("ann");
    expect(bucket.overdrawn("ann")).toBe(false);
    bucket.spend("ann");
    expect(bucket.overdrawn("ann")).toBe(true);
    clock.now += 1_000;
    bucket.spend("ann");
    expect(bucket.overdrawn("ann")).toBe(false);
  });

  test("does not lose a fill to a clock that goes back, nor its people to a crowd", () => {
    const { clock, rates: bucket } = rates(1, 60);
    bucket.spend("ann");
    clock.now -= 10_000;
    expect(bucket.spend("ann")).not.toBeNull();
    for (let n = 0; n < 2_000; n++) bucket.spend(`user-${n}`);
    expect(bucket.spend("ann")).not.toBeNull();
  });

  test("is none where there is no limit", () => {
    const bucket = new Rates(null, () => 0);
    for (let n = 0; n < 10_000; n++) expect(bucket.spend("ann")).toBeNull();
    expect([bucket.state("ann"), bucket.overdrawn("ann")]).toEqual([null, false]);
  });
});
