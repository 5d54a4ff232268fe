import { describe, expect, it } from "vitest";
import type { ConversationListQuery, HistoryReader } from "../../src/edge/ports.ts";
import { NOT_FOUND } from "../../src/edge/problems.ts";
import { ConversationId } from "../../src/protocol/ids.ts";
import { reject } from "../../src/protocol/problems.ts";
import { NOT_FOUND as CORE_NOT_FOUND } from "../../src/run/authority.ts";
import { CONVERSATION, emptyActor, emptyHistory, problemIn, recordingActor, testEdge } from "./support/edge.ts";

const create = (key?: string) => ({
  json: { agent: "planner" },
  ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
});

describe("creating a conversation", () => {
  it("makes its id here: another one each time", async () => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    for (let i = 0; i < 3; i++) await test.call("POST", "/v1/conversations", create());
    const ids = commands.map(({ request }) => request.conversationId);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(ConversationId.safeParse(id).success).toBe(true);
    expect(test.asked.map(({ conversationId }) => conversationId)).toEqual(ids);
  });

  it("with a key leads a retry to the same actor, for whichever user of the tenant, and no other tenant's", async () => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    const as = async (userId: string, tenantId: string) => `Bearer ${await test.token({ userId, tenantId })}`;
    for (const [user, tenant, key] of [
      ["alice", "acme", "k"],
      ["alice", "acme", '"k"'],
      ["bob", "acme", "k"],
      ["alice", "other", "k"],
      ["alice", "acme", "k2"],
    ] as const) {
      await test.call("POST", "/v1/conversations", { ...create(key), authorization: await as(user, tenant) });
    }
    const [first, retry, bob, elsewhere, otherKey] = commands.map(({ request }) => request.conversationId);
    expect([retry, bob]).toEqual([first, first]);
    expect(new Set([first, elsewhere, otherKey]).size).toBe(3);
    expect(commands.slice(0, 2).map(({ request }) => request.idempotencyKey)).toEqual(["k", "k"]);
  });

  it("says where it is, and that an answer is a replay", async () => {
    const body = { id: CONVERSATION, agent: "planner" };
    const actor = {
      ...emptyActor,
      command: async () => ({ ok: true, value: { status: 201, body, replayed: true } }),
    } as unknown as typeof emptyActor;
    const answer = await testEdge(actor).call("POST", "/v1/conversations", create("k"));
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(`/v1/conversations/${CONVERSATION}`);
    expect(answer.headers.get("idempotency-replayed")).toBe("true");
    expect(await answer.json()).toEqual(body);
  });
});

