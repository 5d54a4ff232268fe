import { describe, expect, it } from "vitest";
import type { Actor } from "../../src/edge/ports.ts";
import { PROBLEMS, problemOf, reject, type Rejection } from "../../src/protocol/problems.ts";
import type { CommandAnswer } from "../../src/protocol/rpc.ts";
import type { Run } from "../../src/protocol/run.ts";
import { KEYED, hello, RUNS } from "./support/bad-requests.ts";
import { CONVERSATION, emptyActor, problemIn, RUN, testEdge, type CallInit } from "./support/edge.ts";
import { caughtUp, cursor, event, FakeSource, live, readSse, runOf, upgraded, welcome } from "./support/streams.ts";

const EVENTS = `/v1/conversations/${CONVERSATION}/events`;
const RUN_EVENTS = `/v1/runs/${RUN}/events`;
const SSE = { accept: "text/event-stream" };
const started = (more: Partial<CommandAnswer> = {}): CommandAnswer => ({
  status: 202,
  body: runOf(1, "queued"),
  replayed: false,
  since: cursor(1),
  ...more,
});

/** An actor that answers a start, and speaks on the sockets that it is asked for. */
function speaking({
  answer = started(),
  run = runOf(1),
  refusal,
}: { answer?: CommandAnswer; run?: Run; refusal?: Rejection } = {}) {
  const sockets: FakeSource[] = [];
  const cursors: (string | null)[] = [];
  const calls: string[] = [];
  const actor: Actor = {
    ...emptyActor,
    command: async () => {
      calls.push("command");
      return { ok: true, value: answer };
    },
    run: async () => {
      calls.push("run");
      return { ok: true, value: run };
    },
    events: async (_, __, query) => {
      calls.push(`events ${JSON.stringify(query)}`);
      const data = query.after === cursor(9) ? [] : [event(4, "run.queued", 1)];
      return { ok: true, value: { data: data as never, nextCursor: data.length > 0 ? cursor(4) : null } };
    },
    fetch: async (request) => {
      cursors.push(new URL(request.url).searchParams.get("after"));
      if (refusal) return Response.json(problemOf(refusal, "r"), { status: PROBLEMS[refusal.code].status });
      const socket = new FakeSource();
      sockets.push(socket);
      return upgraded(socket);
    },
  };
  return { actor, sockets, cursors, calls };
}

async function listen(actor: Actor, path: string, init: CallInit = {}, method = "GET") {
  const answer = await testEdge(actor).call(method, path, { ...init, headers: { ...SSE, ...init.headers } });
  return { answer, text: () => answer.text() };
}
const post = (actor: Actor, headers: Record<string, string> = {}) =>
  listen(actor, RUNS, { json: hello, headers: { ...KEYED, ...headers } }, "POST");

describe("a stream of events", () => {
  it("is answered at once, as a stream that nobody in between may keep or change", async () => {
    const { actor, sockets } = speaking();
    const { answer, text } = await listen(actor, EVENTS);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store, no-transform");
    expect(answer.headers.get("x-request-id")).toBeTruthy();
    sockets[0]?.say(welcome({ head: 1 }), live(event(2, "run.started", 1)));
    sockets[0]?.end(1012, "");
    expect(readSse(await text()).map(({ event: type }) => type)).toEqual(["run.started", "closed"]);
  });

  it.each([
    ["nothing", EVENTS, {}, null],
    ["after", `${EVENTS}?after=${cursor(3)}`, {}, cursor(3)],
    ["Last-Event-ID", EVENTS, { "last-event-id": cursor(5) }, cursor(5)],
    ["both: where the client really is", `${EVENTS}?after=${cursor(3)}`, { "last-event-id": cursor(5) }, cursor(5)],
  ])("begins where the client says: %s", async (_, path, headers, expected) => {
    const { actor, cursors } = speaking();
    await listen(actor, path, { headers });
    expect(cursors).toEqual([expected]);
  });

  it.each(["", "3", "abc", "-1", "1.5", "abcdefgh.-1", "abcdefgh.1.5", "ABCDEFGH.1", "abcdefgh.1e9"])(
    "is refused for the malformed cursor %j, in header and query, before an object is touched",
    async (bad) => {
      for (const path of [EVENTS, RUN_EVENTS]) {
        const test = testEdge(speaking().actor);
        const inHeader = await test.call("GET", path, { headers: { ...SSE, "last-event-id": bad } });
        expect(await problemIn(inHeader)).toMatchObject({ code: "cursor_invalid", status: 422 });
        const inQuery = await test.call("GET", `${path}?after=${bad}`, { headers: SSE });
        expect(await problemIn(inQuery)).toMatchObject({ code: "cursor_invalid", status: 422 });
        expect(test.asked).toEqual([]);
      }
    },
  );

  it("is refused as a problem, whatever the client accepts", async () => {
    for (const refusal of [reject("not_found", "no"), reject("too_many_sockets", "At most 10.")]) {
      const { answer } = await listen(speaking({ refusal }).actor, EVENTS);
      expect(await problemIn(answer)).toMatchObject({ code: refusal.code });
    }
  });

  it("is not opened for HEAD, which nobody would read", async () => {
    const { actor, cursors } = speaking();
    const { answer } = await listen(actor, EVENTS, {}, "HEAD");
    expect([answer.status, answer.headers.get("content-type"), cursors]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      [],
    ]);
  });

  it("is a page of JSON for everybody else", async () => {
    const { actor, cursors } = speaking();
    const answer = await testEdge(actor).call("GET", EVENTS, { headers: { "last-event-id": "not looked at" } });
    expect(await answer.json()).toMatchObject({ data: [{ seq: 4 }], nextCursor: cursor(4) });
    expect(cursors).toEqual([]);
  });
});

