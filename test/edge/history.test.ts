import { describe, expect, it } from "vitest";
import type { Actor, HistoryReader, InboxQuery } from "../../src/edge/ports.ts";
import type { InboxItem } from "../../src/protocol/history.ts";
import type { Message } from "../../src/protocol/message.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import type { MessageQuery } from "../../src/protocol/rpc.ts";
import { CONVERSATION, emptyActor, emptyHistory, NOW, problemIn, testEdge } from "./support/edge.ts";

const broken = async (): Promise<never> => {
  throw new Error("D1_ERROR canary");
};
const item = { id: `${CONVERSATION}.r1.t1`, conversationId: CONVERSATION, asOfSeq: 7 } as InboxItem;

describe("the inbox", () => {
  function reader() {
    const asked: { reader: Principal; query: InboxQuery }[] = [];
    const history: HistoryReader = {
      ...emptyHistory,
      confirmations: async (who, query) => {
        asked.push({ reader: who, query });
        return { ok: true, value: { data: [item], nextCursor: "17.x" } };
      },
    };
    return { history, asked };
  }

  it("is asked for with all that says what this person may decide, and pages by sealed cursors", async () => {
    const { history, asked } = reader();
    const test = testEdge(undefined, { history });
    const who = { userId: "ann", tenantId: "acme", roles: ["sre"], scopes: ["confirmations:decide", "lab:transfer"] };
    const authorization = `Bearer ${await test.token(who)}`;
    const answer = await test.call("GET", "/v1/confirmations?limit=1", { authorization });
    const { data, nextCursor } = (await answer.json()) as { data: unknown; nextCursor: string };
    expect(data).toEqual([item]);
    expect((await test.call("GET", `/v1/confirmations?cursor=${nextCursor}`, { authorization })).status).toBe(200);
    expect(asked).toEqual([
      { reader: { ...who, tokenEpoch: NOW / 1_000 }, query: { now: NOW, limit: 1 } },
      { reader: { ...who, tokenEpoch: NOW / 1_000 }, query: { now: NOW, limit: 50, after: "17.x" } },
    ]);
    const others = await test.call("GET", `/v1/confirmations?cursor=${nextCursor}`);
    expect(await problemIn(others)).toMatchObject({ code: "cursor_invalid" });
    expect(asked).toHaveLength(2);
  });

  it("is no list for who may decide nothing", async () => {
    const { history, asked } = reader();
    const test = testEdge(undefined, { history });
    const authorization = `Bearer ${await test.token({ userId: "a", scopes: ["conversations:read"] })}`;
    const answer = await test.call("GET", "/v1/confirmations", { authorization });
    expect(await problemIn(answer)).toMatchObject({ code: "scope_missing", status: 403 });
    expect(asked).toEqual([]);
  });

  it("is 503 while the history cannot be read, and asks no actor", async () => {
    const test = testEdge(undefined, { history: { ...emptyHistory, confirmations: broken } });
    const answer = await test.call("GET", "/v1/confirmations");
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(await problemIn(answer)).toMatchObject({ code: "history_unavailable", retryable: true });
    expect(test.asked).toEqual([]);
  });
});

describe("messages, while their actor cannot answer", () => {
  const MESSAGES = `/v1/conversations/${CONVERSATION}/messages`;
  const message = { id: `${CONVERSATION}.m1`, seq: 4, parts: [], role: "user" } as unknown as Message;
  const overloaded: Actor = {
    ...emptyActor,
    messages: async () => {
      throw Object.assign(new Error("too much"), { overloaded: true });
    },
  };
  function stale(more: Partial<HistoryReader> = {}) {
    const asked: { userId: string; conversationId: string; query: MessageQuery }[] = [];
    const history: HistoryReader = {
      ...emptyHistory,
      messages: async ({ userId }, conversationId, query) => {
        asked.push({ userId, conversationId, query });
        return { data: [message], nextCursor: "4", stale: true, asOfSeq: 9 };
      },
      ...more,
    };
    return { history, asked };
  }

  it("are the history's, and say so; the next page may come from either", async () => {
    const { history, asked } = stale();
    const answer = await testEdge(overloaded, { history }).call("GET", `${MESSAGES}?limit=1`);
    const page = (await answer.json()) as { nextCursor: string };
    expect(page).toMatchObject({ data: [message], stale: true, asOfSeq: 9 });
    expect(asked).toEqual([
      { userId: "alice", conversationId: CONVERSATION, query: { after: 0, limit: 1, order: "asc" } },
    ]);
    const queries: MessageQuery[] = [];
    const again: Actor = {
      ...emptyActor,
      messages: async (_, __, query) => {
        queries.push(query);
        return { ok: true, value: { data: [], nextCursor: null } };
      },
    };
    const next = await testEdge(again, { history }).call("GET", `${MESSAGES}?cursor=${page.nextCursor}`);
    expect(await next.json()).toEqual({ data: [], nextCursor: null });
    expect(queries).toEqual([{ after: 4, limit: 50, order: "asc" }]);
  });

  it("are the history's after a fault that did not pass", async () => {
    const { history } = stale();
    let calls = 0;
    const passing: Actor = {
      ...emptyActor,
      messages: async () => {
        calls++;
        throw Object.assign(new Error("reset"), { retryable: true });
      },
    };
    const answer = await testEdge(passing, { history }).call("GET", MESSAGES);
    expect(await answer.json()).toMatchObject({ stale: true });
    expect(calls).toBe(3);
  });

  it("stay refused where the history knows nothing of them, or cannot be read either", async () => {
    for (const messages of [async () => null, broken]) {
      const answer = await testEdge(overloaded, { history: stale({ messages }).history }).call("GET", MESSAGES);
      const problem = await problemIn(answer);
      expect(problem).toMatchObject({ code: "overloaded", status: 503 });
      expect(JSON.stringify(problem)).not.toContain("canary");
    }
  });

  it("are never the history's where the actor refuses, or is broken", async () => {
    const { history, asked } = stale();
    const refused = await testEdge(emptyActor, { history }).call("GET", MESSAGES);
    expect(await problemIn(refused)).toMatchObject({ code: "not_found" });
    const bug = { ...emptyActor, messages: () => Promise.reject(new Error("storage")) };
    expect(await problemIn(await testEdge(bug, { history }).call("GET", MESSAGES))).toMatchObject({ code: "internal" });
    expect(asked).toEqual([]);
  });

  it("are not looked for in a history that is down while the actor answers", async () => {
    const actor: Actor = {
      ...emptyActor,
      messages: async () => ({ ok: true, value: { data: [message], nextCursor: null } }),
    };
    const history = { list: broken, confirmations: broken, messages: broken, usage: broken };
    const answer = await testEdge(actor, { history }).call("GET", MESSAGES);
    expect(await answer.json()).toEqual({ data: [message], nextCursor: null });
  });
});
