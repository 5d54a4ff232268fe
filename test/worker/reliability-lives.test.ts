/** Cases S54, S55, S56, S60: an object that dies, again and again, or is only put to sleep; the conversation goes on. */
import { describe, expect, test, vi } from "vitest";
import type { Run } from "../../src/protocol/run.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf } from "./harness/calls.ts";
import { provider } from "./harness/fakes.ts";
import { crash, crashAndComeBack, untilAsked, withStorage } from "./harness/life.ts";
import { signIn } from "./harness/people.ts";
import { askedOf, calledOf, untilCalled } from "./harness/sockets-to.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const SLOW_TEXT = { fixture: "common_slow_text" };
const range = (length: number) => Array.from({ length }, (_, i) => i);
const lookup = (order_id: string) => ({ toolCalls: [{ name: "lookup_order", arguments: { order_id } }] });
const aWord = (talk: Talk, from = 0) =>
  talk.watcher.until("a word", () => talk.watcher.frames.slice(from).some(({ type }) => type === "delta"));

describe("a process that dies while the model answers", () => {
  test.concurrent("asks it anew, and nothing of the first attempt is left", async () => {
    const talk = await Talk.open({ answers: [SLOW_TEXT, { text: "Whole, at last." }] });
    const run = await talk.start();
    await aWord(talk);
    await crashAndComeBack(talk);
    expect((await talk.ended(run)).type).toBe("run.completed");
    expect(talk.of("step.superseded", run)).toMatchObject([{ data: { n: 1, attempt: 1, reason: "interrupted" } }]);
    expect(talk.of("message.completed", run).map(({ data }) => data.message.parts)).toEqual([
      [{ type: "text", text: "Whole, at last." }],
    ]);
    await agree(talk);
    expect(await talk.requests()).toHaveLength(3);
  });

  test.concurrent("gives up after two of them: the run has failed, says so, and can be tried again", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }, { hang: true }, SLOW_TEXT] });
    const run = await talk.start();
    for (const n of [1, 2]) {
      await untilAsked(talk, n);
      await crashAndComeBack(talk);
    }
    await aWord(talk);
    await vi.waitFor(async () => expect(await savedChars(talk)).toBeGreaterThan(0), 5_000);
    await crashAndComeBack(talk);
    expect(await talk.ended(run)).toMatchObject({
      type: "run.failed",
      data: { stop: { code: "model_interrupted", retryable: true } },
    });
    // What had been shown is kept as far as it was saved, and marked.
    expect(talk.of("message.completed", run)).toMatchObject([{ data: { message: { status: "incomplete" } } }]);
    const again = await talk.person.client.retry(run.id);
    expect((await talk.ended(again)).type).toBe("run.completed");
    await agree(talk);
    expect(await talk.requests()).toHaveLength(5);
  });

  const savedChars = (talk: Talk) =>
    withStorage(talk, ({ sql }) =>
      sql
        .exec("SELECT text FROM checkpoint")
        .toArray()
        .reduce((sum, { text }) => sum + String(text).length, 0),
    );

  test.concurrent("a step that was committed is never asked for again", async () => {
    const ms = 60_000;
    const answers = [lookup("A-1"), { toolCalls: [{ name: "slow_lookup", arguments: { ms } }] }, COMMON_TEXT];
    const talk = await Talk.open({ answers });
    const run = await talk.start();
    await untilCalled(talk, 2);
    await crashAndComeBack(talk);
    await untilCalled(talk, 3);
    expect(await talk.requests()).toHaveLength(2);
    expect(talk.of("step.started", run)).toHaveLength(2);
    await talk.person.client.cancel(run.id);
    await talk.ended(run);
    await agree(talk);
  });
});

describe("without a request of anybody", () => {
  test.concurrent("a dead object's alarm finishes its run, and starts the next one", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }, COMMON_TEXT, { text: "And the second." }] });
    const first = await talk.start("one");
    const second = await talk.start("two");
    await untilAsked(talk, 1);
    await crash(talk);
    // Nobody speaks to it; what is looked at is the provider.
    await vi.waitFor(async () => expect((await provider.stats(talk.scope)).total).toBe(3), 10_000);
    await talk.watcher.connect();
    for (const run of [first, second]) expect((await talk.ended(run)).type).toBe("run.completed");
    await agree(talk);
  });
});