describe("a stream of one run's events", () => {
  it("has no other run's, and ends with its end", async () => {
    const { actor, sockets } = speaking();
    const { text } = await listen(actor, `${RUN_EVENTS}?after=${cursor(1)}`);
    const caught = caughtUp([event(2, "run.started", 1), event(3, "run.queued", 2)], 3);
    sockets[0]?.say(welcome({ head: 3, active: runOf(1) }), caught, live(event(4, "run.completed", 1)));
    expect(readSse(await text()).map(({ id }) => id)).toEqual([cursor(2), cursor(4)]);
  });

  it("of a run that is not there is 404, and opens nothing", async () => {
    const { answer } = await listen(emptyActor, RUN_EVENTS);
    expect(await problemIn(answer)).toMatchObject({ code: "not_found" });
  });

  it("of a run that has ended is 204 once there is nothing after the cursor: an EventSource stops there", async () => {
    const ended = { ...runOf(1, "completed"), stop: { code: "final_answer", detail: "", retryable: false } } as Run;
    for (const [path, status, opened] of [
      [RUN_EVENTS, 204, 0],
      [`${RUN_EVENTS}?after=${cursor(9)}`, 204, 0],
      [`${RUN_EVENTS}?after=${cursor(3)}`, 200, 1],
    ] as const) {
      const { actor, cursors } = speaking({ run: ended });
      const { answer } = await listen(actor, path);
      expect([answer.status, cursors.length]).toEqual([status, opened]);
    }
  });
});

describe("a start that is streamed", () => {
  it("streams the run from its first event until it waits", async () => {
    const { actor, sockets, cursors, calls } = speaking();
    const { answer, text } = await post(actor);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("location")).toBe(`/v1/runs/${RUN}`);
    expect(answer.headers.has("idempotency-replayed")).toBe(false);
    expect([cursors, calls]).toEqual([[cursor(1)], ["command"]]);
    const begun = caughtUp([event(2, "run.queued", 1), event(3, "run.started", 1)], 3);
    sockets[0]?.say(welcome({ head: 3, active: runOf(1) }), begun, live(event(4, "run.interrupted", 1)));
    expect(readSse(await text()).map(({ id }) => id)).toEqual([2, 3, 4].map(cursor));
  });

  it("again attaches: from the run's beginning, or from where the client was", async () => {
    const answer: CommandAnswer = { status: 202, body: runOf(1, "queued"), replayed: true };
    for (const [headers, expected] of [
      [{}, cursor(3)],
      [{ "last-event-id": cursor(6) }, cursor(6)],
    ] as const) {
      const { actor, cursors } = speaking({ answer });
      const again = await post(actor, headers);
      expect(again.answer.headers.get("idempotency-replayed")).toBe("true");
      expect(cursors).toEqual([expected]);
    }
  });

  it.each([
    ["without a key", { "last-event-id": cursor(1) }, "idempotency_key_missing", hello],
    ["with a malformed cursor", { ...KEYED, "last-event-id": "3" }, "cursor_invalid", hello],
    ["with a body that is none", KEYED, "invalid_request", {}],
  ])("is refused %s, and nothing is started", async (_, headers, code, json) => {
    const { actor, calls } = speaking();
    const { answer } = await listen(actor, RUNS, { json, headers }, "POST");
    expect(await problemIn(answer)).toMatchObject({ code });
    expect(calls).toEqual([]);
  });

  it("is refused to who may not read it, and nothing is started", async () => {
    const { actor, calls } = speaking();
    const test = testEdge(actor);
    const authorization = `Bearer ${await test.token({ userId: "a", scopes: ["conversations:write"] })}`;
    const answer = await test.call("POST", RUNS, { json: hello, headers: { ...SSE, ...KEYED }, authorization });
    expect(await problemIn(answer)).toMatchObject({ code: "scope_missing" });
    expect(calls).toEqual([]);
  });

  it("that the actor refuses is an ordinary problem", async () => {
    const busy = reject("run_active", "Another run is active.");
    const actor: Actor = { ...speaking().actor, command: async () => ({ ok: false, rejection: busy }) };
    expect(await problemIn((await post(actor)).answer)).toMatchObject({ code: "run_active", status: 409 });
  });
});
