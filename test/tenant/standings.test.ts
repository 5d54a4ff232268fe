import { describe, expect, test } from "vitest";
import { checkSignIn, GOOD_STANDING } from "../../src/protocol/standing.ts";
import { Standings } from "../../src/tenant/standings.ts";
import { memorySql } from "./sql.ts";

const NOW = 1_800_000_000_500;
const SECOND = Math.floor(NOW / 1_000);
const change = { tenantId: "acme", by: "root", now: NOW };

describe("the standing of a user", () => {
  test("is good while nothing was ever changed, and asking leaves no tables", () => {
    const sql = memorySql();
    const standings = new Standings(sql);
    expect(standings.of("acme", "ann")).toEqual(GOOD_STANDING);
    expect(standings.user("acme", "ann")).toEqual({ tenantId: "acme", userId: "ann", state: "active" });
    expect([standings.due(NOW), standings.nextDue(), sql.tables()]).toEqual([null, null, []]);
  });

  test("ends with the second in which they are deactivated, and nobody else's does", () => {
    const standings = new Standings(memorySql());
    standings.deactivate(change, "ann");
    expect(standings.of("acme", "ann")).toEqual({ validFrom: SECOND + 1, deactivated: true, paused: false });
    expect(standings.of("acme", "bob")).toEqual(GOOD_STANDING);
    expect(standings.of("other", "ann")).toEqual(GOOD_STANDING);
    expect(standings.user("acme", "ann")).toMatchObject({ state: "deactivated", sweep: { state: "running" } });
  });

  test("comes back for tokens that are issued afterwards, and for none from before", () => {
    const standings = new Standings(memorySql());
    standings.deactivate(change, "ann");
    standings.reactivate({ ...change, now: NOW + 60_000 }, "ann");
    const standing = standings.of("acme", "ann");
    const counts = (tokenEpoch?: number) =>
      checkSignIn(tokenEpoch === undefined ? {} : { tokenEpoch }, standing) === null;
    expect([undefined, SECOND, SECOND + 59, SECOND + 60].map(counts)).toEqual([false, false, false, true]);
    expect(standings.user("acme", "ann").sweep).toBeUndefined();
  });

  test("never goes back, whatever the clock does", () => {
    const standings = new Standings(memorySql());
    standings.deactivate(change, "ann");
    standings.deactivate({ ...change, now: NOW - 3_600_000 }, "ann");
    standings.reactivate({ ...change, now: NOW - 3_600_000 }, "ann");
    expect(standings.of("acme", "ann")).toEqual({ validFrom: SECOND + 1, deactivated: false, paused: false });
  });

  test("falls with the tenant's, and a user who was deactivated stays so when the tenant comes back", () => {
    const standings = new Standings(memorySql());
    standings.deactivate(change, "ann");
    standings.deactivate({ ...change, now: NOW + 10_000 });
    expect(standings.of("acme", "bob")).toMatchObject({ deactivated: true, validFrom: SECOND + 11 });
    standings.reactivate({ ...change, now: NOW + 20_000 });
    expect(standings.of("acme", "bob")).toMatchObject({ deactivated: false, validFrom: SECOND + 20 });
    expect(standings.of("acme", "ann")).toMatchObject({ deactivated: true });
  });

  test("is remembered by the object's next life", () => {
    const sql = memorySql();
    new Standings(sql).deactivate(change, "ann");
    const woken = new Standings(sql);
    expect(woken.of("acme", "ann").deactivated).toBe(true);
    expect(woken.due(NOW)).toMatchObject({ user_id: "ann", kind: "deactivated", passes: 0 });
  });
});

describe("a pause", () => {
  test.each(["pause", "resume"] as const)("%s does not end the sweep that locks a tenant out", (what) => {
    const standings = new Standings(memorySql());
    standings.deactivate(change);
    standings[what]({ ...change, now: NOW + 1 });
    expect(standings.due(NOW + 1)).toMatchObject({ kind: "deactivated" });
  });

  test.each([
    ["pause", "paused"],
    ["resume", "resumed"],
  ] as const)("%s while the tenant was locked out reaches its conversations when it comes back", (what, kind) => {
    const standings = new Standings(memorySql());
    standings.deactivate(change);
    standings[what]({ ...change, now: NOW + 1 });
    standings.reactivate({ ...change, now: NOW + 2 });
    expect(standings.due(NOW + 2)).toMatchObject({ kind });
  });

  test("is the tenant's, and touches no sign-in", () => {
    const standings = new Standings(memorySql());
    standings.pause(change);
    expect(standings.of("acme", "ann")).toEqual({ validFrom: 0, deactivated: false, paused: true });
    expect(standings.tenant("acme")).toMatchObject({ state: "active", paused: true });
    standings.resume(change);
    expect(standings.of("acme", "ann").paused).toBe(false);
  });
});
