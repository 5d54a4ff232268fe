/** Cases S57, S58, S59: every wait has an end, at its time, whatever the alarm does. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import type { LimitName, Run } from "../../src/protocol/run.ts";
import type { Answer } from "../support/answer-script.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf } from "./harness/calls.ts";
import { breakHistory, breakLog, untilPast } from "./harness/clockwork.ts";
import { newKey, starting } from "./harness/keyed.ts";
import {
  alarmAt,
  crash,
  crashAndComeBack,
  eventCount,
  fireAlarm,
  loseAlarm,
  orderedErrors,
  untilAsked,
} from "./harness/life.ts";
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

describe("a confirmation that nobody decides", () => {
  const asking = async (confirmationTtlMs: number) => {
    const talk = await Talk.open({ answers: [PROPOSE], confirmationTtlMs });
    const { run, calls } = await talk.ask();
    return { talk, run, call: calls[0], expiresAt: Date.parse(calls[0]?.expiresAt ?? "") };
  };
  type Asking = Awaited<ReturnType<typeof asking>>;

  /** It expired once, in time, and its run was cancelled for that; nothing was sent. */
  async function expired({ talk, run, expiresAt }: Asking, slackMs = SLACK_MS): Promise<void> {
    expect(await talk.ended(run)).toMatchObject({
      type: "run.cancelled",
      data: { stop: { code: "confirmation_expired" }, sideEffects: [] },
    });
    const events = talk.of("confirmation.expired", run);
    expect(events).toHaveLength(1);
    const late = Date.parse(events[0]?.at ?? "") - expiresAt;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(slackMs);
    await agree(talk);
    expect(await calledOf(talk)).toEqual([]);
  }

  test.concurrent("expires at its time, with nobody there", async () => {
    const it = await asking(700);
    await it.talk.evict();
    await expired(it);
  });

  const yesAfterLostAlarm = async () => {
    const it = await asking(500);
    await loseAlarm(it.talk);
    await crash(it.talk);
    await untilPast(it.expiresAt);
    const decisions = [{ toolCallId: it.call?.id, argsDigest: it.call?.argsDigest, decision: "approve" }];
    return { it, decisions };
  };

  test.concurrent("has expired for the yes that comes after a lost alarm", async () => {
    const { it, decisions } = await yesAfterLostAlarm();
    const answer = await it.talk.answer(it.run, { decisions });
    expect(answer).toMatchObject({ status: 409, body: { code: "confirmation_expired" } });
    await it.talk.watcher.connect();
    await expired(it, 10_000);
  });

  test.concurrent("has expired for the yes that comes over a socket after a lost alarm", async () => {
    const { it, decisions } = await yesAfterLostAlarm();
    await it.talk.watcher.connect();
    const frame = await it.talk.watcher.command({ type: "resume", runId: it.run.id, decisions });
    expect(frame).toMatchObject({ type: "problem", problem: { code: "confirmation_expired" } });
    await expired(it, 10_000);
  });

  test.concurrent("expires after a lost alarm as soon as anybody looks, although looking decides nothing", async () => {
    const it = await asking(500);
    await loseAlarm(it.talk);
    await crash(it.talk);
    await untilPast(it.expiresAt);
    await it.talk.watcher.connect();
    await expired(it, 10_000);
  });

  test.concurrent("is not expired by an alarm that comes early; that alarm stands again", async () => {
    const it = await asking(1_500);
    const events = await eventCount(it.talk);
    for (let n = 0; n < 3; n++) await fireAlarm(it.talk);
    expect(await eventCount(it.talk)).toBe(events);
    await vi.waitFor(async () => expect(await alarmAt(it.talk)).toBe(it.expiresAt), 5_000);
    await expired(it);
  });

  test.concurrent("is expired once by an alarm that comes three times", async () => {
    const it = await asking(600);
    await loseAlarm(it.talk);
    await untilPast(it.expiresAt);
    const { talk } = it;
    const stub = await talk.stub();
    await Promise.all(Array.from({ length: 3 }, () => runAlarm(stub)));
    await expired(it, 10_000);
  });

  test.concurrent("expires at its time while the history is down, and the history hears of it later", async () => {
    const it = await asking(1_000);
    const mend = await breakHistory(it.talk);
    // Something that the history should know: its try fails, and another is planned.
    await it.talk.person.ask("PATCH", `/v1/conversations/${it.talk.id}`, { body: { title: "In the dark" } });
    await it.talk.ended(it.run);
    await mend();
    await expired(it);
  });

  test.concurrent("the other way round: asked while the history is already down", async () => {
    const talk = await Talk.open({ answers: [PROPOSE], confirmationTtlMs: 1_000 });
    const mend = await breakHistory(talk);
    await talk.person.ask("PATCH", `/v1/conversations/${talk.id}`, { body: { title: "In the dark" } });
    const { run, calls } = await talk.ask();
    await talk.evict();
    await talk.ended(run);
    await mend();
    await expired({ talk, run, call: calls[0], expiresAt: Date.parse(calls[0]?.expiresAt ?? "") });
  });

  test("that could not be written expires with a later alarm; the other duties are done, and nothing spins", async () => {
    const it = await asking(600);
    const { talk } = it;
    const path = `/v1/conversations/${talk.id}`;
    const unheard = await breakHistory(talk);
    expect((await talk.person.ask("PATCH", path, { body: { title: "Renamed" } })).status).toBe(200);
    const mend = await breakLog(talk);
    await unheard();
    const failed = () => orderedErrors().filter((line) => line.includes("alarm_duty_failed")).length;
    const before = failed();
    await untilPast(it.expiresAt + 1_500);
    expect((await talk.person.ask("PATCH", path, { body: { title: "Again" } })).status).toBe(500);
    // The history heard of the first name, from the alarm whose other duty had failed.
    const row = await env.HISTORY.prepare("SELECT title FROM conversations WHERE conversation_id = ?")
      .bind(talk.id)
      .first();
    expect(row).toEqual({ title: "Renamed" });
    expect(failed() - before).toBeGreaterThan(0);
    expect(failed() - before).toBeLessThan(10);
    await mend();
    await expired(it, 10_000);
  });
});

const runAlarm = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (object) => void (object as unknown as { alarm: () => void }).alarm());

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
