/** How a run ends: exactly one terminal event, its last (**I12**), with what it cost and what had been done by then. */
import { messageIdOf } from "../protocol/ids.ts";
import type { MessagePart } from "../protocol/message.ts";
import { STOPS, type Stop, type StopCode } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import type { By } from "../protocol/principal.ts";
import { agentOf, SYSTEM, type Draft } from "./draft.ts";
import type { PartialText, TextBody } from "./inputs.ts";
import type { RunState, StepState } from "./state.ts";
import { sideEffectsOf } from "./views.ts";
import { hasEnded, isSideEffecting } from "./status.ts";
import { ownResult } from "./results.ts";

const TERMINAL = { completed: "run.completed", failed: "run.failed", cancelled: "run.cancelled" } as const;

/** Ends this run (active, or still queued). Calls that wait for nobody any more are cancelled first. */
export function endRun(draft: Draft, run: RunState, stop: Stop, by: By = run.halt?.by ?? SYSTEM): void {
  for (const call of run.calls) if (!hasEnded(call)) settleCall(draft, run, call.id);
  const now = draft.state.active?.id === run.id ? draft.run : run;
  draft.emit(
    TERMINAL[STOPS[stop.code].status],
    by,
    {
      stop,
      usage: now.usage,
      sideEffects: sideEffectsOf(now),
      needsConfirmation: false,
      steps: now.steps,
    },
    run.id,
  );
}

/**
 * A stop reaches this call. What was never sent is cancelled; a side-effecting call that is (or was) out without an
 * answer is unknown, and says so; an unknown one stays as it is, for a person to resolve later.
 */
export function settleCall(draft: Draft, run: RunState, callId: string): void {
  const call = draft.run.calls.find(({ id }) => id === callId);
  if (!call || call.state === "unknown" || hasEnded(call)) return;
  const sent = call.state === "executing" || call.ambiguous;
  if (sent && isSideEffecting(call)) {
    draft.emit(
      "tool_call.became_unknown",
      SYSTEM,
      { toolCallId: call.id, attempt: call.attempt, reason: "cancelled", incarnation: draft.incarnation },
      run.id,
    );
    return;
  }
  const payload = ownResult(run, call, "cancelled");
  draft.emit(
    "tool_call.finished",
    SYSTEM,
    { toolCallId: call.id, state: "cancelled", attempt: call.attempt, payload },
    run.id,
  );
}

/** The assistant's text of a step, as the message that people read. Nothing is emitted where there is no text. */
export function completeMessage(
  draft: Draft,
  run: RunState,
  text: TextBody,
  status: "complete" | "incomplete",
  reasoning?: string,
): void {
  const { step } = run;
  if (!step || (text.text === "" && !reasoning)) return;
  const parts: MessagePart[] = [];
  if (reasoning) parts.push({ type: "reasoning", text: reasoning });
  if (text.text !== "") {
    parts.push({ type: "text", text: text.text, ...(text.excerptOf ? { excerptOf: text.excerptOf } : {}) });
  }
  if (text.text === "" && status === "incomplete") return;
  say(draft, run, step.messageId, parts, status, step.n);
}

/** One of our own sentences in the conversation: the code and its parameters; the reader's language renders it. */
export function notice(draft: Draft, run: RunState, code: StopCode, params: Record<string, string | number>): void {
  const id = messageIdOf(draft.state.identity?.conversationId ?? "", draft.state.messageCount + 1);
  say(draft, run, id, [{ type: "notice", code, params }], "complete");
}

function say(
  draft: Draft,
  run: RunState,
  id: string,
  parts: MessagePart[],
  status: "complete" | "incomplete",
  step?: number,
): void {
  const by = agentOf(draft.state);
  const seq = draft.state.seq + 1;
  const message = {
    id,
    runId: run.id,
    role: "assistant",
    by,
    parts,
    status,
    seq,
    createdAt: isoOf(draft.now),
  } as const;
  draft.emit("message.completed", by, { message, ...(step === undefined ? {} : { step }) }, run.id);
}

/** The text that this attempt of this step has shown so far; of any other attempt nothing is kept. */
export const shownText = (step: StepState, partial: PartialText | undefined): TextBody =>
  partial?.messageId === step.messageId && partial.attempt === step.attempt ? partial : { text: "" };