describe("a process that dies every moment", () => {
  test.concurrent("gets there: reads are made at least once, the write once, and no committed step twice", async () => {
    const orders = range(5).map((n) => `A-${n}-${crypto.randomUUID()}`);
    const note = { toolCalls: [{ name: "book_note", arguments: { text: "noted" } }] };
    const talk = await Talk.open({ answers: [...orders.map(lookup), note], limits: { maxToolErrors: 100 } });
    const run = await talk.start();
    for (const n of range(8)) {
      const from = talk.events.length;
      await talk.watcher.until(`progress ${n}`, () => talk.events.length >= from + 3 || isOver(talk, run));
      await crashAndComeBack(talk);
    }
    // It may have ended for having been interrupted too often in one step; otherwise it goes on to its end.
    await talk.watcher.until("an end, or a question", () => isOver(talk, run));
    const bookings = await talk.bookings();
    expect(bookings.length).toBeLessThanOrEqual(1);
    const now = await talk.person.client.run(run.id);
    const unknown = now.pending.map(({ id }) => ({ toolCallId: id, outcome: "give_up" }));
    if (unknown.length > 0) await talk.answer(run, { resolutions: unknown });
    await talk.ended(run);
    const finished = talk.of("tool_call.finished", run).map(({ data }) => data.toolCallId);
    expect(new Set(finished).size).toBe(finished.length);
    const steps = talk.of("step.finished", run).map(({ data }) => data.n);
    expect(new Set(steps).size).toBe(steps.length);
    // A death may also keep a request from leaving.
    expect((await talk.requests()).length).toBeLessThanOrEqual(talk.of("step.started", run).length);
    await agree(talk);
  });

  const isOver = (talk: Talk, run: Run) =>
    talk.events.some(
      ({ type, runId }) =>
        runId === run.id && (type === "run.completed" || type === "run.failed" || type === "tool_call.became_unknown"),
    );

  test.concurrent("and its conversation still answers: a start that came in between is kept", async () => {
    const talk = await Talk.open({ otherwise: SLOW_TEXT });
    const first = await talk.start("one");
    await aWord(talk);
    await crash(talk);
    const second = await talk.start("two");
    await crash(talk);
    await talk.watcher.connect();
    await talk.ended(first);
    expect((await talk.ended(second)).type).toBe("run.completed");
    await agree(talk);
  });
});

describe("history after what broke off", () => {
  test.concurrent("a read that a death cut off has its answer in the next request, and text its place", async () => {
    const answers = [lookup("A-1"), { toolCalls: [{ name: "slow_lookup", arguments: { ms: 300 } }] }, COMMON_TEXT];
    const talk = await Talk.open({ answers });
    const run = await talk.start();
    await untilCalled(talk, 2);
    await crashAndComeBack(talk);
    expect((await talk.ended(run)).type).toBe("run.completed");
    expect(resultsOf(talk, run)).toMatchObject([{ success: true }, { success: true }]);
    expect((await calledOf(talk)).length).toBe(3);
    await agree(talk);
  });
});

describe("an object that was put to sleep", () => {
  test.concurrent("knows its sockets again: both hear all in order, and a yes on the old one is that person's", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }, COMMON_TEXT] });
    const second = await talk.newWatcher().connect();
    await talk.evict();
    const run = await talk.start();
    await talk.asked(run);
    await talk.evict();
    const call = (await talk.person.client.run(run.id)).pending[0];
    const decisions = [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" }];
    await talk.evict();
    expect(await second.command({ type: "resume", runId: run.id, decisions })).toMatchObject({ type: "ack" });
    await talk.ended(run);
    await second.until("the same", () => second.view.cursor === talk.watcher.view.cursor);
    expect(second.view.events).toEqual(talk.events);
    expect([talk.watcher.connections, second.connections]).toEqual([1, 1]);
    expect(talk.of("confirmation.decided", run)).toMatchObject([{ data: { by: { id: talk.person.userId } } }]);
    expect(await talk.bookings()).toHaveLength(1);
    await agree(talk);
  });

  test.concurrent("mixes nobody up: after its sleep a viewer's socket is a viewer's", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
    const viewer = await signIn();
    const place = `/v1/conversations/${talk.id}/participants/${viewer.userId}`;
    await talk.person.ask("PUT", place, { body: { role: "viewer" } });
    const theirs = await talk.newWatcher(viewer).connect();
    const { run, calls } = await talk.ask();
    await talk.evict();
    const decisions = [{ toolCallId: calls[0]?.id, argsDigest: calls[0]?.argsDigest, decision: "approve" }];
    expect(await theirs.command({ type: "resume", runId: run.id, decisions })).toMatchObject({
      type: "problem",
      problem: { status: 403 },
    });
    await talk.decide(run, calls[0], "reject");
    await talk.ended(run);
    expect(await askedOf(talk)).toHaveLength(2);
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });

  test.concurrent("while the model answers is not put to sleep: its answer arrives", async () => {
    const talk = await Talk.open({ answers: [SLOW_TEXT] });
    const run = await talk.start();
    await aWord(talk);
    await talk.evict();
    expect((await talk.ended(run)).type).toBe("run.completed");
    await agree(talk);
  });
});
