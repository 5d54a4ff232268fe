/** The fleet's tables and statements on a real D1: made once by two at a time, and each act done once. */
import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import plans from "../../migrations/app/0001_plans.sql";
import fleet from "../../migrations/app/0002_fleet.sql";
import { D1FleetStore } from "../../src/agents/opspilot/d1-fleet-store.ts";
import { FLEET } from "../../src/agents/opspilot/fleet.ts";
import { observeAll } from "../../src/agents/opspilot/observe.ts";
import { migrateD1 } from "../../src/sql/d1-migrations.ts";

const MIGRATIONS = [
  { name: "0001_plans.sql", sql: plans },
  { name: "0002_fleet.sql", sql: fleet },
];
const WHO = { tenantId: "t1", userId: "user-a" };
const CACHE = { serviceId: "checkout", name: "cache_max_mb", value: 128, version: 1 };

test("a fleet lives in D1: made lazily, acted on once however often and from wherever the act is sent", async () => {
  expect(await migrateD1(env.APP, MIGRATIONS)).toContain("0002_fleet.sql");
  let now = 1_700_000_000_000;
  const store = new D1FleetStore(env.APP, () => (now += 1_000));
  const [one, two] = await Promise.all([store.load("t1"), store.load("t1")]);
  expect(one).toEqual(two);
  expect(observeAll(one, now).map(({ health }) => health)).toEqual(["degraded", "failing", "healthy", "healthy"]);
  expect(one.services.size).toBe(FLEET.length);

  const restart = { serviceId: "checkout", boot: 1, act: "a1" };
  const begun = await Promise.all([store.restart(WHO, restart), store.restart(WHO, restart)]);
  expect(begun).toEqual([{ boot: 2 }, { boot: 2 }]);
  expect(await store.restart(WHO, { ...restart, act: "a2" })).toBeNull();

  const set = await Promise.all([store.set(WHO, { ...CACHE, act: "b1" }), store.set(WHO, { ...CACHE, act: "b1" })]);
  const changed = { before: 0, after: 128, version: 2 };
  expect(set).toEqual([changed, changed]);
  // Two people were shown the same version: one of them is told that it has changed.
  const rivals = await Promise.all(["b2", "b3"].map((act) => store.set(WHO, { ...CACHE, value: 64, version: 2, act })));
  expect(rivals.filter((changed) => changed === null)).toHaveLength(1);
  expect(await store.set({ ...WHO, tenantId: "t2" }, { ...CACHE, act: "b4" })).toBeNull();

  const incident = { serviceId: "checkout", severity: "high", title: "内存用尽", details: "", act: "c1" };
  const opened = await Promise.all(["c1", "c1", "c2"].map((act) => store.open(WHO, { ...incident, act })));
  expect(opened.map(({ number }) => number)).toEqual([1001, 1001, 1002]);
  expect(await store.incident("t1", "c1")).toMatchObject({ number: 1001, title: "内存用尽" });
  expect(await store.incident("t2", "c1")).toBeNull();
  expect((await store.incidentsOf("t1", "checkout", 5)).map(({ number }) => number)).toEqual([1002, 1001]);

  now += 1_000 * 60_000;
  expect(observeAll(await store.load("t1"), now).map(({ health }) => health)).toEqual(Array(4).fill("healthy"));
});
