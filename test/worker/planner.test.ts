/** The planner's tables and statements on a real D1, and the local migrations beside wrangler's own. */
import { applyD1Migrations, env } from "cloudflare:test";
import { expect, test } from "vitest";
import schema from "../../migrations/app/0001_plans.sql";
import { D1PlanStore } from "../../src/agents/planner/d1-plan-store.ts";
import { migrateD1 } from "../../src/sql/d1-migrations.ts";
import { splitStatements } from "../../src/sql/statements.ts";

const MIGRATIONS = [{ name: "0001_plans.sql", sql: schema }];

test("plans live in D1: migrated by two isolates at once, kept in wrangler's books, read back by their owner", async () => {
  const db = env.APP;
  const [one, two] = await Promise.all([migrateD1(db, MIGRATIONS), migrateD1(db, MIGRATIONS)]);
  expect([...one, ...two]).toEqual(["0001_plans.sql"]);
  // What wrangler itself would do on top: nothing, or the second CREATE TABLE would fail.
  await applyD1Migrations(db, [{ name: "0001_plans.sql", queries: splitStatements(schema) }]);
  expect(await migrateD1(db, MIGRATIONS)).toEqual([]);

  let now = 1_700_000_000_000;
  const store = new D1PlanStore(db, () => (now += 1_000));
  const owner = { tenantId: "t1", userId: "user-a" };
  const plan = { id: "plan_1", title: "春天去京都 😀", notes: "", mark: "m1" };
  const first = await store.insert(owner, plan);
  expect(first).toEqual({
    ok: true,
    value: {
      id: "plan_1",
      title: plan.title,
      notes: "",
      version: 1,
      createdAt: "2023-11-14T22:13:21.000Z",
      updatedAt: "2023-11-14T22:13:21.000Z",
    },
  });
  expect(await store.insert(owner, plan)).toEqual(first);
  await store.insert(owner, { ...plan, id: "plan_2", title: "Two" });

  expect(
    await store.update({ ...owner, userId: "user-b" }, { id: "plan_1", version: 1, title: "x", mark: "m2" }),
  ).toMatchObject({ value: null });
  expect(await store.update(owner, { id: "plan_1", version: 1, title: "New", mark: "m2" })).toMatchObject({
    value: { title: "New", version: 2 },
  });
  expect(await store.update(owner, { id: "plan_1", version: 1, title: "Late", mark: "m3" })).toMatchObject({
    value: null,
  });
  expect(await store.find(owner, "plan_1")).toMatchObject({ value: { lastChange: "m2", plan: { title: "New" } } });
  expect(await store.list(owner, 10)).toMatchObject({ value: [{ id: "plan_2" }, { id: "plan_1" }] });
  expect(await store.list({ ...owner, tenantId: "t2" }, 10)).toEqual({ ok: true, value: [] });
  expect(await store.remove(owner, { id: "plan_1", version: 1 })).toMatchObject({ value: false });
  expect(await store.remove(owner, { id: "plan_1", version: 2 })).toMatchObject({ value: true });
  expect(await store.find(owner, "plan_1")).toMatchObject({ value: null });
});
