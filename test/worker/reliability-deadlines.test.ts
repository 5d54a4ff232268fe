/** Cases S57 and S59: every wait for a model, a tool or a run has an end, at its time. */
import { describe, expect, test, vi } from "vitest";
import type { LimitName, Run } from "../../src/protocol/run.ts";
import type { Answer } from "../support/answer-script.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf } from "./harness/calls.ts";
import { breakHistory, untilPast } from "./harness/clockwork.ts";
import { newKey, starting } from "./harness/keyed.ts";
import { crash, crashAndComeBack, loseAlarm, untilAsked } from "./harness/life.ts";
import { askedOf, calledOf, untilCalled } from "./harness/sockets-to.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const PROPOSE = { fixture: "common_propose_transfer" };
const SLOW_LOOKUP = { toolCalls: [{ name: "slow_lookup", arguments: { ms: 60_000 } }] };
const SLACK_MS = 1_000;

/** The provider's pauses are a tenth of what a script says. */
const pause = (ms: number) => ms * 10;
const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** A word, and then only comments: alive, and going nowhere. */
function keepAlives(count: number, everyMs: number) {
  const writes = [chunk("So far. "), ...Array.from({ length: count }, () => ": keep-alive\n\n")];
  const splitAt: number[] = [];
  for (const write of writes.slice(0, -1)) splitAt.push((splitAt.at(-1) ?? 0) + write.length);
  return { raw: writes.join(""), splitAt, delaysMs: writes.map((_, i) => (i === 0 ? 0 : pause(everyMs))) };
}
const steady = (words: number, everyMs: number) => ({
  text: Array.from({ length: words }, (_, n) => `w${n}`).join(" "),
  delayMs: pause(everyMs),
});

/** Limits of this run alone, so that the next one has time enough, on however busy a machine. */
async function startWithin(talk: Talk, limits: Partial<Record<LimitName, number>>, text = "go on"): Promise<Run> {
  return JSON.parse((await starting(talk, newKey(), text, { limits })).text) as Run;
}

async function playWithin(answer: Answer, limits: Partial<Record<LimitName, number>>) {
  const talk = await Talk.open({ answers: [answer] });
  const started = await startWithin(talk, limits);
  await talk.ended(started);
  return { talk, run: await talk.person.client.run(started.id) };
}

/** What was asked and shown is paid for, however it ended. */
function expectPaid({ usage }: Run, shown = true): void {
  expect(usage).toMatchObject({ estimated: true });
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.outputTokens > 0).toBe(shown);
}

const hungUp = (talk: Talk) =>
  vi.waitFor(async () => expect((await askedOf(talk))[0]).toMatchObject({ endedBy: "client" }), 5_000);

describe("a model that keeps the run waiting", () => {
  test.concurrent.for([
    ["for its head", { hang: true }],
    ["for its first byte", { hang: "headers" }],
  ] as const)("%s is given up at its time", async ([, answer]) => {
    const { talk, run } = await playWithin(answer, { maxFirstByteMs: 300 });
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_timeout", retryable: true } });
    expect(Date.parse(run.finishedAt ?? "") - Date.parse(run.startedAt ?? "")).toBeGreaterThanOrEqual(300);
    expectPaid(run, false);
    await hungUp(talk);
    await agree(talk);
    expect(await talk.requests()).toHaveLength(2);
  });

  test.concurrent("in the middle, with signs of life but no progress, is given up; what it said is kept", async () => {
    const { talk, run } = await playWithin(keepAlives(100, 50), { maxIdleMs: 400 });
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_timeout" } });
    expect(talk.of("message.completed", run)).toMatchObject([
      { data: { message: { status: "incomplete", parts: [{ text: "So far. " }] } } },
    ]);
    expectPaid(run);
    await hungUp(talk);
    await agree(talk);
  });

  test.concurrent("but goes on, word by word, is not: silence is what counts", async () => {
    const { talk, run } = await playWithin(steady(30, 60), { maxIdleMs: 700 });
    expect(run.status).toBe("completed");
    await agree(talk);
  });

  test.concurrent("and never comes to an end is given up at the total", async () => {
    const { talk, run } = await playWithin(steady(200, 30), { maxModelMs: 1_500 });
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_timeout" } });
    expect(talk.of("message.completed", run)).toMatchObject([{ data: { message: { status: "incomplete" } } }]);
    expectPaid(run);
    await hungUp(talk);
    await agree(talk);
  });
});

