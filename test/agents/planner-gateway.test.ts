import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startFakeBackend, type FakeBackend } from "../support/fake-backend.ts";
import { agentHouse } from "./agent-house.ts";
import { behindGateway, GATEWAY_KEY } from "./planner-house.ts";

let backend: FakeBackend;
beforeAll(async () => {
  backend = await startFakeBackend({ apiKey: GATEWAY_KEY });
});
afterAll(() => backend.close());
beforeEach(() => backend.reset());
const rest = (key?: string) => behindGateway(backend, key);

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