describe("a conversation", () => {
  it.each([
    ["PATCH", "", { title: "Kyoto" }, { type: "update_conversation", body: { title: "Kyoto" } }],
    [
      "PUT",
      "/participants/bob%2Fthe%20builder",
      { role: "viewer" },
      { type: "put_participant", userId: "bob/the builder", body: { role: "viewer" } },
    ],
    [
      "PUT",
      "/participants/100%25",
      { role: "editor" },
      { type: "put_participant", userId: "100%", body: { role: "editor" } },
    ],
    ["DELETE", "/participants/bob", undefined, { type: "remove_participant", userId: "bob", body: {} }],
  ])("%s %s becomes its command", async (method, path, json, command) => {
    const { actor, commands } = recordingActor();
    const answer = await testEdge(actor).call(method, `/v1/conversations/${CONVERSATION}${path}`, json ? { json } : {});
    expect(answer.status).toBe(202);
    expect(commands.map(({ request }) => request)).toEqual([{ conversationId: CONVERSATION, command }]);
  });

  it.each(["/participants/%ff", "/participants/%zz", "/participants/100%"])(
    "%s is nobody's name in another spelling",
    async (path) => {
      const { actor, commands } = recordingActor();
      const json = { role: "viewer" };
      const answer = await testEdge(actor).call("PUT", `/v1/conversations/${CONVERSATION}${path}`, { json });
      expect([answer.status, commands]).toEqual([422, []]);
    },
  );

  it("is asked for with the context that the sign-in gave, and the trace that the caller sent", async () => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    const token = await test.token({
      userId: "alice",
      tenantId: "acme",
      roles: ["sre"],
      scopes: ["conversations:write"],
      locale: "zh",
    });
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const headers = { traceparent, "x-user-id": "evil", "x-tenant-id": "evil" };
    const path = `/v1/conversations/${CONVERSATION}`;
    const answer = await test.call("PATCH", path, {
      json: { archived: true },
      headers,
      authorization: `Bearer ${token}`,
    });
    expect(commands[0]?.context).toEqual({
      tenantId: "acme",
      userId: "alice",
      roles: ["sre"],
      scopes: ["conversations:write"],
      locale: "zh",
      tokenEpoch: test.clock.now / 1_000,
      requestId: answer.headers.get("x-request-id"),
      traceId: "a".repeat(32),
      authHeader: `Bearer ${token}`,
      expiresAt: test.clock.now + 3_600_000,
      deadlineAt: test.clock.now + 30_000,
    });
  });

  it.each([
    "",
    "00-xyz",
    `00-${"0".repeat(32)}-${"b".repeat(16)}-01`,
    `ff-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    `00-${"A".repeat(32)}-${"b".repeat(16)}-01`,
    `00-${"a".repeat(32)}-${"b".repeat(16)}-01-more`,
  ])("has a trace of its own where the caller's is %j", async (traceparent) => {
    const { actor, commands } = recordingActor();
    const init = { json: { archived: true }, headers: { traceparent } };
    await testEdge(actor).call("PATCH", `/v1/conversations/${CONVERSATION}`, init);
    expect(commands[0]?.context.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(commands[0]?.context.traceId).not.toBe("a".repeat(32));
  });

  it("of somebody else is refused in the words of one that is not there", async () => {
    expect(NOT_FOUND).toEqual(CORE_NOT_FOUND);
    const test = testEdge();
    const bodies = await Promise.all(
      [CONVERSATION, "not-an-id"].map(async (id) => {
        const { requestId: _, ...rest } = await problemIn(await test.call("GET", `/v1/conversations/${id}`));
        return rest;
      }),
    );
    expect(bodies[0]).toEqual(bodies[1]);
  });

  it("passes on what its actor adds to a refusal", async () => {
    const rejection = reject("forbidden", "Busy.", { extensions: { blockedBy: { runId: "r" } } });
    const actor = { ...emptyActor, command: async () => ({ ok: false as const, rejection }) };
    const answer = await testEdge(actor).call("PATCH", `/v1/conversations/${CONVERSATION}`, {
      json: { archived: true },
    });
    expect(await problemIn(answer)).toMatchObject({ status: 403, code: "forbidden", blockedBy: { runId: "r" } });
  });
});

describe("the list of conversations", () => {
  const row = {
    id: CONVERSATION,
    agent: "planner",
    title: "Kyoto",
    role: "owner" as const,
    createdAt: "2026-11-29T12:00:00.000Z",
    updatedAt: "2026-11-29T12:00:00.000Z",
    archived: false,
    asOfSeq: 7,
    generation: "abcdefgh",
    activeRun: null,
    needsConfirmation: false,
    handover: { state: "none" as const },
  };
  function reader() {
    const asked: { tenantId: string; userId: string; query: ConversationListQuery }[] = [];
    const history: HistoryReader = {
      ...emptyHistory,
      list: async (tenantId, userId, query) => {
        asked.push({ tenantId, userId, query });
        return { ok: true, value: { data: [row], nextCursor: "17|x" } };
      },
    };
    return { history, asked };
  }

  it("asks for this tenant's and this user's, and pages by sealed cursors", async () => {
    const { history, asked } = reader();
    const test = testEdge(undefined, { history });
    const first = (await (await test.call("GET", "/v1/conversations?q=%E4%BA%AC&agent=planner&limit=2")).json()) as {
      data: unknown;
      nextCursor: string;
    };
    expect(first.data).toEqual([row]);
    const path = `/v1/conversations?q=%E4%BA%AC&agent=planner&cursor=${first.nextCursor}`;
    expect((await test.call("GET", path)).status).toBe(200);
    const who = { tenantId: "development", userId: "alice" };
    expect(asked).toEqual([
      { ...who, query: { q: "京", agent: "planner", limit: 2, order: "desc" } },
      { ...who, query: { q: "京", agent: "planner", limit: 50, order: "desc", after: "17|x" } },
    ]);
  });

  it("takes a cursor for its own query and person only", async () => {
    const { history, asked } = reader();
    const test = testEdge(undefined, { history });
    const { nextCursor } = (await (await test.call("GET", "/v1/conversations?q=a")).json()) as { nextCursor: string };
    const bob = `Bearer ${await test.token({ userId: "bob" })}`;
    const tampered = `${nextCursor.slice(0, -1)}${nextCursor.endsWith("A") ? "E" : "A"}`;
    for (const [path, init] of [
      [`/v1/conversations?q=b&cursor=${nextCursor}`, {}],
      [`/v1/conversations?cursor=${nextCursor}`, {}],
      [`/v1/conversations?q=a&order=asc&cursor=${nextCursor}`, {}],
      [`/v1/conversations?q=a&cursor=${nextCursor}`, { authorization: bob }],
      [`/v1/conversations?q=a&cursor=${tampered}`, {}],
      [`/v1/conversations?q=a&cursor=${nextCursor}.x`, {}],
      [`/v1/conversations/${CONVERSATION}/messages?cursor=${nextCursor}`, {}],
    ] as const) {
      expect(await problemIn(await test.call("GET", path, init))).toMatchObject({
        code: "cursor_invalid",
        status: 422,
      });
    }
    expect(asked).toHaveLength(1);
  });

  it("is 503 while the history cannot be read, and never an empty page", async () => {
    const history: HistoryReader = {
      ...emptyHistory,
      list: async () => {
        throw new Error("D1_ERROR canary");
      },
    };
    const answer = await testEdge(undefined, { history }).call("GET", "/v1/conversations");
    expect(answer.headers.get("retry-after")).toBe("5");
    const problem = await problemIn(answer);
    expect(problem).toMatchObject({ code: "history_unavailable", status: 503 });
    expect(JSON.stringify(problem)).not.toContain("canary");
  });

  it("is no route where there is no history", async () => {
    const answer = await testEdge().call("GET", "/v1/conversations");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
});
