import { describe, expect, it } from "vitest";
import type { Actor } from "../../src/edge/ports.ts";
import { reject } from "../../src/protocol/problems.ts";
import { KEYED, hello, RUNS } from "./support/bad-requests.ts";
import { CONVERSATION, emptyActor, problemIn, recordingActor, RUN, testEdge } from "./support/edge.ts";

const decisions = [{ toolCallId: `${RUN}.t1`, argsDigest: "d".repeat(43), decision: "approve" }];

describe("a run", () => {
  it.each([
    ["POST", RUNS, hello, { type: "start_run", body: hello }],
    ["PATCH", `/v1/runs/${RUN}`, hello, { type: "edit_run", runId: RUN, body: hello }],
    ["DELETE", `/v1/runs/${RUN}`, undefined, { type: "drop_run", runId: RUN, body: {} }],
    ["POST", `/v1/runs/${RUN}/resume`, { decisions }, { type: "resume", runId: RUN, body: { decisions } }],
    ["POST", `/v1/runs/${RUN}/cancel`, { reason: "no" }, { type: "cancel_run", runId: RUN, body: { reason: "no" } }],
    ["POST", `/v1/runs/${RUN}/retry`, undefined, { type: "retry_run", runId: RUN, body: {} }],
  ])("%s %s becomes its command, at its conversation's actor", async (method, path, json, command) => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    const answer = await test.call(method, path, { ...(json ? { json } : {}), headers: KEYED });
    expect(answer.status).toBe(202);
    const key = method === "POST" ? { idempotencyKey: "k1" } : {};
    expect(commands.map(({ request }) => request)).toEqual([{ conversationId: CONVERSATION, command, ...key }]);
    expect(test.asked).toEqual([{ tenantId: "development", conversationId: CONVERSATION }]);
  });

  it("that was started, or started again, says where it is", async () => {
    const body = { id: `${CONVERSATION}.r2`, status: "queued" };
    const actor = {
      ...emptyActor,
      command: async () => ({ ok: true, value: { status: 202, body, replayed: false } }),
    } as unknown as Actor;
    for (const path of [RUNS, `/v1/runs/${RUN}/retry`]) {
      const init = path === RUNS ? { json: hello, headers: KEYED } : {};
      const answer = await testEdge(actor).call("POST", path, init);
      expect(answer.status).toBe(202);
      expect(answer.headers.get("location")).toBe(`/v1/runs/${CONVERSATION}.r2`);
      expect(answer.headers.has("idempotency-replayed")).toBe(false);
      expect(await answer.json()).toEqual(body);
    }
  });

  it("that is asked for without a body answers without one", async () => {
    const actor: Actor = {
      ...emptyActor,
      command: async () => ({ ok: true, value: { status: 204, body: null, replayed: false } }),
    };
    const answer = await testEdge(actor).call("DELETE", `/v1/conversations/${CONVERSATION}/participants/bob`);
    expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([204, "", null]);
  });

  it("of another tenant is looked for at another actor: the tenant is the sign-in's", async () => {
    const test = testEdge();
    for (const tenantId of ["a|b", "a"]) {
      await test.call("GET", `/v1/runs/${RUN}`, {
        authorization: `Bearer ${await test.token({ userId: "u", tenantId })}`,
      });
    }
    expect(test.asked.map((one) => one.tenantId)).toEqual(["a|b", "a"]);
  });
});

describe("pages of a conversation", () => {
  it("of messages go up from the beginning, or down from the end, each from where the page before ended", async () => {
    const queries: unknown[] = [];
    const actor: Actor = {
      ...emptyActor,
      messages: async (_, __, query) => {
        queries.push(query);
        return { ok: true, value: { data: [], nextCursor: "41" } };
      },
    };
    const test = testEdge(actor);
    for (const order of ["asc", "desc"]) {
      const path = `/v1/conversations/${CONVERSATION}/messages?order=${order}&limit=7`;
      const { nextCursor } = (await (await test.call("GET", path)).json()) as { nextCursor: string };
      await test.call("GET", `${path}&cursor=${nextCursor}`);
    }
    expect(queries).toEqual([
      { after: 0, limit: 7, order: "asc" },
      { after: 41, limit: 7, order: "asc" },
      { after: Number.MAX_SAFE_INTEGER, limit: 7, order: "desc" },
      { after: 41, limit: 7, order: "desc" },
    ]);
  });

  it("of runs go down from the newest, fifty at a time", async () => {
    const queries: unknown[] = [];
    const actor: Actor = {
      ...emptyActor,
      runs: async (_, __, query) => {
        queries.push(query);
        return { ok: true, value: { data: [], nextCursor: queries.length < 2 ? "3" : null } };
      },
    };
    const test = testEdge(actor);
    const { nextCursor } = (await (await test.call("GET", RUNS)).json()) as { nextCursor: string };
    expect(await (await test.call("GET", `${RUNS}?cursor=${nextCursor}`)).json()).toEqual({
      data: [],
      nextCursor: null,
    });
    expect(queries).toEqual([
      { before: Number.MAX_SAFE_INTEGER, limit: 50 },
      { before: 3, limit: 50 },
    ]);
  });

  it("do not take one another's cursors", async () => {
    const page = async () => ({ ok: true as const, value: { data: [], nextCursor: "1" } });
    const test = testEdge({ ...emptyActor, runs: page, messages: page });
    const { nextCursor } = (await (await test.call("GET", RUNS)).json()) as { nextCursor: string };
    for (const path of [
      `/v1/conversations/${CONVERSATION}/messages?cursor=${nextCursor}`,
      `/v1/conversations/${CONVERSATION.replace("0", "1")}/runs?cursor=${nextCursor}`,
    ]) {
      expect(await problemIn(await test.call("GET", path))).toMatchObject({ code: "cursor_invalid" });
    }
  });

  it("of events take the event cursor as it is", async () => {
    const queries: unknown[] = [];
    const actor: Actor = {
      ...emptyActor,
      events: async (_, __, query) => {
        queries.push(query);
        return { ok: true, value: { data: [], nextCursor: "abcdefgh.9" } };
      },
    };
    const test = testEdge(actor);
    const answer = await test.call("GET", `/v1/conversations/${CONVERSATION}/events?after=abcdefgh.7&limit=2`);
    expect(await answer.json()).toEqual({ data: [], nextCursor: "abcdefgh.9" });
    await test.call("GET", `/v1/conversations/${CONVERSATION}/events`);
    expect(queries).toEqual([{ after: "abcdefgh.7", limit: 2 }, { limit: 50 }]);
  });

  it("of a run's events tell nothing new from no such run", async () => {
    const actor: Actor = { ...emptyActor, events: async () => ({ ok: true, value: { data: [], nextCursor: null } }) };
    const path = `/v1/runs/${RUN}/events`;
    expect(await problemIn(await testEdge(actor).call("GET", path))).toMatchObject({ code: "not_found" });
    const known = { ...actor, run: async () => ({ ok: true, value: { id: RUN } }) } as unknown as Actor;
    expect(await (await testEdge(known).call("GET", path)).json()).toEqual({ data: [], nextCursor: null });
  });

  it("pass an actor's refusal on", async () => {
    const gone = async () => ({ ok: false as const, rejection: reject("gone", "Erased.") });
    const test = testEdge({ ...emptyActor, messages: gone, events: gone, snapshot: gone });
    for (const path of ["", "/messages", "/events"]) {
      const answer = await test.call("GET", `/v1/conversations/${CONVERSATION}${path}`);
      expect(await problemIn(answer)).toMatchObject({ code: "gone", status: 410 });
    }
  });
});
