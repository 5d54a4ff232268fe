/** Case S41, and the effect classes: what may have happened is never sent again, unless its tool allows it. */
import { describe, expect, test } from "vitest";
import type { Fault } from "../support/backend-faults.ts";
import { acting, attempts, keysOf, posts, toolMsFor, unknown } from "./harness/acting.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf, toldCalls } from "./harness/calls.ts";
import { backend } from "./harness/fakes.ts";
import { crash, crashAndComeBack } from "./harness/life.ts";
import { calledOf, untilCalled } from "./harness/sockets-to.ts";
import { Talk } from "./harness/talk.ts";

const range = (length: number) => Array.from({ length }, (_, i) => i);

describe("a call that acts once", () => {
  test.concurrent("whose process dies while it is out is unknown, whatever dies after that; it was sent once", async () => {
    const act = await acting("transfer", { mode: "delay", commitAt: 0, answerAt: 60_000 });
    const { talk, run, call } = act;
    await untilCalled(talk, 1);
    await crashAndComeBack(talk);
    expect((await unknown(act)).data).toMatchObject({ reason: "interrupted", attempt: 1 });
    expect(await talk.person.client.run(run.id)).toMatchObject({
      status: "interrupted",
      phase: "awaiting_resolution",
      waitsFor: ["resolution"],
      needsConfirmation: false,
      pending: [{ id: call.id, state: "unknown", allowed: [] }],
      sideEffects: [{ toolCallId: call.id, state: "unknown" }],
    });
    for (const _ of range(3)) await crashAndComeBack(talk);
    await expect(talk.decide(run, call, "approve")).rejects.toMatchObject({ problem: { code: "already_decided" } });
    // A new message waits; it neither confirms nor repeats.
    const next = await talk.start("did it work?");
    expect(next).toMatchObject({ status: "queued", blockedBy: { runId: run.id, phase: "awaiting_resolution" } });
    expect(await posts(act)).toHaveLength(1);
    await talk.answer(run, { resolutions: [{ toolCallId: call.id, outcome: "give_up" }] });
    await talk.ended(next);
    expect(toldCalls((await talk.requests())[1])).toMatchObject([
      { result: { success: false, error: { code: "outcome_unknown" } } },
    ]);
    await agree(talk);
    expect(await talk.bookings()).toHaveLength(1);
  });

  test.concurrent.for(range(6))(
    "killed at instant %d after the yes: sent at most once, and honest about it",
    async (i) => {
      const recipient_id = `r-${crypto.randomUUID()}`;
      const match = { recipient_id };
      await backend.fault({ route: "POST /transfer", mode: "delay", commitAt: 0, answerAt: 60_000, match });
      const answers = [{ toolCalls: [{ name: "transfer", arguments: { recipient_id, amount_cents: 500 } }] }];
      const talk = await Talk.open({ answers });
      const { run, calls } = await talk.ask();
      const yes = talk.decide(run, calls[0], "approve").catch(() => null);
      for (let turn = 0; turn < i * 3; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
      await crash(talk);
      await yes;
      await talk.watcher.connect();
      const settled = () => talk.watcher.event("tool_call.became_unknown", run.id);
      // Where the yes was lost with the process, it is said again: by then it cannot be the second one.
      if (talk.of("confirmation.decided", run).length === 0) {
        await talk.decide(run, calls[0], "approve").catch(() => null);
        await talk.watcher.until("the yes", () => talk.watcher.event("confirmation.decided", run.id));
        await untilCalled(talk, 1);
        await crashAndComeBack(talk);
      }
      await talk.watcher.until("the doubt", settled);
      expect((await calledOf(talk)).length).toBeLessThanOrEqual(1);
      expect(talk.of("tool_call.started", run)).toHaveLength(1);
      await talk.answer(run, { resolutions: [{ toolCallId: calls[0]?.id, outcome: "give_up" }] });
      await talk.ended(run);
      await agree(talk);
      expect((await talk.bookings()).length).toBeLessThanOrEqual(1);
    },
  );

  test.concurrent.for([
    ["books and cuts the line", { mode: "commit_then_drop" }, 1],
    ["answers 500", { mode: "500" }, 0],
    ["says nothing until the time is up", { mode: "delay", commitAt: 0, answerAt: 60_000 }, 1],
    ["cuts the line without booking", { mode: "timeout", ms: 20 }, 0],
    ["books and answers in another shape", { mode: "wrong_shape" }, 1],
    ["answers success with nothing in it", { mode: "empty_success" }, 0],
  ] as const)("of which the backend %s is unknown, and not sent again", async ([, fault, booked]) => {
    const act = await acting("transfer", fault, toolMsFor(fault));
    const { talk, run, call } = act;
    await unknown(act);
    expect(await talk.person.client.run(run.id)).toMatchObject({ phase: "awaiting_resolution" });
    await talk.answer(run, { resolutions: [{ toolCallId: call.id, outcome: "give_up" }] });
    await talk.ended(run);
    await agree(talk);
    expect(await posts(act)).toHaveLength(1);
    expect(await talk.bookings()).toHaveLength(booked);
  });

  test.concurrent.for([
    ["401", "GATEWAY_UNAUTHORIZED"],
    ["403", "GATEWAY_FORBIDDEN"],
  ] as const)("which the backend refuses with %s has failed: that is proof", async ([mode, code]) => {
    const { talk, run } = await acting("transfer", { mode });
    await talk.ended(run);
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { code } }]);
    expect(talk.of("tool_call.became_unknown", run)).toEqual([]);
    await agree(talk);
    expect(await talk.bookings()).toEqual([]);
  });
});

