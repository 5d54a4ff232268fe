/** Cases S38, S48, S51, S53, S54: stop means stop, in every phase, through to the sockets of provider and backend. */
import { describe, expect, test } from "vitest";
import type { Run } from "../../src/protocol/run.ts";
import { agree } from "./harness/agreement.ts";
import { toldCalls } from "./harness/calls.ts";
import { backend } from "./harness/fakes.ts";
import { crash, untilAsked } from "./harness/life.ts";
import { signInOf } from "./harness/ledgers.ts";
import { askedOf, calledOf, expectHungUp, untilCalled } from "./harness/sockets-to.ts";
import { signInTo } from "./harness/strangers.ts";
import { Talk } from "./harness/talk.ts";

/** Six words, and then nothing more: it is only ever ended by a cancel, however long that takes. */
const UNFINISHED = (() => {
  const words = ["One", " two", " three", " four", " five", " six"].map((content) => {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
  });
  const splitAt = words.slice(0, -1).map((_, at) => words.slice(0, at + 1).join("").length);
  const end = { mode: "hold", ms: 6_000_000 } as const;
  return { raw: words.join(""), splitAt, delaysMs: words.map(() => 500), end };
})();
const calls = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
const newRecipient = () => `r-${crypto.randomUUID()}`;
const transferTo = (recipient_id: string, tool = "transfer") => calls(tool, { recipient_id, amount_cents: 500 });

/** Cancels, and sees the run end: `cancelled`, by the person's word, with this much done to the world. */
async function cancelled(talk: Talk, run: Run, sideEffects: readonly object[] = []): Promise<number> {
  const since = Date.now();
  const answer = await talk.person.client.cancel(run.id, "enough");
  expect(answer.cancelRequestedAt ?? answer.finishedAt).toBeDefined();
  const end = await talk.ended(run);
  expect(end).toMatchObject({ type: "run.cancelled", data: { stop: { code: "cancelled_by_user", detail: "enough" } } });
  expect(end.data.sideEffects).toMatchObject(sideEffects);
  expect(end.data.sideEffects).toHaveLength(sideEffects.length);
  const after = await talk.person.client.run(run.id);
  expect(after).toMatchObject({ status: "cancelled", needsConfirmation: false, waitsFor: [] });
  // What is still to be said is only what became of the calls that nobody knows of.
  const unknown = after.sideEffects.filter(({ state }) => state === "unknown").map(({ toolCallId }) => toolCallId);
  expect(after.pending.map(({ id }) => id)).toEqual(unknown);
  // Again, it is accepted and changes nothing.
  expect(await talk.person.client.cancel(run.id)).toEqual(after);
  expect(talk.of("run.cancel_requested", run).length).toBeLessThanOrEqual(1);
  return since;
}

describe("while the model is asked", () => {
  test.concurrent.for([
    ["nothing has come yet", { hang: true }],
    ["only the head has come", { hang: "headers" }],
  ] as const)("and %s", async ([, answer]) => {
    const talk = await Talk.open({ answers: [answer] });
    const run = await talk.start();
    await untilAsked(talk, 1);
    const since = await cancelled(talk, run);
    await expectHungUp(() => askedOf(talk), since);
    expect(talk.of("message.completed", run)).toEqual([]);
    await agree(talk);
    expect(await talk.requests()).toHaveLength(2);
  });

  test.concurrent("and its text is being shown: what was shown is kept, marked incomplete, and paid for", async () => {
    const talk = await Talk.open({ answers: [UNFINISHED] });
    const run = await talk.start();
    const shown = () => talk.watcher.frames.flatMap((frame) => (frame.type === "delta" ? [frame.text] : []));
    await talk.watcher.until("some words", () => shown().length >= 5);
    const since = await cancelled(talk, run);
    await expectHungUp(() => askedOf(talk), since);
    const text = shown().join("");
    const [message] = talk.of("message.completed", run);
    expect(message?.data.message).toMatchObject({
      role: "assistant",
      status: "incomplete",
      parts: [{ type: "text", text }],
    });
    const { usage } = await talk.person.client.run(run.id);
    expect(usage).toMatchObject({ estimated: true });
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    await agree(talk);
    // The next request tells the model what it had said.
    const told = (await talk.requests())[1]?.messages.map(({ content }) => content) ?? [];
    expect(told.some((content) => content?.includes(text.trim()))).toBe(true);
    expect(await talk.requests()).toHaveLength(2);
  });

  test.concurrent("anew, by the next life: nobody is asked a third time", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }, { hang: true }] });
    const run = await talk.start();
    await untilAsked(talk, 1);
    await crash(talk);
    await talk.watcher.connect();
    await untilAsked(talk, 2);
    const since = await cancelled(talk, run);
    await expectHungUp(() => askedOf(talk), since);
    expect(talk.of("step.superseded", run)).toHaveLength(1);
    await agree(talk);
    expect(await talk.requests()).toHaveLength(3);
  });

  test.concurrent("over a socket that came back meanwhile", async () => {
    const talk = await Talk.open({ answers: [UNFINISHED] });
    const run = await talk.start();
    await talk.watcher.until("a word", () => talk.watcher.frames.some(({ type }) => type === "delta"));
    talk.watcher.cut();
    await talk.watcher.connect();
    const since = Date.now();
    expect(await talk.watcher.command({ type: "cancel_run", runId: run.id })).toMatchObject({ type: "ack" });
    expect((await talk.ended(run)).type).toBe("run.cancelled");
    await expectHungUp(() => askedOf(talk), since);
    await agree(talk);
  });

  test.concurrent("again, after a confirmed act: the act is listed", async () => {
    const recipient = newRecipient();
    const talk = await Talk.open({ answers: [transferTo(recipient), UNFINISHED] });
    const { run, calls: asked } = await talk.ask();
    await talk.decide(run, asked[0], "approve");
    await talk.watcher.until("a word", () => talk.watcher.frames.some(({ type }) => type === "delta"));
    const since = await cancelled(talk, run, [{ toolCallId: asked[0]?.id, tool: "transfer", state: "succeeded" }]);
    await expectHungUp(() => askedOf(talk), since);
    await agree(talk);
    expect(await talk.bookings()).toHaveLength(1);
    expect(await talk.requests()).toHaveLength(3);
  });
});

