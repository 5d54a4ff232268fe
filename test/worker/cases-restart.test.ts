/**
 * Every object of the service dies at once, in the middle of what it was doing: nothing acknowledged is lost, nothing is
 * sent twice that may not be, and what nobody can know is called unknown. Sequential: a death is everybody's.
 */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readRuns } from "../../src/history/read-runs.ts";
import type { Run } from "../../src/protocol/run.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf, toldCalls } from "./harness/calls.ts";
import { backend, provider } from "./harness/fakes.ts";
import { TENANT } from "./harness/people.ts";
import { COMMON_TEXT, Talk, type TalkOptions } from "./harness/talk.ts";

const SLOW = { fixture: "common_slow_text" };

async function die(...talks: Talk[]): Promise<void> {
  for (const talk of talks) talk.watcher.cut();
  await abortAllDurableObjects();
}

/** Back with its cursor: the first that the new life hears. */
const comeBack = (...talks: Talk[]) => Promise.all(talks.map((talk) => talk.watcher.connect()));

/** A run whose tool is out: asked for and agreed to where it asks, at the backend and not answered. */
async function toolOut(tool: string, args: (mark: string) => object, fault: object | null, options: TalkOptions = {}) {
  const mark = `r-${crypto.randomUUID()}`;
  const answers = [{ toolCalls: [{ name: tool, arguments: args(mark) }] }, COMMON_TEXT];
  const talk = await Talk.open({ answers, ...options });
  const match = { recipient_id: mark };
  if (fault) await backend.fault({ route: "POST /transfer", mode: "delay", times: 1, match, ...fault });
  const run = await talk.start();
  if (tool.startsWith("transfer")) {
    const { calls } = await talk.asked(run);
    await talk.decide(run, calls[0], "approve");
  }
  const sent = () => backend.requests(talk.person.userId);
  await vi.waitFor(async () => expect(await sent()).toHaveLength(1), { timeout: 10_000, interval: 20 });
  return { talk, run, sent };
}

const transferTo = (recipient_id: string) => ({ recipient_id, amount_cents: 500 });
/** Books at once, answers when everything is over. */
const BOOKED_UNANSWERED = { commitAt: 0, answerAt: 20_000 };
/** Books nothing: silence. */
const SILENCE = { mode: "timeout", ms: 20_000 };

const attempts = (talk: Talk, run: Run) =>
  talk
    .of("tool_call.started", run)
    .map(({ data: { mode, attempt, idempotencyKey } }) => ({ mode, attempt, idempotencyKey }));

test("while the model speaks: it is asked anew, and only the new answer is one", async () => {
  const talk = await Talk.open({ answers: [SLOW, COMMON_TEXT] });
  const run = await talk.start();
  await talk.watcher.until("ten words", () => talk.watcher.view.live?.text.includes("w10"));
  await die(talk);
  // Nobody calls: only the alarm is left to notice. The history shows what came of it.
  const history = historyFor(env.HISTORY, TENANT);
  await vi.waitFor(
    async () => {
      const read = await readRuns(history, { userId: talk.person.userId }, talk.id, { limit: 1 });
      expect(read).toMatchObject({ kind: "found", value: { data: [{ id: run.id, status: "completed" }] } });
    },
    { timeout: 15_000, interval: 50 },
  );
  await comeBack(talk);
  await talk.ended(run);
  expect(talk.of("step.superseded", run)).toMatchObject([{ data: { reason: "interrupted", n: 1, attempt: 1 } }]);
  const { data } = await talk.person.client.messages(talk.id);
  expect(data.map(({ status, parts }) => [status, parts])).toMatchObject([
    ["complete", [{ text: "go on" }]],
    ["complete", [{ text: "Hello world" }]],
  ]);
  expect(await provider.requests(talk.scope)).toMatchObject([{ endedBy: "client" }, { endedBy: "server" }]);
  await agree(talk);
});

test("again and again while the model speaks: the run ends, what was shown is kept, the next one works", async () => {
  const talk = await Talk.open({ otherwise: SLOW });
  const run = await talk.start();
  for (let life = 1; life <= 3; life++) {
    await talk.watcher.until(`words of attempt ${life}`, () => {
      const { live } = talk.watcher.view;
      return live?.attempt === life && live.text.includes("w10");
    });
    await die(talk);
    await comeBack(talk);
  }
  const end = await talk.ended(run);
  expect(end.data.stop).toMatchObject({ code: "model_interrupted", retryable: true });
  expect(await talk.requests()).toHaveLength(3);
  const { data } = await talk.person.client.messages(talk.id);
  expect(data.at(-1)).toMatchObject({
    role: "assistant",
    status: "incomplete",
    parts: [{ text: expect.stringMatching(/^w00 w01 w02/) }],
  });
  await agree(talk);
});

