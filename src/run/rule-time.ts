/** What time did. Runs before every input, so nothing that has expired can be used, whatever the alarm did (**I10**). */
import { stopOf } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import { endRun, keepPartial, settleCall } from "./ending.ts";
import type { PartialText } from "./inputs.ts";
import { endAsTripped } from "./limits.ts";
import { ownResult } from "./results.ts";
import { ask } from "./advance.ts";
import { halt } from "./halting.ts";
import { finishStep } from "./rule-model.ts";
import { repeatOrUnknown } from "./rule-tool.ts";
import { NO_USAGE, type CallState, type RunState } from "./state.ts";

export function timePassed(draft: Draft, partial: PartialText | undefined): void {
  const run = draft.state.active;
  if (!run) return;
  if (run.halt) {
    if (draft.now >= run.halt.graceUntil) endGrace(draft, run, partial);
    return;
  }
  for (const call of run.calls) {
    if (isDue(draft, call.expiresAt) && isOpen(call)) expire(draft, run, call);
    if (call.state === "executing" && isDue(draft, call.deadlineAt)) overdue(draft, run, call);
  }
  if (run.continuation && isDue(draft, run.continuation.expiresAt)) return endAsTripped(draft, run.continuation);
  if (isDue(draft, run.budget?.expiresAt)) {
    return endRun(draft, draft.run, stopOf("budget_exhausted", "No budget came within the time that a run waits."));
  }
  if (isDue(draft, run.deadlineAt)) {
    halt(draft, draft.run, "deadline_exceeded", SYSTEM, null);
    if (draft.state.active?.halt && draft.now >= draft.state.active.halt.graceUntil)
      endGrace(draft, draft.run, partial);
    return;
  }
  if (run.step?.phase === "asking" && isDue(draft, run.step.deadlineAt)) return modelOverdue(draft, run, partial);
  if (run.budget?.waiting && run.step && isDue(draft, run.budget.retryAt)) retryBudget(draft);
}

/** Asks again, as the same step: the wait for the budget counts as no attempt. */
export function retryBudget(draft: Draft): void {
  const { run } = draft;
  if (!run.budget?.waiting || !run.step || run.halt || draft.state.handover.state === "active") return;
  ask(draft, run, run.step.n, run.step.attempt + 1, run.step.messageId);
}

const isDue = (draft: Draft, at: number | null | undefined): boolean => typeof at === "number" && draft.now >= at;
const isOpen = (call: CallState) => call.state === "awaiting_confirmation" || call.state === "approved";

function expire(draft: Draft, run: RunState, call: CallState): void {
  const reason = call.state === "approved" ? "not_started" : "undecided";
  const payload = ownResult(run, call, "expired");
  draft.emit("confirmation.expired", SYSTEM, { toolCallId: call.id, reason, payload }, run.id);
}

function overdue(draft: Draft, run: RunState, call: CallState): void {
  if (call.effect === "read") {
    const payload = ownResult(run, call, "timeout");
    const data = { toolCallId: call.id, state: "failed", attempt: call.attempt, payload } as const;
    draft.emit("tool_call.finished", SYSTEM, data, run.id);
  } else repeatOrUnknown(draft, run, call, "timeout");
}

function endGrace(draft: Draft, run: RunState, partial: PartialText | undefined): void {
  if (run.step?.phase === "asking") {
    keepPartial(draft, partial);
    finishStep(draft, run, run.step, { finishReason: null, usage: { ...NO_USAGE, estimated: true } });
  }
  for (const call of draft.run.calls) settleCall(draft, draft.run, call.id);
}

function modelOverdue(draft: Draft, run: RunState, partial: PartialText | undefined): void {
  if (!run.step) return;
  keepPartial(draft, partial);
  finishStep(draft, run, run.step, { finishReason: null, usage: { ...NO_USAGE, estimated: true } });
  endRun(draft, draft.run, stopOf("model_timeout", `The model did not finish by ${isoOf(run.step.deadlineAt)}.`));
}
