/** Cases S38 and S39: a confirmation when its run ends, or a new message comes. */
import { describe, expect, test } from "vitest";
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf } from "./harness/calls.ts";
import { backend } from "./harness/fakes.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const PROPOSE = { fixture: "common_propose_transfer" };

const approving = (call: ToolCall | undefined) => ({
  decisions: [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" }],
});

async function proposed() {
  const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
  const { run, calls } = await talk.ask();
  return { talk, run, call: calls[0] };
}

describe("a new message never confirms, and never leaves a call without an answer", () => {
  test.concurrent("it is queued by default: the confirmation can still be decided, and then it is its turn", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT, { text: "Three hundred, then." }] });
    const { run, calls } = await talk.ask();
    const next = await talk.start("make it 300 instead");
    expect(next).toMatchObject({
      status: "queued",
      position: 1,
      blockedBy: { runId: run.id, phase: "awaiting_confirmation" },
    });
    expect(talk.of("message.created").map(({ runId }) => runId)).toEqual([run.id]);
    await talk.decide(run, calls[0], "approve");
    await talk.ended(run);
    await talk.ended(next);
    expect(await talk.bookings()).toHaveLength(1);
    const { data } = await talk.person.client.messages(talk.id);
    expect(data.map(({ role, runId }) => [role, runId])).toEqual([
      ["user", run.id],
      ["assistant", run.id],
      ["user", next.id],
      ["assistant", next.id],
    ]);
    await agree(talk);
  });

  test.concurrent("asked to be refused when busy, it is, with what is in the way", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
    const { run, calls } = await talk.ask();
    const refused = await talk.person.ask("POST", `/v1/conversations/${talk.id}/runs`, {
      body: { input: { text: "now" }, whenBusy: "reject" },
      headers: { "idempotency-key": crypto.randomUUID() },
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "run_active", blockedBy: { runId: run.id, phase: "awaiting_confirmation" } },
    });
    expect((await talk.person.client.runs(talk.id)).data).toHaveLength(1);
    await talk.decide(run, calls[0], "reject");
    await talk.ended(run);
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });

  test.concurrent("asked to replace, it ends what waits; the old yes comes too late", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
    const { run, calls } = await talk.ask();
    const next = await talk.start("make it 300 instead", { whenBusy: "replace" });
    expect(await talk.ended(run)).toMatchObject({ type: "run.cancelled", data: { stop: { code: "replaced" } } });
    const late = await talk.answer(run, approving(calls[0]));
    expect(late).toMatchObject({ status: 409, body: { code: "run_finished" } });
    expect(await talk.ended(next)).toMatchObject({ type: "run.completed" });
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });
});

describe("a confirmation ends with its run", () => {
  test.concurrent("cancelled while it waits: final at once, and a later yes does nothing", async () => {
    const { talk, run, call } = await proposed();
    const cancelled = await talk.person.client.cancel(run.id);
    expect(cancelled).toMatchObject({ status: "cancelled", needsConfirmation: false, pending: [], sideEffects: [] });
    for (let life = 0; life < 2; life++) {
      expect(await talk.answer(run, approving(call))).toMatchObject({ body: { code: "run_finished" } });
      expect(await talk.person.client.conversation(talk.id)).toMatchObject({ needsConfirmation: false, pending: [] });
      await talk.evict();
    }
    expect(await backend.requests(talk.person.userId)).toEqual([]);
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { code: "cancelled" } }]);
    await agree(talk);
  });

  test.concurrent("a yes and a cancel at the same moment: one wins, and the log agrees with the world", async () => {
    for (let round = 0; round < 8; round++) {
      const { talk, run, call } = await proposed();
      const yes = () => talk.answer(run, approving(call));
      const cancel = () => talk.person.ask("POST", `/v1/runs/${run.id}/cancel`, { body: {} });
      const [approved, stopped] = await Promise.all(
        round % 2 === 0 ? [yes(), cancel()] : [cancel(), yes()].toReversed(),
      );
      const end = await talk.ended(run);
      const acts = await talk.bookings();
      expect(acts.length).toBeLessThanOrEqual(approved?.status === 202 ? 1 : 0);
      // What was booked is told; what is told as done was booked; of what is told as unknown nobody can say.
      const told = end.data.sideEffects;
      expect(told.map(({ toolCallId }) => toolCallId)).toEqual(expect.arrayContaining(acts.map(() => call?.id)));
      expect(acts.length).toBeGreaterThanOrEqual(told.filter(({ state }) => state === "succeeded").length);
      expect(end.type).toBe(stopped?.status === 202 ? "run.cancelled" : "run.completed");
      if (round >= 6) await agree(talk);
    }
  });

  test.concurrent("nobody decides in time: it expires, and the run ends with it", async () => {
    const talk = await Talk.open({ answers: [PROPOSE], confirmationTtlMs: 300 });
    const { run, calls } = await talk.ask();
    const end = await talk.ended(run);
    expect(end).toMatchObject({ type: "run.cancelled", data: { stop: { code: "confirmation_expired" } } });
    expect(await talk.answer(run, approving(calls[0]))).toMatchObject({
      body: { code: "confirmation_expired" },
    });
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });
});
