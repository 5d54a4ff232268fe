import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { splitStatements } from "../../src/sql/statements.ts";
import { asD1 } from "../tools/sqlite-d1.ts";
import { startFakeBackend, type FakeBackend } from "../support/fake-backend.ts";
import { agentHouse, payloadOf, type HouseOptions } from "./agent-house.ts";

const SCHEMA = readFileSync(join(import.meta.dirname, "../../migrations/app/0001_plans.sql"), "utf8");

function database() {
  const db = new DatabaseSync(":memory:");
  for (const statement of splitStatements(SCHEMA)) db.exec(statement);
  return db;
}

let backend: FakeBackend;
beforeAll(async () => {
  backend = await startFakeBackend({ apiKey: "gateway-key-1" });
});
afterAll(() => backend.close());
beforeEach(() => backend.reset());

const rest = (key = "gateway-key-1"): HouseOptions => ({
  agent: "planner",
  variables: { PLANS_REST_URL: backend.url, PLANS_REST_KEY: key },
});
const d1 = (db = database()): HouseOptions => ({ agent: "planner", app: asD1(db) });
const data = (answer: Parameters<typeof payloadOf>[0]) => payloadOf(answer).data as Record<string, unknown>;

describe.each([
  ["in D1", () => d1()],
  ["behind the gateway", () => rest()],
])("plans %s", (_, options) => {
  test("an empty list is a success, and says so", async () => {
    const user = (await agentHouse(options())).as();
    expect(payloadOf(await user.act("list_plans", {}))).toMatchObject({
      success: true,
      data: { plans: [] },
      displayText: "You have no plans yet.",
    });
    expect((await user.ready("list_plans", {})).gate).toBeNull();
  });

  test("what is shown for confirmation is the title that is then stored", async () => {
    const { as } = await agentHouse(options());
    const user = as();
    const call = await user.ready("create_plan", { title: "please create a plan to visit Kyoto in spring" });
    expect(call).toMatchObject({
      effect: "probeable",
      args: { title: "Visit Kyoto in spring" },
      preview: { rows: [{ label: "Title", after: "Visit Kyoto in spring" }], reversible: true },
      gate: { quorum: 1 },
    });
    expect(payloadOf(await user.execute(call))).toMatchObject({
      success: true,
      data: { title: "Visit Kyoto in spring", version: 1 },
      displayText: 'Created the plan "Visit Kyoto in spring".',
    });
    expect(payloadOf(await as({ locale: "zh" }).act("list_plans", {})).displayText).toBe(
      "你有 1 个计划：Visit Kyoto in spring。",
    );
  });

  test("the newest plan comes first, and only as many as were asked for", async () => {
    const user = (await agentHouse(options())).as();
    for (const title of ["One", "Two", "Three"]) await user.act("create_plan", { title });
    const { plans } = data(await user.act("list_plans", { limit: 2 }));
    expect((plans as { title: string }[]).map(({ title }) => title)).toEqual(["Three", "Two"]);
  });

  test("a plan is its owner's: neither another user nor another tenant sees it", async () => {
    const { as } = await agentHouse(options());
    await as({ userId: "user-a" }).act("create_plan", { title: "Mine", user_id: "user-b" });
    for (const who of [
      { userId: "user-b" },
      { userId: "user-a", tenantId: "t2" },
      { userId: "eq.user-a&user_id=eq.user-a" },
    ]) {
      expect(data(await as(who).act("list_plans", {})).plans).toEqual([]);
    }
    expect(data(await as({ userId: "user-a" }).act("list_plans", {})).plans).toHaveLength(1);
  });

  test("a create that is sent again is the same plan, and a probe finds it", async () => {
    const user = (await agentHouse(options())).as();
    const call = await user.ready("create_plan", { title: "Once" });
    expect(await user.execute(call, { mode: "probe" })).toEqual({ kind: "absent" });
    const first = await user.execute(call);
    expect(await user.execute(call, { attempt: 2 })).toEqual(first);
    expect(await user.execute(call, { mode: "probe" })).toMatchObject({
      kind: "ok",
      payload: { source: "probe", data: { title: "Once" } },
    });
    expect(data(await user.act("list_plans", {})).plans).toHaveLength(1);
    expect(JSON.stringify(first)).not.toContain(call.idempotencyKey);
  });

  test("a title of nothing but asking goes back to the model", async () => {
    const user = (await agentHouse(options())).as();
    expect(await user.prepare("create_plan", { title: "please create a plan" })).toMatchObject({
      kind: "refused",
      payload: { error: { code: "invalid_arguments", message: expect.stringContaining("title: must say") } },
    });
  });

  test("writing needs its scope, reading none", async () => {
    const user = (await agentHouse(options())).as({ scopes: [] });
    expect(await user.prepare("create_plan", { title: "One" })).toMatchObject({
      payload: { error: { code: "scope_missing" } },
    });
    expect(payloadOf(await user.act("list_plans", {})).success).toBe(true);
  });

  test("a plan that is not there, or another's, cannot be changed or deleted", async () => {
    const { as } = await agentHouse(options());
    const { id } = data(await as({ userId: "user-a" }).act("create_plan", { title: "Mine" }));
    const other = as({ userId: "user-b" });
    for (const plan_id of [id, "plan_none"]) {
      for (const [name, args] of [
        ["update_plan", { plan_id, title: "Theirs" }],
        ["delete_plan", { plan_id }],
      ] as const) {
        expect(await other.prepare(name, args)).toMatchObject({
          kind: "refused",
          payload: { error: { code: "not_found" } },
        });
      }
    }
  });
});

