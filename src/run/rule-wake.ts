/**
 * A new life of the actor found unfinished work: nothing that was in flight can come back. The model is asked anew (its
 * step was not committed), a call that was out follows its effect class, and a stop that was settling settles now.
 */
import { ATTEMPTS } from "../protocol/limits.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import { endRun, interruptedStop, keepPartial, settleCall } from "./ending.ts";
import type { PartialText } from "./inputs.ts";
import { startAttempt } from "./advance.ts";
import { finishStep } from "./rule-model.ts";
import { becomeUnknown, repeatOrUnknown } from "./rule-tool.ts";
import { NO_USAGE, type CallState, type RunState } from "./state.ts";
import { ownResult } from "./results.ts";

export function woke(draft: Draft, partial: PartialText | undefined): void {
  const run = draft.state.active;
  if (!run) return;
  draft.incarnation += 1;
  if (run.halt) {
    if (run.step?.phase === "asking") {
      keepPartial(draft, partial);
      finishStep(draft, run, run.step, LOST);
    }
    for (const call of draft.run.calls) settleCall(draft, draft.run, call.id);
    return;
  }
  for (const call of run.calls) if (wasOut(draft, call)) lost(draft, run, call);
  if (run.step?.phase === "asking") interrupt(draft, run, partial);
}

const LOST = { finishReason: null, usage: { ...NO_USAGE, estimated: true } };

/** A repeat that was still waiting out its back-off had not been sent by the life that died. */
const wasOut = (draft: Draft, call: CallState): boolean =>
  call.state === "executing" && (call.notBefore === null || call.notBefore <= draft.now);

function lost(draft: Draft, run: RunState, call: CallState): void {
  if (call.effect !== "read") {
    if (call.effect === "once") becomeUnknown(draft, run, call, "interrupted");
    else repeatOrUnknown(draft, run, call, "interrupted");
    return;
  }
  if (call.attempt < ATTEMPTS.read) return startAttempt(draft, run, call, "execute");
  const payload = ownResult(run, call, "timeout");
  const data = { toolCallId: call.id, state: "failed", attempt: call.attempt, payload } as const;
  draft.emit("tool_call.finished", SYSTEM, data, run.id);
}

function interrupt(draft: Draft, run: RunState, partial: PartialText | undefined): void {
  const { step } = run;
  if (!step) return;
  if (step.supersessions >= ATTEMPTS.modelSupersessions) {
    keepPartial(draft, partial);
    finishStep(draft, run, step, LOST);
    endRun(draft, draft.run, interruptedStop());
    return;
  }
  const { n, attempt } = step;
  const { incarnation } = draft;
  draft.emit("step.superseded", SYSTEM, { n, attempt, reason: "interrupted", incarnation }, run.id);
}