describe("a tool that keeps the run waiting", () => {
  test.concurrent("is given up at its time; a read three times, then the model hears of it", async () => {
    const { talk, run } = await playWithin(SLOW_LOOKUP, { maxToolMs: 300 });
    expect(run.status).toBe("completed");
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { code: "timeout" } }]);
    await vi.waitFor(async () =>
      expect((await calledOf(talk)).map(({ endedBy }) => endedBy)).toEqual(["client", "client", "client"]),
    );
    await agree(talk);
  });
});

describe("the run's clock", () => {
  test.concurrent("ends a run that takes too long, says so in the conversation, and stops what is out", async () => {
    const { talk, run } = await playWithin({ hang: true }, { maxRunMs: 600 });
    expect(run).toMatchObject({ status: "failed", stop: { code: "deadline_exceeded", retryable: true } });
    expect(talk.of("limit.tripped", run)).toMatchObject([{ data: { limit: "maxRunMs", bound: 600 } }]);
    expect(talk.of("message.completed", run)).toMatchObject([
      { data: { message: { parts: [{ type: "notice", code: "deadline_exceeded" }] } } },
    ]);
    expectPaid(run, false);
    await hungUp(talk);
    await agree(talk);
    expect(await talk.requests()).toHaveLength(2);
  });

  test.concurrent("stands still while a person thinks, and goes on from where it stood", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
    const { run, calls } = await talk.asked(await startWithin(talk, { maxRunMs: 3_000 }));
    expect(run.deadlineAt).toBeUndefined();
    await untilPast(Date.parse(run.startedAt ?? "") + 3_200);
    await talk.evict();
    await talk.decide(run, calls[0], "approve");
    const end = await talk.ended(run);
    expect(end.type).toBe("run.completed");
    const [started, resumed] = [talk.of("run.started", run)[0], talk.of("run.resumed", run)[0]];
    const interrupted = talk.of("run.interrupted", run)[0];
    const ran = Date.parse(interrupted?.at ?? "") - Date.parse(started?.at ?? "");
    const left = Date.parse(resumed?.data.deadlineAt ?? "") - Date.parse(resumed?.at ?? "");
    expect(left).toBe(3_000 - ran);
    await agree(talk);
  });

  test.concurrent("what comes after it belongs to nobody: neither to the run nor to the next one", async () => {
    const talk = await Talk.open({ answers: [steady(200, 30), { text: "Only mine." }] });
    const first = await startWithin(talk, { maxRunMs: 700 }, "one");
    const second = await talk.start("two");
    expect(await talk.ended(first)).toMatchObject({
      type: "run.failed",
      data: { stop: { code: "deadline_exceeded" } },
    });
    await talk.ended(second);
    expect(talk.of("message.completed", second).map(({ data }) => data.message.parts)).toEqual([
      [{ type: "text", text: "Only mine." }],
    ]);
    const afterIts = talk.events.filter(
      ({ runId, seq }) => runId === first.id && seq > (talk.of("run.failed", first)[0]?.seq ?? 0),
    );
    expect(afterIts).toEqual([]);
    await agree(talk);
  });

  test.concurrent("is asked before anything else by the first request after a death", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }] });
    const run = await startWithin(talk, { maxRunMs: 800 });
    await untilAsked(talk, 1);
    await loseAlarm(talk);
    await crash(talk);
    await untilPast(Date.parse(run.createdAt) + 900);
    await talk.watcher.connect();
    expect(await talk.ended(run)).toMatchObject({ type: "run.failed", data: { stop: { code: "deadline_exceeded" } } });
    expect(await askedOf(talk)).toHaveLength(1);
    await agree(talk);
  });
});

describe("several deadlines on one alarm", () => {
  test.concurrent("a tool's, a run's and the history's: each at its time", async () => {
    const talk = await Talk.open({ answers: [SLOW_LOOKUP] });
    const mend = await breakHistory(talk);
    const run = await startWithin(talk, { maxRunMs: 1_200 });
    await untilCalled(talk, 1);
    await crashAndComeBack(talk);
    await untilCalled(talk, 2);
    const end = await talk.ended(run);
    expect(end).toMatchObject({ type: "run.failed", data: { stop: { code: "deadline_exceeded" } } });
    const late = Date.parse(end.at) - Date.parse(talk.of("run.started", run)[0]?.data.deadlineAt ?? "");
    expect(late).toBeGreaterThanOrEqual(0);
    // The stop itself settles first: what it aborts may still say what it did.
    expect(late).toBeLessThan(SLACK_MS + 1_000);
    await mend();
    await agree(talk);
  });
});
