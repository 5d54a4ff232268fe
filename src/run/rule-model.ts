/** A model's answer, or its failure. Only the attempt that is outstanding now counts (**I5**). */
import { ATTEMPTS, DURATIONS } from "../protocol/limits.ts";
import { toolCallIdOf } from "../protocol/ids.ts";
import type { Usage } from "../protocol/run.ts";
import { stopOf } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import { agentOf, SYSTEM, type Draft } from "./draft.ts";
import { completeMessage, endRun, settleCall, shownText } from "./ending.ts";
import type { Input, ModelResult, PartialText, PreparedCall, PreparedReady, TextBody } from "./inputs.ts";
import { sayLimit } from "./limits.ts";
import { ownResult } from "./results.ts";
import { NO_USAGE, type RunState, type StepState } from "./state.ts";

type Answer = Extract<Input, { type: "model_answered" }>;
type Answered = Extract<ModelResult, { kind: "answered" }>;
type Failed = Extract<ModelResult, { kind: "failed" }>;

export function modelAnswered(draft: Draft, input: Answer): void {
  const run = draft.state.active;
  const step = run?.step;
  if (!run || step?.phase !== "asking" || input.effectId !== `${run.id}.s${step.n}`) return;
  if (input.attempt !== step.attempt || input.incarnation !== draft.state.incarnation) return;
  const { result } = input;
  switch (result.kind) {
    case "answered":
      return answered(draft, run, step, result);
    case "failed":
      return modelFailed(draft, run, step, result);
    case "aborted":
      return aborted(draft, run, step, result);
    case "no_budget":
      return noBudget(draft, run, step, result);
  }
}

function answered(draft: Draft, run: RunState, step: StepState, result: Answered): void {
  const { verdict, text } = result;
  if (verdict === "empty" && step.emptyAnswers < ATTEMPTS.emptyAnswers && !run.halt) {
    return supersede(draft, run, step, "empty_answer", result);
  }
  const whole = verdict === "plan" || verdict === "final" || verdict === "truncated_calls";
  completeMessage(draft, run, text, whole ? "complete" : "incomplete", whole ? result.reasoning : undefined);
  finishStep(draft, run, step, result);
  if (run.halt) {
    propose(draft, run, step, result.calls);
    for (const call of draft.run.calls) settleCall(draft, draft.run, call.id);
    return;
  }
  switch (verdict) {
    case "plan":
      return propose(draft, run, step, result.calls);
    case "final":
      return endRun(draft, draft.run, stopOf("final_answer", "The model answered."));
    case "truncated_calls":
      propose(
        draft,
        run,
        step,
        result.calls.map((call, i) => truncated(draft, run, call, i)),
      );
      if (draft.run.truncations > 1) endRun(draft, draft.run, TRUNCATED);
      return;
    case "truncated_text":
      return endRun(draft, draft.run, TRUNCATED);
    case "refused":
      return endRun(draft, draft.run, stopOf("model_refused", "The model, or its provider's filter, refused."));
    case "empty":
      return endRun(draft, draft.run, stopOf("model_protocol_error", "The model answered nothing, twice."));
  }
}

const TRUNCATED = stopOf("output_truncated", "The model's answer was cut at its length limit.");

function truncated(draft: Draft, run: RunState, call: PreparedCall, index: number): PreparedCall {
  const id = toolCallIdOf(run.id, draft.run.callCount + 1 + index);
  const { tool, fingerprint } = call;
  const payload = ownResult(run, { id, tool }, "output_truncated");
  return { kind: "refused", tool, fingerprint, payload, modelArgs: {} };
}

/** Also what a step's deadline makes of it. An answer of which something was shown is never asked for again. */
export function modelFailed(draft: Draft, run: RunState, step: StepState, result: Failed): void {
  const shown = result.text.text !== "";
  const { retryable, retryAfterMs, code } = result.stop;
  // Who is to wait is told how long; to ask at once would be what the provider has just refused.
  const wait = retryAfterMs !== undefined || code === "model_rate_limited";
  const again = retryable && !wait && !shown && step.retries < run.policy.modelRetries;
  if (again && !run.halt) return supersede(draft, run, step, "retry", result);
  completeMessage(draft, run, result.text, "incomplete");
  finishStep(draft, run, step, result);
  if (run.halt) return;
  // The transcript is cut where the log has a run that ended so; this says it to people, in the same commit.
  if (code === "context_too_long" && result.leavesOut) {
    draft.emit("context.trimmed", SYSTEM, { messages: result.leavesOut, reason: code }, run.id);
  }
  endRun(draft, draft.run, result.stop);
}

/**
 * Nobody wants it any more: after a stop, what was shown is kept. Without a stop something outside ended the request,
 * which is what a crash is too.
 */
function aborted(
  draft: Draft,
  run: RunState,
  step: StepState,
  result: Extract<ModelResult, { kind: "aborted" }>,
): void {
  if (!run.halt) return interrupt(draft, run, step, result);
  completeMessage(draft, run, result.text, "incomplete");
  finishStep(draft, run, step, { ...result, finishReason: null });
}