describe("changing and deleting in D1", () => {
  async function withPlan() {
    const db = database();
    const house = await agentHouse(d1(db));
    const user = house.as();
    const { id } = data(await user.act("create_plan", { title: "Old title", notes: "a note" }));
    return { db, user, house, plan_id: String(id) };
  }

  test("a change is shown before and after, and makes the next version", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("update_plan", { plan_id, title: " new title. " });
    expect(call).toMatchObject({
      effect: "idempotent",
      args: { title: "New title" },
      expect: { version: 1 },
      preview: { rows: [{ label: "Title", before: "Old title", after: "New title" }] },
    });
    expect(data(await user.execute(call))).toMatchObject({ title: "New title", notes: "a note", version: 2 });
    expect(data(await user.act("update_plan", { plan_id, notes: "" }))).toMatchObject({
      title: "New title",
      notes: "",
      version: 3,
    });
    expect(await user.prepare("update_plan", { plan_id })).toMatchObject({
      payload: { error: { code: "invalid_arguments" } },
    });
  });

  test("a change that is sent again is done once", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("update_plan", { plan_id, title: "New title" });
    const first = await user.execute(call);
    expect(await user.execute(call, { attempt: 2 })).toEqual(first);
    expect(data(first)).toMatchObject({ version: 2 });
  });

  test("what has changed since it was shown is not overwritten, and not deleted", async () => {
    const { user, plan_id } = await withPlan();
    const change = await user.ready("update_plan", { plan_id, title: "Mine" });
    const removal = await user.ready("delete_plan", { plan_id });
    await user.act("update_plan", { plan_id, title: "Theirs" });
    for (const call of [change, removal]) {
      expect(await user.execute(call)).toMatchObject({
        kind: "failed",
        proof: "definitive",
        payload: { error: { code: "changed_since_shown" } },
      });
    }
    expect(data(await user.act("list_plans", {})).plans).toMatchObject([{ title: "Theirs", version: 2 }]);
  });

  test("a deletion says that it is for good, and is then done", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("delete_plan", { plan_id });
    expect(call).toMatchObject({
      effect: "once",
      expect: { version: 1 },
      preview: {
        reversible: false,
        rows: [
          { label: "Deleted for good", before: "Old title" },
          { label: "Notes", before: "a note" },
        ],
      },
    });
    expect(payloadOf(await user.execute(call))).toMatchObject({ success: true, displayText: "Deleted the plan." });
    expect(await user.execute(call)).toMatchObject({
      kind: "failed",
      proof: "not_sent",
      payload: { error: { code: "not_found" } },
    });
    expect(data(await user.act("list_plans", {})).plans).toEqual([]);
  });

  test("a database that gives no answer proves nothing", async () => {
    const { db, user, plan_id } = await withPlan();
    const call = await user.ready("create_plan", { title: "Another" });
    const removal = await user.ready("delete_plan", { plan_id });
    db.exec("DROP TABLE plans");
    expect(await user.execute(call)).toMatchObject({
      kind: "ambiguous",
      repeatable: true,
      error: { code: "PLANS_UNAVAILABLE" },
    });
    // Here it was the question before the act that failed, so nothing was sent.
    expect(await user.execute(removal)).toMatchObject({ kind: "failed", proof: "not_sent" });
  });
});

