/** Cases S35, S38, S46, S49, S50: two people, two tabs, two moments that are one. One of them counts, and all agree. */
import { describe, expect, test } from "vitest";
import type { ServerFrame } from "../../src/protocol/frames.ts";
import type { Run } from "../../src/protocol/run.ts";
import { agree } from "./harness/agreement.ts";
import { codeIn, newKey, send, startPath } from "./harness/keyed.ts";
import { crashAndComeBack, untilAsked } from "./harness/life.ts";
import { colleague } from "./harness/strangers.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";
import type { Watcher } from "./harness/watcher.ts";

const PROPOSE = { fixture: "common_propose_transfer" };
const range = (length: number) => Array.from({ length }, (_, i) => i);

const answersTo = (watcher: Watcher, prefix: string) => (): readonly ServerFrame[] =>
  watcher.frames.filter((frame) => (frame.type === "ack" || frame.type === "problem") && frame.id?.startsWith(prefix));

describe("one confirmation, many deciders", () => {
  test(
    "1,000 decisions at once, yes and no, keyed and not, over both ways in: one winner",
    { timeout: 120_000 },
    async () => {
      const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
      const { run, calls } = await talk.ask();
      const path = `/v1/runs/${run.id}/resume`;
      const body = (i: number) => ({
        decisions: [
          {
            toolCallId: calls[0]?.id,
            argsDigest: calls[0]?.argsDigest,
            decision: i % 3 === 0 ? "reject" : "approve",
          },
        ],
      });
      // Five people: what one of them may command at once is bounded.
      const people = [talk.person, ...(await Promise.all(range(4).map(() => colleague(talk, "approver"))))];
      const watchers = [talk.watcher, ...people.slice(1).map((person) => talk.newWatcher(person))];
      await Promise.all(watchers.slice(1).map((watcher) => watcher.connect()));
      const rest = range(500).map(async (i) => {
        const person = people[i % 5] ?? talk.person;
        return codeIn(await send(person, path, i % 2 === 0 ? newKey() : null, body(i)));
      });
      for (const i of range(500)) {
        const key = i % 2 === 0 ? {} : { idempotencyKey: newKey() };
        watchers[i % 5]?.send(JSON.stringify({ id: `d${i}`, type: "resume", runId: run.id, ...key, ...body(i) }));
      }
      const overSocket = watchers.map(async (watcher) => {
        const frames = answersTo(watcher, "d");
        await watcher.until("100 answers", () => frames().length === 100);
        return frames().map((frame) => (frame.type === "problem" ? frame.problem.code : "done"));
      });
      const codes = [...(await Promise.all(rest)), ...(await Promise.all(overSocket)).flat()];
      expect(codes.toSorted()).toEqual([...range(999).map(() => "already_decided"), "done"]);
      await talk.ended(run);
      const [decided, ...more] = talk.of("confirmation.decided", run);
      expect(more).toEqual([]);
      expect(await talk.bookings()).toHaveLength(decided?.data.decision === "approve" ? 1 : 0);
      expect(await talk.requests()).toHaveLength(2);
      await crashAndComeBack(talk);
      expect(await talk.answer(run, body(1))).toMatchObject({ status: 409, body: { code: "already_decided" } });
      expect(await talk.bookings()).toHaveLength(decided?.data.decision === "approve" ? 1 : 0);
      await agree(talk);
    },
  );

  test.concurrent.for(range(5))("a yes and a cancel at the same moment, ten times (%d)", async (offset) => {
    const talk = await Talk.open({ otherwise: COMMON_TEXT });
    let acted = 0;
    for (const i of range(10)) {
      await talk.script(PROPOSE);
      const { run, calls } = await talk.ask();
      const yes = () => talk.decide(run, calls[0], "approve").then(() => "done", codeOf);
      const cancel = () => talk.person.client.cancel(run.id).then(() => "done", codeOf);
      const [said, stopped] =
        (i + offset) % 2 === 0 ? await Promise.all([yes(), cancel()]) : await reversed(yes, cancel);
      const end = await talk.ended(run);
      // The cancel either came while it could still be stopped, or was told that all was over.
      expect([said, stopped, end.type]).toEqual([
        expect.stringMatching(/^(done|run_finished)$/),
        stopped,
        stopped === "done" ? "run.cancelled" : "run.completed",
      ]);
      const dispatched = talk.of("tool_call.started", run).length;
      expect([said, dispatched]).not.toEqual(["run_finished", 1]);
      acted += dispatched;
      // Stopped between its intent and its request it is proved not to have acted, and is no side effect.
      const unsent = talk.of("tool_call.finished", run).filter(({ data }) => data.attempt > 0 && !data.payload.success);
      expect(end.data.sideEffects).toHaveLength(dispatched - unsent.length);
      // A yes that came after it executes nothing.
      await expect(talk.decide(run, calls[0], "approve")).rejects.toMatchObject({ problem: { status: 409 } });
    }
    expect((await talk.bookings()).length).toBeLessThanOrEqual(acted);
    const snapshot = await talk.person.client.conversation(talk.id);
    expect(snapshot).toMatchObject({ pending: [], needsConfirmation: false, activeRun: null });
    await agree(talk);
  });

  const codeOf = (error: unknown) => (error as { problem: { code: string } }).problem.code;
  async function reversed<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
    const [b, a] = await Promise.all([second(), first()]);
    return [a, b];
  }
});

