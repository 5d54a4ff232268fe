/**
 * Cases S37 and S65: what a client can get wrong, at the whole service. It hears what it did wrong, nothing answers 500,
 * nothing is written, and what it did not own stays untouched.
 */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { stubFor } from "../../src/edge/stub-for.ts";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { PROBLEMS, type ProblemCode } from "../../src/protocol/problems.ts";
import { BAD_REQUESTS } from "../edge/support/bad-requests.ts";
import { CONVERSATION, RUN } from "../edge/support/edge.ts";
import { agree, eventsOverRest } from "./harness/agreement.ts";
import { loggedErrors } from "./harness/log.ts";
import { signIn, TENANT } from "./harness/people.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";
import { upgrade } from "./harness/watcher.ts";

const PROPOSE = { fixture: "common_propose_transfer" };

/** A conversation that waits for a decision: the state in which a wrong command could do most. */
async function waiting() {
  const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
  const { run, calls } = await talk.ask();
  return { talk, run, call: calls[0] };
}

async function untouched(talk: Talk, events: number): Promise<void> {
  expect(await eventsOverRest(talk)).toHaveLength(events);
  expect(await talk.bookings()).toEqual([]);
}

test("every wrong request is answered with its problem, and changes nothing", async () => {
  const { talk, run, call } = await waiting();
  const before = talk.events.length;
  const real = (text: string) => text.replaceAll(RUN, run.id).replaceAll(CONVERSATION, talk.id);
  for (const [name, method, path, { json, body, headers = {} }, code, pointer] of BAD_REQUESTS) {
    const sent = json === undefined ? body : JSON.stringify(json);
    const typed = json === undefined || "content-type" in headers ? {} : { "content-type": "application/json" };
    const answer = await talk.person.ask(method, real(path), {
      // Bytes come as they are, without a type that nobody said.
      ...(sent === undefined ? {} : { body: typeof sent === "string" ? real(sent) : sent }),
      headers: { "content-type": "", ...typed, ...headers },
    });
    expect([name, answer.status, answer.body["code"]]).toEqual([name, PROBLEMS[code as ProblemCode].status, code]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("x-request-id")).toBe(answer.body["requestId"]);
    const errors = (answer.body["errors"] ?? []) as readonly { readonly pointer: string }[];
    const pointers = pointer === undefined ? [] : errors.map((error) => error.pointer);
    expect([name, pointers]).toEqual([name, pointer === undefined ? [] : [pointer]]);
  }
  await untouched(talk, before);
  expect((await talk.person.client.run(run.id)).pending).toEqual([call]);
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
});

test.concurrent("ten megabytes are refused, and the next request is served", async () => {
  const { talk, run, call } = await waiting();
  const before = talk.events.length;
  const large = `{"input":{"text":"${"x".repeat(10 * 1024 * 1024)}"}}`;
  for (const path of [`/v1/conversations/${talk.id}/runs`, `/v1/runs/${run.id}/resume`, "/v1/conversations"]) {
    const headers = { "idempotency-key": crypto.randomUUID(), "content-type": "application/json" };
    const answer = await talk.person.ask("POST", path, { body: large, headers });
    expect([path, answer.status, answer.body["code"]]).toEqual([path, 413, "payload_too_large"]);
  }
  await untouched(talk, before);
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
});

