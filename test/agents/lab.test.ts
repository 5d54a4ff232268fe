import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { availableAgents } from "../../src/agents/registry.ts";
import { startFakeBackend, type FakeBackend } from "../support/fake-backend.ts";
import { agentHouse, payloadOf } from "./agent-house.ts";

let backend: FakeBackend;
beforeAll(async () => {
  backend = await startFakeBackend();
});
afterAll(() => backend.close());
beforeEach(() => backend.reset());

const house = () => agentHouse({ agent: "lab", variables: { LAB_BACKEND_URL: backend.url } });
const PAY = { recipient_id: "r-1", amount_cents: 500 };

test("the lab exists only where its backend is configured, and never in production", () => {
  const names = (variables: Record<string, string>) => [...availableAgents((name) => variables[name]).keys()];
  expect(names({})).toEqual(["planner", "opspilot"]);
  expect(names({ LAB_BACKEND_URL: "http://x" })).toEqual(["planner", "opspilot", "lab"]);
  expect(names({ LAB_BACKEND_URL: "http://x", ENVIRONMENT: "production" })).toEqual(["planner", "opspilot"]);
});

test("the tools are of the classes, policies and scopes that the protocol names", async () => {
  const { catalogue } = await house();
  const tools = [...(catalogue.agent("lab")?.tools.values() ?? [])];
  expect(tools.map(({ name, effect, scope, confirm }) => [name, effect, scope, confirm])).toEqual([
    ["lookup_order", "read", undefined, undefined],
    ["slow_lookup", "read", undefined, undefined],
    ["ping", "read", undefined, undefined],
    ["always_fail", "read", undefined, undefined],
    ["transfer", "once", "lab:transfer", undefined],
    ["transfer_idempotent", "idempotent", "lab:transfer", undefined],
    ["transfer_probeable", "probeable", "lab:transfer", undefined],
    ["transfer_by_two", "once", "lab:transfer", undefined],
    ["book_note", "once", undefined, "never"],
  ]);
});

test("metadata chooses model, expiry and limits; nonsense chooses nothing", async () => {
  const { catalogue } = await house();
  const agent = catalogue.agent("lab")?.agent;
  expect(agent?.model?.({ model: "m7" })).toBe("m7");
  expect(agent?.confirmationTtlMs?.({ confirmationTtlMs: "1500" })).toBe(1_500);
  expect(["", "-1", "x", "1.5", "1e99"].map((ms) => agent?.confirmationTtlMs?.({ confirmationTtlMs: ms }))).toEqual(
    Array(5).fill(undefined),
  );
  expect(agent?.limitsOf?.({ limits: '{"maxToolErrors":9}' })).toEqual({ maxToolErrors: 9 });
  for (const limits of ["{", "[]", '{"maxSteps":-1}', '{"other":1}']) expect(agent?.limitsOf?.({ limits })).toEqual({});
});

test("an order is looked up as the signed-in user, whoever the arguments name", async () => {
  const user = (await house()).as({ userId: "user-a" });
  const answer = await user.act("lookup_order", { order_id: "A-17", user_id: "user-b", userId: "user-b" });
  expect(payloadOf(answer)).toMatchObject({ success: true, data: { order_id: "A-17", owner: "user-a" } });
  expect(backend.requests("/lookup_order")).toMatchObject([
    { caller: "user-a", body: { order_id: "A-17" }, idempotencyKey: null },
  ]);
});

test("a read that the backend fails may be tried again; always_fail has said its word", async () => {
  const user = (await house()).as();
  backend.fault({ route: "/lookup_order", mode: "500", times: 1 });
  expect(await user.act("lookup_order", { order_id: "A" })).toMatchObject({
    kind: "ambiguous",
    repeatable: true,
    error: { code: "INTERNAL" },
  });
  expect(await user.act("always_fail", { q: "x" })).toMatchObject({
    kind: "failed",
    payload: { error: { code: "ALWAYS_FAILS", http: { status: 500 } } },
  });
});

test("calls that differ only in jitter have one fingerprint", async () => {
  const user = (await house()).as();
  const prints = await Promise.all([{ q: "x" }, { q: "x ", n: 7 }].map((args) => user.prepare("always_fail", args)));
  expect(prints[0]?.fingerprint).toBe(prints[1]?.fingerprint);
});

test("ping answers without arguments", async () => {
  expect(payloadOf(await (await house()).as().act("ping", {}))).toMatchObject({ success: true, data: { pong: true } });
});

test("an abort ends a slow look-up, and its connection", async () => {
  const user = (await house()).as();
  const call = await user.ready("slow_lookup", { ms: 60_000 });
  const abort = new AbortController();
  const pending = user.execute(call, { signal: abort.signal });
  await expect.poll(() => backend.stats().inFlight).toBe(1);
  abort.abort();
  expect(await pending).toMatchObject({ kind: "ambiguous", reason: "cancelled" });
  await expect.poll(() => backend.stats().abortedByClient).toBe(1);
});