describe("the gateway", () => {
  const ROUTE = "/v1/rdb/rest/plans";

  test("a refused key is named by its fingerprint, for reads and for writes, and never shown", async () => {
    const user = (await agentHouse(rest("a-wrong-key-1234"))).as();
    for (const answer of [await user.act("list_plans", {}), await user.act("create_plan", { title: "One" })]) {
      expect(answer).toMatchObject({
        kind: "failed",
        proof: "definitive",
        payload: {
          error: {
            layer: "gateway",
            code: "GATEWAY_UNAUTHORIZED",
            http: { status: 401 },
            message: expect.stringMatching(/key sha256:[0-9a-f]{8}\)/),
          },
        },
      });
      expect(JSON.stringify(answer)).not.toContain("a-wrong-key");
    }
    expect(backend.ledger().rawEffects).toBe(0);
  });

  test.each([
    ["403", "failed", "GATEWAY_FORBIDDEN", 0],
    ["500", "ambiguous", "INTERNAL", 0],
    ["empty_success", "ambiguous", "GATEWAY_BAD_RESPONSE", 0],
    ["wrong_shape", "ambiguous", "GATEWAY_BAD_RESPONSE", 1],
    ["commit_then_drop", "ambiguous", "GATEWAY_UNAVAILABLE", 1],
  ] as const)("on %s a create is %s (%s), and the probe finds out", async (mode, kind, code, rows) => {
    const user = (await agentHouse(rest())).as();
    const call = await user.ready("create_plan", { title: "One" });
    backend.fault({ route: `POST ${ROUTE}`, mode, times: 1 });
    expect(await user.execute(call)).toMatchObject({ kind, payload: { success: false, error: { code } } });
    expect(backend.ledger().rawEffects).toBe(rows);
    expect((await user.execute(call, { mode: "probe" })).kind).toBe(rows === 1 ? "ok" : "absent");
  });

  test("a probe that the gateway refuses to answer says nothing", async () => {
    const user = (await agentHouse(rest())).as();
    const call = await user.ready("create_plan", { title: "One" });
    backend.fault({ route: `GET ${ROUTE}`, mode: "401", times: 1 });
    expect(await user.execute(call, { mode: "probe" })).toMatchObject({
      kind: "ambiguous",
      error: { code: "GATEWAY_UNAUTHORIZED" },
    });
  });

  test("a list whose rows are not what was agreed is an error, never an empty list", async () => {
    const user = (await agentHouse(rest())).as();
    backend.fault({ route: `GET ${ROUTE}`, mode: "wrong_shape", times: 1 });
    expect(await user.act("list_plans", {})).toMatchObject({
      kind: "ambiguous",
      error: { code: "GATEWAY_BAD_RESPONSE" },
    });
  });

  /** A gateway whose PATCH and DELETE answer as scripted, on one row. */
  const scripted = (answer: unknown, row: object, status = 200) => {
    const asked: { method: string; url: URL; body: unknown }[] = [];
    const fetcher = (async (input: URL, init: RequestInit) => {
      const method = init.method ?? "GET";
      asked.push({ method, url: input, body: typeof init.body === "string" ? JSON.parse(init.body) : null });
      return method === "GET" ? Response.json([row]) : Response.json(answer, { status });
    }) as unknown as typeof fetch;
    return { asked, options: { ...rest(), fetch: fetcher } };
  };
  const ROW = { id: "p1", title: "Old", version: 4, created_at: "2026-01-01T00:00:00Z" };

  test("a change and a deletion name owner, id and version in one request, and want the row back", async () => {
    const { asked, options } = scripted([{ ...ROW, title: "New", version: 5 }], ROW);
    const user = (await agentHouse(options)).as({ tenantId: "t1", userId: "u&1" });
    expect(await user.act("update_plan", { plan_id: "p1", title: "New" })).toMatchObject({
      kind: "ok",
      payload: { data: { version: 5 } },
    });
    expect(await user.act("delete_plan", { plan_id: "p1" })).toMatchObject({ kind: "ok" });
    const writes = asked.filter(({ method }) => method !== "GET");
    expect(writes.map(({ method }) => method)).toEqual(["PATCH", "DELETE"]);
    for (const { url } of writes) {
      expect(Object.fromEntries(url.searchParams)).toEqual({
        tenant_id: "eq.t1",
        user_id: "eq.u&1",
        id: "eq.p1",
        version: "eq.4",
      });
    }
  });

  test("a gateway that changed nothing, although the version is the one shown, contradicts itself", async () => {
    const { options } = scripted([], ROW);
    const user = (await agentHouse(options)).as();
    for (const answer of [
      await user.act("update_plan", { plan_id: "p1", title: "New" }),
      await user.act("delete_plan", { plan_id: "p1" }),
    ]) {
      expect(answer).toMatchObject({ kind: "ambiguous", error: { code: "GATEWAY_BAD_RESPONSE" } });
    }
  });

  test("another row than the one asked for is no success", async () => {
    const { options } = scripted([{ ...ROW, id: "p2" }], ROW);
    const user = (await agentHouse(options)).as();
    expect(await user.act("update_plan", { plan_id: "p1", title: "New" })).toMatchObject({
      kind: "ambiguous",
      error: { code: "GATEWAY_BAD_RESPONSE" },
    });
  });
});
