/** Cases S51, S52, S74: what is spent is counted before and booked after, whatever becomes of a run. */
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { ProblemError } from "../../src/client/http.ts";
import type { Run } from "../../src/protocol/run.ts";
import { ledgerName } from "../../src/tenant/ledger-name.ts";
import { agree } from "./harness/agreement.ts";
import { crashAndComeBack, untilAsked } from "./harness/life.ts";
import { levelsOf, signInOf, untilSettled } from "./harness/ledgers.ts";
import { Talk } from "./harness/talk.ts";

const SLOW_TEXT = { fixture: "common_slow_text" };
const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });
const ping = { name: "ping", arguments: {} };

/** A start, or the refusal's problem. */
async function tryStart(talk: Talk): Promise<Run | ProblemError["problem"]> {
  try {
    return await talk.start();
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}
const isRun = (started: Run | ProblemError["problem"]): started is Run => "conversationId" in started;

test("who has no limits costs no ledger anything", async () => {
  const talk = await Talk.open({ answers: [{ text: "Hello." }], person: await signInOf("without limits") });
  await talk.play();
  const ids = await listDurableObjectIds(env.LEDGERS);
  const own = env.LEDGERS.idFromName(await ledgerName("without limits"));
  expect(ids.some((id) => id.equals(own))).toBe(false);
});

test("S51: runs that are cancelled pay for what was asked and said, until the budget is used up", async () => {
  const person = await signInOf("few tokens");
  const booked: number[] = [];
  let refused: ProblemError["problem"] | null = null;
  let sentByTheRefused = -1;
  let asked = 0;
  for (let n = 0; n < 20 && refused === null; n++) {
    const talk = await Talk.open({ person, answers: [SLOW_TEXT] });
    const started = await tryStart(talk);
    if (!isRun(started)) {
      refused = started;
      sentByTheRefused = (await talk.requests()).length;
      break;
    }
    const words = () => talk.watcher.frames.filter(({ type }) => type === "delta").length;
    await talk.watcher.until("some words", () => words() >= 5);
    await talk.person.client.cancel(started.id);
    await talk.ended(started);
    const { usage: spent } = await talk.person.client.run(started.id);
    expect(spent).toMatchObject({ estimated: true, costMicroUsd: null });
    expect(spent.inputTokens).toBeGreaterThan(100);
    expect(spent.outputTokens).toBeGreaterThan(0);
    asked += (await talk.requests()).length;
    booked.push(spent.inputTokens + spent.outputTokens);
    const { used } = await untilSettled("few tokens");
    expect(used).toBe(booked.reduce((sum, one) => sum + one, 0));
  }
  expect(refused).toMatchObject({ status: 429, code: "budget_exhausted", retryable: true });
  expect(refused?.retryAfterMs).toBeGreaterThan(0);
  expect(refused?.retryAfterMs).toBeLessThanOrEqual(3_600_000);
  expect(sentByTheRefused).toBe(0);
  expect(asked).toBe(booked.length);
  expect(booked.length).toBeGreaterThan(1);
});

test("S52: nothing stays reserved of runs that are cancelled or whose object dies; dying is paid too", async () => {
  const person = await signInOf("random ends");
  const spent: number[] = [];
  const cancelled = async () => {
    const talk = await Talk.open({ person, answers: [SLOW_TEXT] });
    const run = await talk.start();
    await untilAsked(talk, 1);
    await talk.person.client.cancel(run.id);
    await talk.ended(run);
    const { usage: cost } = await talk.person.client.run(run.id);
    spent.push(cost.inputTokens + cost.outputTokens);
  };
  const killed = async () => {
    const talk = await Talk.open({
      person,
      answers: [{ hang: true }],
      otherwise: { text: "Back.", usage: usage(100, 10) },
    });
    const run = await talk.start();
    await untilAsked(talk, 1);
    await crashAndComeBack(talk);
    await talk.ended(run);
    const { usage: cost } = await talk.person.client.run(run.id);
    expect(cost.inputTokens).toBeGreaterThan(100);
    expect(cost.estimated).toBe(true);
    spent.push(cost.inputTokens + cost.outputTokens);
    await agree(talk);
    const { usage: after } = await talk.person.client.run(`${talk.id}.r2`);
    spent.push(after.inputTokens + after.outputTokens);
  };
  await Promise.all([...Array.from({ length: 20 }, cancelled), killed(), killed(), killed()]);
  const levels = await untilSettled("random ends");
  expect(levels).toMatchObject({ reserved: 0, used: spent.reduce((sum, one) => sum + one, 0) });
  const next = await Talk.open({ person, answers: [{ text: "Well." }] });
  expect((await next.play()).run.status).toBe("completed");
});

test("S74: room for one call lets one run begin, however many come at once", async () => {
  const person = await signInOf("one call");
  const answer = { text: "Done.", usage: usage(500, 200), delayMs: 1_000 };
  const talks = await Promise.all(Array.from({ length: 20 }, () => Talk.open({ person, answers: [answer] })));
  const started = await Promise.all(talks.map(tryStart));
  const runs = started.filter(isRun);
  expect(runs).toHaveLength(1);
  const refusals = started.filter((one) => !isRun(one));
  const exhausted = { status: 429, code: "budget_exhausted", retryable: true };
  expect(refusals).toMatchObject(refusals.map(() => exhausted));
  await Promise.all(talks.map((talk, n) => (isRun(started[n] as Run) ? talk.ended(started[n] as Run) : null)));
  const requests = await Promise.all(talks.map((talk) => talk.requests()));
  expect(requests.flat()).toHaveLength(1);
  const { used } = await untilSettled("one call");
  expect(used).toBe(700);
  const [first] = talks;
  if (!first) throw new Error("no talk");
  const late = await tryStart(first);
  expect(late).toMatchObject({ code: "budget_exhausted" });
});

test("fifty runs at once never spend more than the hour's budget and one call", { timeout: 120_000 }, async () => {
  const person = await signInOf("fifty runs");
  const step = { toolCalls: [ping], usage: usage(900, 100) };
  const answers = [step, step, { text: "Done.", usage: usage(900, 100) }];
  const talks = await Promise.all(Array.from({ length: 50 }, () => Talk.open({ person, answers })));
  const started = await Promise.all(talks.map(tryStart));
  expect(started.filter(isRun).length).toBeGreaterThan(5);
  // Each run ends, or waits for the next hour: without a request meanwhile.
  const runs = started.filter(isRun);
  await vi.waitFor(
    async () => {
      const { used } = await levelsOf("fifty runs");
      expect(used).toBeGreaterThanOrEqual(19_000);
    },
    { timeout: 60_000, interval: 100 },
  );
  const { used } = await untilSettled("fifty runs");
  const asked = (await Promise.all(talks.map((talk) => talk.requests()))).flat().length;
  expect(used).toBe(asked * 1_000);
  expect(used).toBeLessThanOrEqual(20_000 + 1_000);
  await vi.waitFor(
    async () => {
      const states = await Promise.all(runs.map(({ id }) => person.client.run(id)));
      const waiting = states.filter(({ status }) => status !== "completed");
      expect(waiting).toMatchObject(waiting.map(() => ({ phase: "awaiting_budget", waitsFor: ["budget"] })));
    },
    { timeout: 20_000, interval: 100 },
  );
});

test("a run waits for what another has only reserved, and goes on when that comes free", async () => {
  const person = await signInOf("turn by turn");
  const slow = { toolCalls: [{ name: "slow_lookup", arguments: { ms: 300 } }], usage: usage(300, 0) };
  const first = await Talk.open({ person, answers: [slow, { text: "Mine.", usage: usage(300, 0) }] });
  const second = await Talk.open({ person, answers: [{ hang: true, ms: 20_000 }], limits: { maxFirstByteMs: 1_500 } });
  const run = await first.start();
  await first.watcher.until("its first step", () => first.of("tool_call.started", run).length > 0);
  const other = await second.start();
  await first.watcher.until("the wait", () => first.of("budget.awaited", run).length > 0);
  expect(await person.client.run(run.id)).toMatchObject({ status: "interrupted", phase: "awaiting_budget" });
  await second.ended(other);
  await first.ended(run);
  expect(await person.client.run(run.id)).toMatchObject({ status: "completed", usage: { inputTokens: 600 } });
  expect(await first.requests()).toHaveLength(2);
});

describe("runs at once", () => {
  test("are as many as the tenant may have; a yes is never refused for it, and who waits for a person does not count", async () => {
    const person = await signInOf("two at once");
    const waiting = await Talk.open({ person, answers: [{ fixture: "common_propose_transfer" }] });
    const { run: asks, calls } = await waiting.ask();
    await vi.waitFor(async () => expect(await levelsOf("two at once")).toMatchObject({ runs: 0 }), { interval: 50 });
    const busy = await Promise.all([1, 2].map(() => Talk.open({ person, answers: [{ hang: true }] })));
    const running = await Promise.all(busy.map((talk) => talk.start()));
    const third = await Talk.open({ person });
    expect(await tryStart(third)).toMatchObject({ status: 429, code: "tenant_concurrency", retryable: true });
    expect(await third.requests()).toEqual([]);
    await waiting.decide(asks, calls[0], "approve");
    await waiting.ended(asks);
    expect(await waiting.bookings()).toHaveLength(1);
    const [run] = running;
    if (run) await person.client.cancel(run.id);
    await vi.waitFor(async () => expect(isRun(await tryStart(third))).toBe(true), { timeout: 10_000, interval: 100 });
  });
});

test("the conversation that uses half, four fifths, and all of a budget is told so, and so is the log", async () => {
  const person = await signInOf("warned");
  const talk = await Talk.open({
    person,
    answers: [
      { text: "One.", usage: usage(2_000, 0) },
      { text: "Two.", usage: usage(1_000, 300) },
      { text: "Three.", usage: usage(900, 0) },
    ],
  });
  const warnings = () => talk.of("budget.warned").map(({ data }) => data);
  const scope = "tenant.tokensPerDay";
  for (const percent of [50, 80, 100]) {
    await talk.play();
    await talk.watcher.until(`${percent} %`, () => warnings().some((one) => one.percent === percent));
  }
  expect(warnings()).toEqual([50, 80, 100].map((percent) => ({ percent, scope })));
  expect(await tryStart(talk)).toMatchObject({ code: "budget_exhausted" });
});
