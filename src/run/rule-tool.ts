/**
 * What came back from a tool. `failed` is only for proof; whatever may have happened follows the call's effect class:
 * a read is tried again, an idempotent call repeated with the same key, a probeable one asked about, and one that must
 * happen once is unknown. Source of the rule: design §4, after 413 kills of which 88 % had acted.
 */
import { ATTEMPTS } from "../protocol/limits.ts";
import type { ToolError, ToolResult } from "../protocol/tool-result.ts";
import { startAttempt } from "./advance.ts";
import { agentOf, SYSTEM, type Draft } from "./draft.ts";
import { settleCall } from "./ending.ts";
import type { Input, ToolAnswer } from "./inputs.ts";
import { ownResult } from "./results.ts";
import { targetOf } from "./targets.ts";
import type { CallState, RunState } from "./state.ts";

type Answer = Extract<Input, { type: "tool_answered" }>;
type UnknownReason = "interrupted" | "timeout" | "ambiguous" | "cancelled" | "attempts_exhausted" | "window_passed";

/** Why nobody knows; `payload` is what a read then tells the model, `error` what an unknown call tells the people. */
interface Doubt {
  readonly reason: UnknownReason;
  readonly payload: ToolResult;
  readonly repeatable: boolean;
  readonly error?: ToolError;
}

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
      return mayHaveHappened(draft, run, call, result);
    case "absent":
      return absent(draft, run, call);
  }
}

function refused(draft: Draft, run: RunState, call: CallState, result: Extract<ToolAnswer, { kind: "failed" }>): void {
  const { payload, proof } = result;
  // After an attempt that may have acted, a refusal proves something only where it speaks for the key.
  const speaksForKey = proof === "definitive" && (call.answersForKey || call.mode === "probe");
  if (call.effect === "read" || !call.ambiguous || speaksForKey) return finish(draft, run, call, "failed", payload);
  // The same question would get the same refusal; but what never left the house may still get through.
  const repeatable = proof === "not_sent";
  mayHaveHappened(draft, run, call, { ...said(payload.error), reason: "ambiguous", payload, repeatable });
}

function absent(draft: Draft, run: RunState, call: CallState): void {
  if (call.mode !== "probe") {
    // Only a probe may say so. From a call that was sent it is no proof of anything.
    const payload = ownResult(run, call, "tool_contract_violated");
    return mayHaveHappened(draft, run, call, {
      ...said(payload.error),
      reason: "ambiguous",
      payload,
      repeatable: false,
    });
  }
  // The probe says: never arrived. So it may be sent, with the same key; but not while the run is being stopped.
  if (run.halt) finish(draft, run, call, "cancelled", ownResult(run, call, "cancelled"));
  else if (isSpent(call)) becomeUnknown(draft, run, call, "attempts_exhausted");
  else startAttempt(draft, run, call, "execute");
}

/** It may have happened: what follows is the effect class's. While a stop settles nothing is repeated or probed. */
export function mayHaveHappened(draft: Draft, run: RunState, call: CallState, doubt: Doubt): void {
  const { reason, repeatable, error, payload } = doubt;
  if (run.halt) return settleCall(draft, run, call.id);
  const wait = backoff(run, call, reason);
  switch (call.effect) {
    case "read":
      if (repeatable && call.attempt < ATTEMPTS.read) return startAttempt(draft, run, call, "execute", wait);
      return finish(draft, run, call, "failed", payload);
    case "once":
      return becomeUnknown(draft, run, call, reason, error);
    case "idempotent":
    case "probeable":
      if (!repeatable) return becomeUnknown(draft, run, call, reason, error);
      if (isSpent(call)) return becomeUnknown(draft, run, call, "attempts_exhausted", error);
      if (call.effect === "probeable") return startAttempt(draft, run, call, "probe", wait);
      if (isForgotten(call, draft.now + wait)) return becomeUnknown(draft, run, call, "window_passed", error);
      return startAttempt(draft, run, call, "execute", wait);
  }
}

const isSpent = (call: CallState): boolean => call.repeats >= ATTEMPTS.repeatsOrProbes;

/** The other side may have forgotten the key by then, and would take a repeat for a new request. */
const isForgotten = (call: CallState, at: number): boolean => at - (call.firstStartedAt ?? at) >= call.dedupeWindowMs;

/** Doubles with each repeat. The first repeat after a crash does not wait: the crash was the wait. */
const backoff = ({ policy }: RunState, call: CallState, reason: UnknownReason): number =>
  reason === "interrupted" && call.repeats === 0 ? 0 : policy.backoffMs * 2 ** Math.min(call.repeats, 5);

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

function becomeUnknown(draft: Draft, run: RunState, call: CallState, reason: UnknownReason, error?: ToolError): void {
  const { incarnation } = draft;
  const data = { toolCallId: call.id, attempt: call.attempt, reason, incarnation, ...said(error) };
  draft.emit("tool_call.became_unknown", SYSTEM, data, run.id);
}

const said = (error: ToolError | undefined) => (error === undefined ? {} : { error });

/** An answer that nobody waits for any more is recorded for people, and changes neither run nor transcript. */
function late(draft: Draft, input: Answer): void {
  const target = targetOf(draft.state, input.effectId);
  const { result, attempt, incarnation } = input;
  if (!target || result.kind === "absent" || result.kind === "ambiguous" || attempt > target.call.attempt) return;
  if (target.call.state === "succeeded" || target.call.state === "failed") return;
  const data = { toolCallId: target.call.id, attempt, incarnation, payload: result.payload };
  draft.emit("tool_call.late_result", SYSTEM, data, target.run.id);
}
