/**
 * What came back from a tool. `failed` is only for proof; whatever may have happened follows the call's effect class:
 * a read is tried again, an idempotent call repeated with the same key, a probeable one asked about, and one that must
 * happen once is unknown. Source of the rule: design §4, after 413 kills of which 88 % had acted.
 */
import { ATTEMPTS, DURATIONS } from "../protocol/limits.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import { startAttempt } from "./advance.ts";
import { agentOf, SYSTEM, type Draft } from "./draft.ts";
import { settleCall } from "./ending.ts";
import type { Input, ToolAnswer } from "./inputs.ts";
import { ownResult } from "./results.ts";
import { targetOf } from "./targets.ts";
import type { CallState, RunState } from "./state.ts";

type Answer = Extract<Input, { type: "tool_answered" }>;
type Ambiguous = Extract<ToolAnswer, { kind: "ambiguous" }>;
type UnknownReason = "interrupted" | "timeout" | "ambiguous" | "cancelled" | "attempts_exhausted" | "window_passed";

export function toolAnswered(draft: Draft, input: Answer): void {
  const run = draft.state.active;
  const call = run?.calls.find(({ id }) => id === input.effectId);
  const current =
    call?.state === "executing" && input.attempt === call.attempt && input.incarnation === draft.state.incarnation;
  if (!run || !call || !current) return late(draft, input);
  const { result } = input;
  switch (result.kind) {
    case "ok":
      return finish(draft, run, call, "succeeded", result.payload);
    case "failed":
      return refused(draft, run, call, result);
    case "ambiguous":
      return ambiguous(draft, run, call, result);
    case "absent":
      return absent(draft, run, call);
  }
}

function refused(draft: Draft, run: RunState, call: CallState, result: Extract<ToolAnswer, { kind: "failed" }>): void {
  // After an attempt that may have acted, a refusal proves something only where the tool answers for the key.
  const proved = call.effect === "read" || !call.ambiguous || (call.answersForKey && result.proof === "definitive");
  if (proved) finish(draft, run, call, "failed", result.payload);
  else becomeUnknown(draft, run, call, "ambiguous", result.payload.error);
}

function absent(draft: Draft, run: RunState, call: CallState): void {
  // The probe says: never arrived. So it may be sent, with the same key; but not while the run is being stopped.
  if (run.halt) finish(draft, run, call, "cancelled", ownResult(run, call, "cancelled"));
  else if (call.repeats >= ATTEMPTS.repeatsOrProbes * 2) becomeUnknown(draft, run, call, "attempts_exhausted");
  else startAttempt(draft, run, call, "execute");
}

/** It may have happened. While a stop settles nothing is repeated or probed. */
function ambiguous(draft: Draft, run: RunState, call: CallState, result: Ambiguous): void {
  if (run.halt) return settleCall(draft, run, call.id);
  if (call.effect === "read") {
    const again = result.repeatable && call.attempt < ATTEMPTS.read;
    if (again) startAttempt(draft, run, call, "execute", backoff(call));
    else finish(draft, run, call, "failed", result.payload);
    return;
  }
  repeatOrUnknown(draft, run, call, result.reason, result);
}

export function repeatOrUnknown(
  draft: Draft,
  run: RunState,
  call: CallState,
  reason: UnknownReason,
  result?: Ambiguous,
): void {
  const spent = call.repeats >= ATTEMPTS.repeatsOrProbes;
  const error = result?.error;
  if (call.effect === "once" || result?.repeatable === false) return becomeUnknown(draft, run, call, reason, error);
  if (spent) return becomeUnknown(draft, run, call, "attempts_exhausted", error);
  if (call.effect === "probeable") return startAttempt(draft, run, call, "probe", backoff(call));
  const age = draft.now + backoff(call) - (call.firstStartedAt ?? draft.now);
  if (age >= call.dedupeWindowMs) return becomeUnknown(draft, run, call, "window_passed", error);
  startAttempt(draft, run, call, "execute", backoff(call));
}

/** 1, 2, 4, … seconds. The first repeat after a crash does not wait: the crash was the wait. */
const backoff = (call: CallState): number => DURATIONS.readBackoffMs * 2 ** Math.min(call.repeats, 5);

function finish(
  draft: Draft,
  run: RunState,
  call: CallState,
  state: "succeeded" | "failed" | "cancelled",
  payload: ToolResult,
): void {
  const data = { toolCallId: call.id, state, attempt: call.attempt, payload };
  draft.emit("tool_call.finished", agentOf(draft.state), data, run.id);
}

export function becomeUnknown(
  draft: Draft,
  run: RunState,
  call: CallState,
  reason: UnknownReason,
  error?: ToolResult["error"],
): void {
  const { incarnation } = draft;
  const said = error === undefined ? {} : { error };
  draft.emit(
    "tool_call.became_unknown",
    SYSTEM,
    { toolCallId: call.id, attempt: call.attempt, reason, incarnation, ...said },
    run.id,
  );
}

/** An answer that nobody waits for any more is recorded for people, and changes neither run nor transcript. */
function late(draft: Draft, input: Answer): void {
  const target = targetOf(draft.state, input.effectId);
  const { result, attempt, incarnation } = input;
  if (!target || result.kind === "absent" || result.kind === "ambiguous" || attempt > target.call.attempt) return;
  if (target.call.state === "succeeded" || target.call.state === "failed") return;
  const data = { toolCallId: target.call.id, attempt, incarnation, payload: result.payload };
  draft.emit("tool_call.late_result", SYSTEM, data, target.run.id);
}