test.each(["transfer", "transfer_idempotent", "transfer_probeable"])(
  "%s asks, books once under its key, and says so",
  async (name) => {
    const user = (await house()).as({ userId: "user-a" });
    const call = await user.ready(name, PAY);
    expect(call.gate).not.toBeNull();
    expect(call.preview?.rows).toEqual([
      { label: "Recipient", value: "r-1" },
      { label: "Amount in cents", value: "500" },
    ]);
    expect(payloadOf(await user.execute(call))).toMatchObject({
      success: true,
      displayText: "Transferred 500 cents to r-1.",
      data: { transfer_id: "tr_1", status: "booked", ...PAY },
    });
    expect(backend.ledger()).toMatchObject({
      rawEffects: 1,
      bookings: [{ idempotencyKey: call.idempotencyKey, caller: "user-a", body: PAY }],
    });
  },
);

test("a repeat under the same key is the same transfer", async () => {
  const user = (await house()).as();
  const call = await user.ready("transfer_idempotent", PAY);
  backend.fault({ route: "/transfer", mode: "commit_then_drop", times: 1 });
  expect(await user.execute(call)).toMatchObject({
    kind: "ambiguous",
    repeatable: true,
    error: { layer: "transport", code: "GATEWAY_UNAVAILABLE" },
  });
  expect(await user.execute(call, { attempt: 2 })).toMatchObject({ kind: "ok" });
  expect(backend.ledger()).toMatchObject({ rawEffects: 1, replays: 1 });
});

test("a probe finds what was booked, and only the backend's own word says that nothing was", async () => {
  const user = (await house()).as();
  const call = await user.ready("transfer_probeable", PAY);
  expect(await user.execute(call, { mode: "probe" })).toEqual({ kind: "absent" });
  backend.fault({ route: "GET /transfer", mode: "403", times: 1 });
  expect(await user.execute(call, { mode: "probe" })).toMatchObject({ kind: "ambiguous" });
  backend.fault({ route: "POST /transfer", mode: "commit_then_drop", times: 1 });
  expect(await user.execute(call)).toMatchObject({ kind: "ambiguous" });
  expect(await user.execute(call, { mode: "probe" })).toMatchObject({
    kind: "ok",
    payload: { source: "probe", data: PAY },
  });
  expect(backend.ledger().rawEffects).toBe(1);
});

test.each([
  ["500", "ambiguous", "INTERNAL", 0],
  ["wrong_shape", "ambiguous", "GATEWAY_BAD_RESPONSE", 1],
  ["empty_success", "ambiguous", "GATEWAY_BAD_RESPONSE", 0],
  ["commit_then_drop", "ambiguous", "GATEWAY_UNAVAILABLE", 1],
  ["401", "failed", "GATEWAY_UNAUTHORIZED", 0],
  ["403", "failed", "GATEWAY_FORBIDDEN", 0],
] as const)("on %s a transfer is %s (%s), never a success", async (mode, kind, code, booked) => {
  const user = (await house()).as();
  backend.fault({ route: "/transfer", mode });
  const answer = await user.act("transfer", PAY);
  expect(answer).toMatchObject({ kind, payload: { success: false, error: { code } } });
  expect(backend.ledger().rawEffects).toBe(booked);
});

test("a note is booked without a question", async () => {
  const user = (await house()).as();
  const call = await user.ready("book_note", { text: "hello" });
  expect(call.gate).toBeNull();
  expect(payloadOf(await user.execute(call)).success).toBe(true);
  expect(backend.ledger().bookings).toMatchObject([
    { idempotencyKey: call.idempotencyKey, body: { recipient_id: "notes", amount_cents: 1, note: "hello" } },
  ]);
});

test("a transfer without the scope is refused, and so are amounts that are none", async () => {
  const { as } = await house();
  expect(await as({ scopes: [] }).prepare("transfer", PAY)).toMatchObject({
    payload: { error: { code: "scope_missing" } },
  });
  for (const amount_cents of [0, -1, 1.5, "500", 1e12]) {
    expect(await as().prepare("transfer", { ...PAY, amount_cents })).toMatchObject({
      payload: { error: { code: "invalid_arguments" } },
    });
  }
  expect(backend.stats().total).toBe(0);
});

test("a user id that no header carries still reaches the backend", async () => {
  const user = (await house()).as({ userId: "用户 一" });
  expect(payloadOf(await user.act("lookup_order", { order_id: "A" })).success).toBe(true);
  expect(backend.requests("/lookup_order")[0]?.caller).toBe(encodeURIComponent("用户 一"));
});