test("while tools are out: each is treated as its effect allows", async () => {
  const once = await toolOut("transfer", transferTo, BOOKED_UNANSWERED);
  const repeatable = await toolOut("transfer_idempotent", transferTo, BOOKED_UNANSWERED);
  const booked = await toolOut("transfer_probeable", transferTo, BOOKED_UNANSWERED);
  const lost = await toolOut("transfer_probeable", transferTo, SILENCE);
  // Last and long: it must still be out when the objects die, also on a busy machine.
  const reading = await toolOut("slow_lookup", () => ({ ms: 4_000 }), null);
  const all = [reading, once, repeatable, booked, lost];
  await die(...all.map(({ talk }) => talk));
  await comeBack(...all.map(({ talk }) => talk));

  // Sent once, and nobody knows: a person says what became of it.
  await once.talk.watcher.until("doubt", () => once.talk.of("run.interrupted", once.run).at(1));
  const doubtful = await once.talk.person.client.run(once.run.id);
  expect(doubtful).toMatchObject({ phase: "awaiting_resolution", pending: [{ state: "unknown", attempt: 1 }] });
  expect(await once.talk.requests()).toHaveLength(1);
  const toolCallId = doubtful.pending[0]?.id ?? "";
  await once.talk.person.client.resume(once.run.id, { resolutions: [{ toolCallId, outcome: "give_up" }] });

  for (const { talk, run } of all) expect(await talk.ended(run)).toMatchObject({ type: "run.completed" });

  expect(attempts(reading.talk, reading.run)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  expect(resultsOf(reading.talk, reading.run)).toMatchObject([{ success: true }]);

  expect(attempts(once.talk, once.run)).toHaveLength(1);
  expect(await once.talk.bookings()).toHaveLength(1);
  expect(toldCalls((await once.talk.requests())[1])).toMatchObject([
    { result: { error: { code: "outcome_unknown" } } },
  ]);

  const repeats = attempts(repeatable.talk, repeatable.run);
  expect(repeats).toMatchObject([
    { mode: "execute", attempt: 1 },
    { mode: "execute", attempt: 2 },
  ]);
  expect(new Set(repeats.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  expect(new Set((await repeatable.talk.bookings()).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);

  expect(attempts(booked.talk, booked.run).map(({ mode }) => mode)).toEqual(["execute", "probe"]);
  expect(resultsOf(booked.talk, booked.run)).toMatchObject([{ success: true, source: "probe" }]);
  expect(await booked.talk.bookings()).toHaveLength(1);

  expect(attempts(lost.talk, lost.run).map(({ mode }) => mode)).toEqual(["execute", "probe", "execute"]);
  expect(await lost.talk.bookings()).toHaveLength(1);

  for (const { talk } of all) await agree(talk);
});

test("while a person is asked: the question stands, with its digest, and a yes acts once", async () => {
  const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }, COMMON_TEXT] });
  const { run, calls } = await talk.ask();
  const queued = await talk.start("and then?");
  await die(talk);
  expect(await talk.person.client.run(run.id)).toMatchObject({ status: "interrupted", pending: calls });
  await die(talk);
  await comeBack(talk);
  await talk.decide(run, calls[0], "approve");
  await talk.ended(run);
  await talk.ended(queued);
  expect(await talk.bookings()).toHaveLength(1);
  expect(talk.of("confirmation.requested")).toHaveLength(1);
  await agree(talk);
});

test("while a cancel settles: the run ends cancelled, and says what may have happened", async () => {
  const { talk, run } = await toolOut("transfer", transferTo, BOOKED_UNANSWERED);
  const cancelled = await talk.person.client.cancel(run.id);
  expect(cancelled.status).toBe("running");
  await die(talk);
  await comeBack(talk);
  const end = await talk.ended(run);
  expect(end).toMatchObject({
    type: "run.cancelled",
    data: { stop: { code: "cancelled_by_user" }, sideEffects: [{ tool: "transfer", state: "unknown" }] },
  });
  expect(await talk.bookings()).toHaveLength(1);
  expect(await talk.requests()).toHaveLength(1);
  await agree(talk);
});

test("right after an acknowledgement: what was acknowledged is there, and happens", async () => {
  const talk = await Talk.open();
  const key = crypto.randomUUID();
  const run = await talk.person.client.startRun(talk.id, { text: "remember this" }, key);
  await die(talk);
  await comeBack(talk);
  expect(await talk.person.client.startRun(talk.id, { text: "remember this" }, key)).toEqual(run);
  await talk.ended(run);
  expect(talk.of("run.queued")).toHaveLength(1);
  await agree(talk);
});

test("while the clock stands still: all is in the order in which it happened, before and after (S73)", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  try {
    const looksUp = (order_id: string) => ({ name: "lookup_order", arguments: { order_id } });
    const plan = { toolCalls: [looksUp("A"), looksUp("B")] };
    const talk = await Talk.open({ answers: [plan, COMMON_TEXT, COMMON_TEXT] });
    const { run } = await talk.play("look both up");
    expect(new Set(talk.events.map(({ at }) => at)).size).toBe(1);
    expect(toldCalls((await talk.requests())[1]).map(({ args }) => args)).toEqual([
      { order_id: "A" },
      { order_id: "B" },
    ]);
    await die(talk);
    await comeBack(talk);
    const { run: next } = await talk.play("and again");
    const { data } = await talk.person.client.messages(talk.id);
    expect(data.map(({ role, runId }) => [role, runId])).toEqual([
      ["user", run.id],
      ["assistant", run.id],
      ["user", next.id],
      ["assistant", next.id],
    ]);
    await agree(talk);
  } finally {
    vi.useRealTimers();
  }
});