/** The attempt was lost and is asked anew, but not for ever: something may be wrong with what is asked. */
export function interrupt(
  draft: Draft,
  run: RunState,
  step: StepState,
  lost: { readonly text: TextBody; readonly usage?: Usage; readonly unstored?: true },
): void {
  if (step.supersessions < ATTEMPTS.modelSupersessions) return supersede(draft, run, step, "interrupted", lost);
  loseStep(draft, run, step, lost);
  endRun(draft, draft.run, lost.unstored ? UNSTORED : INTERRUPTED);
}

const INTERRUPTED = stopOf("model_interrupted", "The model was interrupted too often while it answered.");
/** A fault of our storage is never told as one of the model. */
export const UNSTORED = stopOf("internal", "The model answered, and its answer could not be stored.");

/** A step that gets no answer any more: what it showed is kept, what it cost is booked as far as it is known. */
export function loseStep(
  draft: Draft,
  run: RunState,
  step: StepState,
  lost: { readonly text: TextBody; readonly usage?: Usage },
): void {
  completeMessage(draft, run, lost.text, "incomplete");
  finishStep(draft, run, step, { finishReason: null, usage: lost.usage ?? UNKNOWN_USAGE });
}

/** What is known of an attempt that died with its life. */
export const lostBy = (step: StepState, partial: PartialText | undefined, usage: Usage | undefined) => ({
  text: shownText(step, partial),
  ...(usage === undefined ? {} : { usage }),
});

export const UNKNOWN_USAGE: Usage = { ...NO_USAGE, estimated: true };

function noBudget(
  draft: Draft,
  run: RunState,
  step: StepState,
  result: Extract<ModelResult, { kind: "no_budget" }>,
): void {
  const { n, attempt } = step;
  draft.emit("step.superseded", SYSTEM, { n, attempt, reason: "budget", incarnation: draft.incarnation }, run.id);
  if (run.halt) return;
  const expiresAt = run.budget?.expiresAt ?? draft.now + DURATIONS.budgetWaitMs;
  if (expiresAt <= draft.now) return endWithoutBudget(draft);
  draft.emit(
    "budget.awaited",
    SYSTEM,
    {
      expiresAt: isoOf(expiresAt),
      reason: result.reason,
      ...(result.retryAt === undefined ? {} : { retryAt: isoOf(Math.max(result.retryAt, draft.now + 1)) }),
    },
    run.id,
  );
}

/** Told in the conversation whose call has used it up, as long as the run lives also as that run's. */
export function budgetWarned(draft: Draft, { percent, scope }: Extract<Input, { type: "budget_warned" }>): void {
  if (!draft.state.identity || draft.state.deleted) return;
  draft.emit("budget.warned", SYSTEM, { percent, scope }, draft.state.active?.id);
}

export function endWithoutBudget(draft: Draft): void {
  sayLimit(draft, "budget_exhausted", {});
  endRun(draft, draft.run, stopOf("budget_exhausted", "No budget came within the time that a run waits."));
}

function supersede(
  draft: Draft,
  run: RunState,
  step: StepState,
  reason: "empty_answer" | "retry" | "interrupted",
  { usage }: { readonly usage?: Usage },
): void {
  const { n, attempt } = step;
  const { incarnation } = draft;
  const cost = usage === undefined ? {} : { usage };
  draft.emit("step.superseded", SYSTEM, { n, attempt, reason, incarnation, ...cost }, run.id);
}

type Finished = Pick<Answered, "finishReason" | "usage" | "timing"> & { readonly request?: Answered["request"] };

function finishStep(draft: Draft, run: RunState, step: StepState, result: Finished): void {
  draft.emit(
    "step.finished",
    agentOf(draft.state),
    {
      n: step.n,
      attempt: step.attempt,
      finishReason: result.finishReason,
      usage: result.usage,
      ...(result.timing ? { timing: result.timing } : {}),
      ...(result.request ? { request: result.request } : {}),
    },
    run.id,
  );
}

/** The plan: committed whole before anything of it is dispatched, so that a crash never asks for it again. */
function propose(draft: Draft, run: RunState, step: StepState, calls: readonly PreparedCall[]): void {
  const first = draft.run.callCount + 1;
  const by = agentOf(draft.state);
  calls.forEach((call, index) => {
    const toolCallId = toolCallIdOf(run.id, first + index);
    if (call.kind === "refused") {
      const { kind: _, ...refusal } = call;
      draft.emit("tool_call.refused", SYSTEM, { toolCallId, step: step.n, ...refusal }, run.id);
      return;
    }
    const { kind: _, ...ready } = call;
    draft.emit("tool_call.proposed", by, { toolCallId, step: step.n, ...ready }, run.id);
    if (call.gate && !run.halt) request(draft, run, toolCallId, call);
  });
}

function request(draft: Draft, run: RunState, toolCallId: string, call: PreparedReady): void {
  if (!call.gate) return;
  const { tool, title, effect, args, argsDigest, expect, preview, gate } = call;
  draft.emit(
    "confirmation.requested",
    SYSTEM,
    {
      toolCallId,
      tool,
      title,
      effect,
      args,
      argsDigest,
      ...(expect === undefined ? {} : { expect }),
      ...(preview === undefined ? {} : { preview }),
      gate,
      expiresAt: isoOf(draft.now + gate.expiresInMs),
      allowed: ["approve", "edit", "reject"],
    },
    run.id,
  );
}
