/** Case S39: a new message while a confirmation is open. */
import { describe, expect, test } from "vitest";
import { agree } from "./harness/agreement.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const PROPOSE = { fixture: "common_propose_transfer" };

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
    const [call] = calls;
    const late = await talk.answer(run, {
      decisions: [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" }],
    });
    expect(late).toMatchObject({ status: 409, body: { code: "run_finished" } });
    expect(await talk.ended(next)).toMatchObject({ type: "run.completed" });
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });
});