test.concurrent("a wrong frame gets a problem, the socket stays, and nothing is changed", async () => {
  const { talk, run, call } = await waiting();
  const other = await Talk.open();
  const before = talk.events.length;
  const key = () => crypto.randomUUID();
  const start = { type: "start_run", id: "a", input: { text: "hi" } };
  const decision = { toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" };
  const resume = { type: "resume", id: "a", runId: run.id };
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const frames: [name: string, frame: unknown, code: string][] = [
    ["nothing", "", "malformed_json"],
    ["half a frame", '{"type":', "malformed_json"],
    ["text", "hello", "malformed_json"],
    ["fifty thousand brackets", "[".repeat(50_000), "malformed_json"],
    ["bytes", new TextEncoder().encode(JSON.stringify({ ...start, idempotencyKey: key() })).buffer, "invalid_request"],
    ["no bytes", new ArrayBuffer(0), "invalid_request"],
    ["null", null, "invalid_request"],
    ["a list", [start], "invalid_request"],
    ["a number", 7, "invalid_request"],
    ["a string", "start_run", "malformed_json"],
    ["deep nesting", nested(5_000), "invalid_request"],
    ["no type", { id: "a" }, "invalid_request"],
    ["an unknown type", { type: "shutdown", id: "a" }, "invalid_request"],
    ["a server's type", { type: "welcome", id: "a" }, "invalid_request"],
    ["no id", { ...start, id: undefined, idempotencyKey: key() }, "invalid_request"],
    ["an id that is a number", { ...start, id: 1, idempotencyKey: key() }, "invalid_request"],
    ["an id without end", { ...start, id: "i".repeat(65), idempotencyKey: key() }, "invalid_request"],
    ["a start without a key", start, "invalid_request"],
    ["a key that is none", { ...start, idempotencyKey: "a b" }, "invalid_request"],
    ["an unknown member", { ...start, idempotencyKey: key(), approved: true }, "invalid_request"],
    ["a user of the client's choice", { ...start, idempotencyKey: key(), userId: "user-b" }, "invalid_request"],
    ["another conversation", { ...start, idempotencyKey: key(), conversationId: other.id }, "invalid_request"],
    ["text that is none", { ...start, idempotencyKey: key(), input: { text: 7 } }, "invalid_request"],
    [
      "half a character",
      `{"type":"start_run","id":"a","idempotencyKey":"k","input":{"text":"\\ud83d"}}`,
      "invalid_request",
    ],
    ["text of 33 KB", { ...start, idempotencyKey: key(), input: { text: "x".repeat(33_000) } }, "invalid_request"],
    ["nothing to answer", resume, "invalid_request"],
    ["a decision that is none", { ...resume, decisions: [{ ...decision, decision: "maybe" }] }, "invalid_request"],
    ["a yes with arguments", { ...resume, decisions: [{ ...decision, args: {} }] }, "invalid_request"],
    ["another digest", { ...resume, decisions: [{ ...decision, argsDigest: "A".repeat(43) }] }, "digest_mismatch"],
    ["a call that is not there", { ...resume, decisions: [{ ...decision, toolCallId: `${run.id}.t9` }] }, "not_found"],
    ["a run that is not there", { ...resume, runId: `${talk.id}.r9`, decisions: [decision] }, "not_found"],
    ["a run of another conversation", { type: "cancel_run", id: "a", runId: `${other.id}.r1` }, "not_found"],
    ["a run id of another form", { type: "cancel_run", id: "a", runId: "r1" }, "invalid_request"],
    ["a ticket of nobody", { type: "refresh", id: "a", ticket: "none" }, "ticket_invalid"],
  ];
  for (const [name, frame, code] of frames) {
    const heard = talk.watcher.frames.length;
    talk.watcher.send(typeof frame === "string" || frame instanceof ArrayBuffer ? frame : JSON.stringify(frame));
    const answer = await talk.watcher.until(`an answer to ${name}`, () => talk.watcher.frames[heard]);
    expect([name, answer]).toMatchObject([name, { type: "problem", problem: { code } }]);
  }
  expect(talk.watcher.closed).toBeNull();
  await untouched(talk, before);
  const answer = await talk.watcher.command({ ...resume, decisions: [{ ...decision, decision: "reject" }] });
  expect(answer).toMatchObject({ type: "ack" });
  await talk.ended(run);
  await agree(talk);
  await agree(other);
});

test.concurrent("a frame that is too big closes its socket and no other, and runs go on", async () => {
  const { talk, run, call } = await waiting();
  const before = talk.events.length;
  for (const bytes of [LIMITS.frameBytes + 1, 10 * 1024 * 1024]) {
    for (const frame of [`"${"x".repeat(bytes - 2)}"`, new ArrayBuffer(bytes)]) {
      const watcher = await talk.newWatcher().connect();
      watcher.send(frame);
      await watcher.until("its end", () => watcher.closed);
      expect(watcher.closed).toMatchObject({ code: 1009 });
    }
  }
  const whole = await talk.newWatcher().connect();
  whole.send(`"${"x".repeat(LIMITS.frameBytes - 2)}"`);
  await whole.until("a problem", () => whole.frames.find(({ type }) => type === "problem"));
  expect([whole.closed, talk.watcher.closed]).toEqual([null, null]);
  await untouched(talk, before);
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
});

test("what is another's, and what is not there, answer the same, and leave nothing behind", async () => {
  const { talk, run, call } = await waiting();
  const before = talk.events.length;
  const stranger = await signIn();
  const nowhere = conversationIdOf(crypto.getRandomValues(new Uint8Array(16)));
  const decisions = [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" }];
  const asked: [method: string, path: string, body?: unknown][] = [
    ["GET", "/v1/conversations/C"],
    ["PATCH", "/v1/conversations/C", { title: "mine" }],
    ["PUT", "/v1/conversations/C/participants/me", { role: "owner" }],
    ["DELETE", "/v1/conversations/C/participants/me"],
    ["GET", "/v1/conversations/C/messages"],
    ["GET", "/v1/conversations/C/runs"],
    ["GET", "/v1/conversations/C/events"],
    ["POST", "/v1/conversations/C/runs", { input: { text: "hi" } }],
    ["GET", "/v1/runs/C.r1"],
    ["GET", "/v1/runs/C.r1/events"],
    ["POST", "/v1/runs/C.r1/resume", { decisions }],
    ["POST", "/v1/runs/C.r1/cancel", {}],
    ["POST", "/v1/runs/C.r1/retry", {}],
    ["DELETE", "/v1/runs/C.r1"],
    ["PATCH", "/v1/runs/C.r1", { input: { text: "hi" } }],
  ];
  const answers = async (id: string) => {
    const all: unknown[] = [];
    for (const [method, path, body] of asked) {
      const text = body === undefined ? undefined : JSON.stringify(body).replaceAll(talk.id, id);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const { status, body: problem } = await stranger.ask(method, path.replace("C", id), { body: text, headers });
      all.push([method, path, status, { ...problem, requestId: "" }]);
    }
    const socket = await upgrade(stranger, id, null);
    all.push([socket.status, { ...(await socket.json<object>()), requestId: "" }]);
    return all;
  };
  const theirs = await answers(talk.id);
  expect(theirs).toEqual(await answers(nowhere));
  expect(theirs.flat().filter((one) => typeof one === "number")).toEqual([...asked, "socket"].map(() => 404));
  await untouched(talk, before);
  expect((await talk.person.client.run(run.id)).pending).toEqual([call]);
  const left = await runInDurableObject(await stubFor(env, { id: TENANT }, nowhere), async (_object, { storage }) => ({
    tables: storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
    alarm: await storage.getAlarm(),
  }));
  expect(left).toEqual({ tables: [], alarm: null });
  const { results } = await env.HISTORY.prepare("SELECT * FROM conversations WHERE conversation_id = ?")
    .bind(nowhere)
    .all();
  expect(results).toEqual([]);
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
  expect(loggedErrors()).toEqual([]);
});

test("an unknown path, a wrong id or a wrong sign-in wakes no object", async () => {
  const person = await signIn();
  const before = await listDurableObjectIds(env.CONVERSATIONS);
  const id = conversationIdOf(crypto.getRandomValues(new Uint8Array(16)));
  for (const path of ["/nowhere", "/v1/conversations/1", `/v1/runs/${id}.r0`, `/v1/conversations/${id}/nothing`]) {
    expect((await person.call("GET", path)).status).toBe(404);
  }
  for (const authorization of ["", "Bearer x", `Basic ${person.token}`, `Bearer ${person.token.slice(0, -2)}`]) {
    for (const path of [`/v1/conversations/${id}`, `/v1/conversations/${id}/stream`, `/v1/runs/${id}.r1`]) {
      const headers = { authorization, upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1" };
      expect((await person.call("GET", path, { headers })).status).toBe(401);
    }
  }
  expect(await listDurableObjectIds(env.CONVERSATIONS)).toEqual(before);
});
