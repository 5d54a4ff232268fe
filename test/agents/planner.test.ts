import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startFakeBackend, type FakeBackend } from "../support/fake-backend.ts";
import { agentHouse, payloadOf } from "./agent-house.ts";
import { behindGateway, data, GATEWAY_KEY, inD1 } from "./planner-house.ts";

let backend: FakeBackend;
beforeAll(async () => {
  backend = await startFakeBackend({ apiKey: GATEWAY_KEY });
});
afterAll(() => backend.close());
beforeEach(() => backend.reset());

describe.each([
  ["in D1", () => inD1()],
  ["behind the gateway", () => behindGateway(backend)],
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