describe("a call that may be repeated", () => {
  test.concurrent.for([
    ["books and cuts the line", { mode: "commit_then_drop", times: 1 }],
    ["answers 500", { mode: "500", times: 1 }],
    ["books and answers in another shape", { mode: "wrong_shape", times: 1 }],
    ["says nothing until the time is up", { mode: "delay", commitAt: 0, answerAt: 60_000, times: 1 }],
  ] as const)("is, under the same key, when the backend %s", async ([, fault]) => {
    const act = await acting("transfer_idempotent", fault, toolMsFor(fault));
    await act.talk.ended(act.run);
    expect(resultsOf(act.talk, act.run)).toMatchObject([{ success: true }]);
    expect(attempts(act)).toEqual([
      ["execute", 1],
      ["execute", 2],
    ]);
    expect((await keysOf(act)).size).toBe(1);
    await agree(act.talk);
  });

  test.concurrent("is, under the same key, by the next life; several deaths later it is still one call", async () => {
    const act = await acting("transfer_idempotent", { mode: "delay", commitAt: 0, answerAt: 60_000, times: 3 });
    for (const n of [1, 2, 3]) {
      await untilCalled(act.talk, n);
      await crashAndComeBack(act.talk);
    }
    await act.talk.ended(act.run);
    expect(resultsOf(act.talk, act.run)).toMatchObject([{ success: true }]);
    expect(await posts(act)).toHaveLength(4);
    expect((await keysOf(act)).size).toBe(1);
    await agree(act.talk);
  });

  test.concurrent("is not for ever: after three repeats nobody knows, and a person says", async () => {
    const act = await acting("transfer_idempotent", { mode: "commit_then_drop" });
    expect((await unknown(act)).data).toMatchObject({ reason: "attempts_exhausted", attempt: 4 });
    await act.talk.answer(act.run, { resolutions: [{ toolCallId: act.call.id, outcome: "happened" }] });
    await act.talk.ended(act.run);
    expect(resultsOf(act.talk, act.run)).toMatchObject([{ success: true, source: "person" }]);
    expect((await keysOf(act)).size).toBe(1);
    await agree(act.talk);
  });
});

describe("a call that can be asked about", () => {
  test.concurrent("is: it was booked, so it is not sent again", async () => {
    const act = await acting("transfer_probeable", { mode: "commit_then_drop" });
    await act.talk.ended(act.run);
    expect(attempts(act)).toEqual([
      ["execute", 1],
      ["probe", 2],
    ]);
    expect(resultsOf(act.talk, act.run)).toMatchObject([{ success: true, source: "probe" }]);
    await agree(act.talk);
    expect(await act.talk.bookings()).toHaveLength(1);
  });

  test.concurrent("is: it never arrived, so it is sent, under the same key", async () => {
    const act = await acting("transfer_probeable", { mode: "500", times: 1 });
    await act.talk.ended(act.run);
    expect(attempts(act)).toEqual([
      ["execute", 1],
      ["probe", 2],
      ["execute", 3],
    ]);
    expect((await keysOf(act)).size).toBe(1);
    await agree(act.talk);
    expect(await act.talk.bookings()).toHaveLength(1);
  });

  test.concurrent("is asked about by the next life", async () => {
    const act = await acting("transfer_probeable", { mode: "delay", commitAt: 0, answerAt: 60_000 });
    await untilCalled(act.talk, 1);
    await crashAndComeBack(act.talk);
    await act.talk.ended(act.run);
    expect(resultsOf(act.talk, act.run)).toMatchObject([{ success: true, source: "probe" }]);
    await agree(act.talk);
    expect(await act.talk.bookings()).toHaveLength(1);
  });
});

describe("a call that reads", () => {
  const reading = async (order_id: string, fault: Omit<Fault, "route" | "match">) => {
    await backend.fault({ ...fault, route: "/lookup_order", match: { order_id } });
    const answers = [{ toolCalls: [{ name: "lookup_order", arguments: { order_id } }] }];
    const talk = await Talk.open({ answers, limits: { maxToolMs: toolMsFor(fault) } });
    return { talk, run: (await talk.play()).run };
  };

  test.concurrent.for([
    ["500", { mode: "500", times: 2 }],
    ["silence", { mode: "delay", answerAt: 60_000, times: 2 }],
    ["a cut line", { mode: "commit_then_drop", times: 2 }],
  ] as const)("is tried again after %s", async ([, fault]) => {
    const { talk, run } = await reading(`A-${crypto.randomUUID()}`, fault);
    expect(resultsOf(talk, run)).toMatchObject([{ success: true }]);
    expect(await calledOf(talk)).toHaveLength(3);
    await agree(talk);
  });

  test.concurrent("three times in all; then the model hears of it", async () => {
    const { talk, run } = await reading(`A-${crypto.randomUUID()}`, { mode: "500" });
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { layer: "gateway", retryable: true } }]);
    expect(await calledOf(talk)).toHaveLength(3);
    expect(run).toMatchObject({ status: "completed", sideEffects: [] });
    await agree(talk);
  });
});