describe("while a tool is called", () => {
  test.concurrent("that reads: it is cancelled, and the backend's socket closed", async () => {
    const talk = await Talk.open({ answers: [calls("slow_lookup", { ms: 60_000 })] });
    const run = await talk.start();
    await untilCalled(talk, 1);
    const since = await cancelled(talk, run);
    await expectHungUp(() => calledOf(talk), since);
    expect(talk.of("tool_call.finished", run)).toMatchObject([
      { data: { state: "cancelled", payload: { success: false, error: { code: "cancelled" } } } },
    ]);
    await agree(talk);
    expect(toldCalls((await talk.requests())[1])).toMatchObject([{ result: { error: { code: "cancelled" } } }]);
    expect(await calledOf(talk)).toHaveLength(1);
  });

  test.concurrent("that acts once: its outcome is unknown and says so; what a person says of it is recorded", async () => {
    const recipient = newRecipient();
    await backend.fault({
      route: "/transfer",
      mode: "delay",
      commitAt: 0,
      answerAt: 60_000,
      match: { recipient_id: recipient },
    });
    const talk = await Talk.open({ answers: [transferTo(recipient)] });
    const { run, calls: asked } = await talk.ask();
    const [call] = asked;
    await talk.decide(run, call, "approve");
    await untilCalled(talk, 1);
    const since = await cancelled(talk, run, [{ toolCallId: call?.id, tool: "transfer", state: "unknown" }]);
    await expectHungUp(() => calledOf(talk), since);
    expect(talk.of("tool_call.became_unknown", run)).toMatchObject([{ data: { reason: "cancelled" } }]);
    expect(await talk.person.ask("POST", `/v1/runs/${run.id}/retry`, { body: {} })).toMatchObject({
      status: 409,
      body: { code: "outcome_unknown" },
    });
    const resolutions = [{ toolCallId: call?.id, outcome: "did_not_happen", argsDigest: call?.argsDigest }];
    expect((await talk.answer(run, { resolutions })).status).toBe(202);
    expect(await talk.answer(run, { resolutions })).toMatchObject({ body: { code: "already_decided" } });
    await talk.watcher.until("the resolution", () => talk.watcher.event("tool_call.resolved", run.id));
    await agree(talk);
    // Recorded, and nothing more: the run has ended.
    expect(await talk.bookings()).toHaveLength(1);
    expect(await calledOf(talk)).toHaveLength(1);
  });

  test.concurrent("of several: the one that waits for its turn is never sent", async () => {
    const recipient = newRecipient();
    await backend.fault({
      route: "/transfer",
      mode: "delay",
      answerAt: 60_000,
      match: { recipient_id: recipient },
    });
    const two = [1, 2].map(() => ({ name: "transfer", arguments: { recipient_id: recipient, amount_cents: 500 } }));
    const talk = await Talk.open({ answers: [{ toolCalls: two }] });
    const { run, calls: asked } = await talk.ask();
    for (const call of asked) await talk.decide(run, call, "approve");
    await untilCalled(talk, 1);
    await cancelled(talk, run, [{ toolCallId: asked[0]?.id, state: "unknown" }]);
    expect(talk.of("tool_call.started", run)).toHaveLength(1);
    expect(talk.of("tool_call.finished", run)).toMatchObject([
      { data: { toolCallId: asked[1]?.id, state: "cancelled" } },
    ]);
    await agree(talk);
    expect(await talk.bookings()).toHaveLength(1);
  });

  test.concurrent("while it is being repeated after a crash: nothing is sent a further time", async () => {
    const recipient = newRecipient();
    const slow = { route: "/transfer", mode: "delay", answerAt: 60_000, match: { recipient_id: recipient } } as const;
    await backend.fault(slow);
    const talk = await Talk.open({ answers: [transferTo(recipient, "transfer_idempotent")] });
    const { run, calls: asked } = await talk.ask();
    await talk.decide(run, asked[0], "approve");
    await untilCalled(talk, 1);
    await crash(talk);
    await talk.watcher.connect();
    await untilCalled(talk, 2);
    const since = await cancelled(talk, run, [{ toolCallId: asked[0]?.id, state: "unknown" }]);
    await expectHungUp(() => calledOf(talk), since);
    await agree(talk);
    const sent = await calledOf(talk);
    expect(sent).toHaveLength(2);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });
});

