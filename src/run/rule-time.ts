/** What time did. Runs before every input, so nothing that has expired can be used, whatever the alarm did (**I10**). */
import { stopOf } from "../protocol/stops.ts";
import type { Usage } from "../protocol/run.ts";
import { isoOf } from "../protocol/time.ts";
import { ask } from "./advance.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import { settleCall, shownText } from "./ending.ts";
import { halt } from "./halting.ts";
import type { Input, PartialText } from "./inputs.ts";
import { endAsTripped, outOfTime } from "./limits.ts";
import { ownResult } from "./results.ts";
import { endWithoutBudget, loseStep, lostBy, modelFailed, UNSTORED, UNKNOWN_USAGE } from "./rule-model.ts";
import { mayHaveHappened } from "./rule-tool.ts";
import type { CallState, RunState, StepState } from "./state.ts";

type TimePassed = Extract<Input, { type: "time_passed" }>;

export function timePassed(draft: Draft, passed: TimePassed): void {
  const { partial } = passed;
  const run = draft.state.active;
  if (!run) return;
  if (run.halt) {
    if (isDue(draft, run.halt.graceUntil)) settle(draft, partial);
    return;
  }
  for (const call of run.calls) {
    if (isDue(draft, call.expiresAt) && isOpen(call)) expire(draft, run, call);
    if (call.state === "executing" && isDue(draft, call.deadlineAt)) overdue(draft, run, call);
  }
  if (run.continuation && isDue(draft, run.continuation.expiresAt)) return endAsTripped(draft, run.continuation);
  if (run.budget?.waiting && isDue(draft, run.budget.expiresAt)) return endWithoutBudget(draft);
  if (isDue(draft, run.deadlineAt)) return outlived(draft, partial);
  if (run.step?.phase === "asking" && isDue(draft, run.step.deadlineAt)) modelOverdue(draft, run, run.step, passed);
  if (run.budget?.waiting && isDue(draft, run.budget.retryAt)) retryBudget(draft);
}

/** Asks again, as the same step: the wait for the budget counts as no attempt. */
export function retryBudget(draft: Draft): void {
  const { run } = draft;
  if (!run.budget?.waiting || !run.step || run.halt) return;
  if (draft.state.paused || draft.state.handover.state === "active") return;
  ask(draft, run, run.step.n, run.step.attempt + 1, run.step.messageId);
}

/** The grace of a stop is over, or whatever was out died with an earlier life: nothing is waited for any more. */
export function settle(draft: Draft, partial: PartialText | undefined, usage?: Usage): void {
  const { run } = draft;
  if (run.step?.phase === "asking") loseStep(draft, run, run.step, lostBy(run.step, partial, usage));
  for (const call of draft.run.calls) settleCall(draft, draft.run, call.id);
}

const isDue = (draft: Draft, at: number | null | undefined): boolean => typeof at === "number" && draft.now >= at;
const isOpen = (call: CallState) => call.state === "awaiting_confirmation" || call.state === "approved";

function expire(draft: Draft, run: RunState, call: CallState): void {
  const reason = call.state === "approved" ? "not_started" : "undecided";
  const payload = ownResult(run, call, "expired");
  draft.emit("confirmation.expired", SYSTEM, { toolCallId: call.id, reason, payload }, run.id);
}

function overdue(draft: Draft, run: RunState, call: CallState): void {
  mayHaveHappened(draft, run, call, { reason: "timeout", payload: ownResult(run, call, "timeout"), repeatable: true });
}

function outlived(draft: Draft, partial: PartialText | undefined): void {
  const { run } = draft;
  const hit = outOfTime(run, draft.now);
  draft.emit("limit.tripped", SYSTEM, { ...hit, ask: false }, run.id);
  halt(draft, draft.run, hit.code, SYSTEM, null);
  if (isDue(draft, draft.run.halt?.graceUntil)) settle(draft, partial);
}

function modelOverdue(
  draft: Draft,
  run: RunState,
  step: StepState,
  { partial, unstored }: Pick<TimePassed, "partial" | "unstored">,
): void {
  const answered = unstored?.effectId === `${run.id}.s${step.n}` && unstored.attempt === step.attempt;
  const stop = answered ? UNSTORED : stopOf("model_timeout", `The model did not finish by ${isoOf(step.deadlineAt)}.`);
  const text = shownText(step, partial);
  modelFailed(draft, run, step, { kind: "failed", stop, text, finishReason: null, usage: UNKNOWN_USAGE });
}