describe("two tabs", () => {
  test.concurrent("start at the same time: one after the other, each in its own words", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_slow_text" }, COMMON_TEXT] });
    const [one, two] = await Promise.all(
      ["m1", "m2"].map(async (text) => {
        const { text: answer } = await send(talk.person, startPath(talk), newKey(), { input: { text } });
        return JSON.parse(answer) as Run;
      }),
    );
    const [first, second] = [one, two].toSorted((a, b) => (a?.id ?? "").localeCompare(b?.id ?? ""));
    if (!first || !second) throw new Error("two starts are two runs");
    expect([first, second]).toMatchObject([{ status: "running" }, { status: "queued", position: 1 }]);
    await talk.ended(first);
    await talk.ended(second);
    const { data } = await talk.person.client.messages(talk.id);
    expect(data.map(({ role, runId }) => [role, runId])).toEqual([
      ["user", first.id],
      ["assistant", first.id],
      ["user", second.id],
      ["assistant", second.id],
    ]);
    const [, request] = await talk.requests();
    const told = data.slice(0, 3).map(({ role, parts }) => [role, parts.map((part) => "text" in part && part.text)[0]]);
    expect(request?.messages.slice(1).map(({ role, content }) => [role, content])).toEqual(told);
    const at = (type: "run.completed" | "run.started", run: Run) => talk.of(type, run)[0]?.seq ?? 0;
    expect(at("run.completed", first)).toBeLessThan(at("run.started", second));
    await agree(talk);
  });
});

describe("a cancel and the end, at the same moment", () => {
  test.concurrent.for(range(4))("25 runs, cancelled at every frame around their end (%d)", async (offset) => {
    const talk = await Talk.open();
    for (const i of range(25)) {
      const from = talk.watcher.frames.length;
      const run = await talk.start(`run ${i}`);
      // The frame at which the cancel leaves: from the first one of the run to beyond the last one.
      const heard = () =>
        talk.watcher.frames.length - from >= (i + offset) % 12 || talk.watcher.event("run.completed", run.id);
      await talk.watcher.until("the moment", heard);
      const { status, text } = await send(talk.person, `/v1/runs/${run.id}/cancel`, newKey(), {});
      const end = await talk.ended(run);
      expect([status, end.type]).toEqual(status === 202 ? [202, "run.cancelled"] : [409, "run.completed"]);
      const told = JSON.parse(text) as { status: unknown; run?: Run };
      expect(status === 202 ? told : told.run).toMatchObject({ id: run.id });
    }
    const ends = talk.events.filter(({ type }) => type === "run.cancelled" || type === "run.completed");
    expect(new Set(ends.map(({ runId }) => runId)).size).toBe(ends.length);
    expect(new Set(ends.map(({ type }) => type)).size).toBe(2);
    await agree(talk);
  });
});

describe("a cancel in the queue", () => {
  test.concurrent("ends the run that waits; nobody asks the model for it", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }, COMMON_TEXT] });
    const first = await talk.start("one");
    await untilAsked(talk, 1);
    const second = await talk.start("two");
    const third = await talk.start("three");
    expect(await talk.person.client.cancel(second.id)).toMatchObject({ status: "cancelled" });
    expect(await talk.person.client.cancel(second.id)).toMatchObject({ status: "cancelled" });
    expect(await talk.person.client.run(third.id)).toMatchObject({ status: "queued", position: 1 });
    await talk.person.client.cancel(first.id);
    await talk.ended(third);
    expect(talk.of("run.started", second)).toEqual([]);
    expect(talk.of("message.created", second)).toEqual([]);
    expect(JSON.stringify(await talk.requests())).not.toContain('"two"');
    await agree(talk);
  });

  test.concurrent.for(range(4))("twelve times, around the moment of its promotion (%d)", async (offset) => {
    const talk = await Talk.open();
    for (const i of range(12)) {
      const from = talk.watcher.frames.length;
      const first = await talk.start(`first ${i}`);
      const second = await talk.start(`second ${i}`);
      const third = await talk.start(`third ${i}`);
      const heard = () =>
        talk.watcher.frames.length - from >= i + offset || talk.watcher.event("run.completed", first.id);
      await talk.watcher.until("the moment", heard);
      const { status } = await send(talk.person, `/v1/runs/${second.id}/cancel`, newKey(), {});
      const end = await talk.ended(second);
      expect(end.type).toBe(status === 202 ? "run.cancelled" : "run.completed");
      const started = talk.of("run.started", second).length;
      expect(talk.of("message.created", second)).toHaveLength(started);
      expect((await talk.ended(third)).type).toBe("run.completed");
    }
    await agree(talk);
  });
});