describe("while a person is waited for", () => {
  test.concurrent("to confirm: at once, and no yes executes anything any more", async () => {
    const recipient = newRecipient();
    const talk = await Talk.open({ answers: [transferTo(recipient)] });
    const { run, calls: asked } = await talk.ask();
    expect(await talk.person.client.cancel(run.id)).toMatchObject({ status: "cancelled" });
    const late = () => talk.decide(run, asked[0], "approve");
    await expect(late()).rejects.toMatchObject({ problem: { status: 409, code: "run_finished" } });
    await crash(talk);
    await expect(late()).rejects.toMatchObject({ problem: { status: 409, code: "run_finished" } });
    await talk.watcher.connect();
    expect(await talk.person.client.conversation(talk.id)).toMatchObject({ pending: [], needsConfirmation: false });
    await agree(talk);
    expect(await calledOf(talk)).toEqual([]);
  });

  test.concurrent("to say what became of a call: it stays unknown, and can still be resolved", async () => {
    const recipient = newRecipient();
    await backend.fault({ route: "/transfer", mode: "commit_then_drop", match: { recipient_id: recipient } });
    const talk = await Talk.open({ answers: [transferTo(recipient)] });
    const { run, calls: asked } = await talk.ask();
    await talk.decide(run, asked[0], "approve");
    await talk.watcher.until("the doubt", () => talk.watcher.event("tool_call.became_unknown", run.id));
    expect(await talk.person.client.run(run.id)).toMatchObject({ phase: "awaiting_resolution" });
    await cancelled(talk, run, [{ toolCallId: asked[0]?.id, state: "unknown" }]);
    const resolutions = [{ toolCallId: asked[0]?.id, outcome: "give_up" }];
    expect(await talk.watcher.command({ type: "resume", runId: run.id, resolutions })).toMatchObject({ type: "ack" });
    await agree(talk);
    expect(await talk.bookings()).toHaveLength(1);
  });
});

test.concurrent("while its budget is waited for: at once, also in a tenant that is paused", async () => {
  const person = await signInOf("paused and cancelled");
  const talk = await Talk.open({ person, answers: [transferTo(newRecipient())] });
  const root = await signInTo("operations", "root", ["platform:admin"]);
  const order = (what: "pause" | "resume") =>
    root.ask("POST", `/v1/admin/tenants/${encodeURIComponent(person.tenantId)}/${what}`, {
      headers: { "x-audit-reason": "a test" },
    });
  const { run, calls: asked } = await talk.ask();
  await order("pause");
  await talk.watcher.until("the pause", () => talk.watcher.event("tenant.paused", run.id));
  // A no is taken, and nobody is asked what to do about it.
  await talk.decide(run, asked[0], "reject");
  await talk.watcher.until("the no", () => talk.watcher.event("confirmation.decided", run.id));
  expect(await person.client.run(run.id)).toMatchObject({ phase: "awaiting_budget" });
  await cancelled(talk, run);
  await order("resume");
  await agree(talk);
  expect(await talk.requests()).toHaveLength(2);
});
