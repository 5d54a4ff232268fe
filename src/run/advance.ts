/**
 * What follows by itself. After the events of an input, `advance` emits whatever the new state makes due, until nothing
 * is: calls start, the model is asked again, a settled stop ends its run, the next queued run starts (**I3**, **I13**).
 * Rules say only what happened; consequences are here, once, whatever led to them.
 */
import { PARALLEL_READS } from "../protocol/limits.ts";
import { messageIdOf } from "../protocol/ids.ts";
import { stopOf } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import type { MessagePart } from "../protocol/message.ts";
import { stillApproved } from "./approval.ts";
import { SYSTEM, agentOf, type Draft } from "./draft.ts";
import { endRun } from "./ending.ts";
import { endAsTripped, outOfTime, trip, tripped } from "./limits.ts";
import { ownResult } from "./results.ts";
import type { CallState, RunState } from "./state.ts";
import { hasEnded, isAwaiting, isSideEffecting, isUnresolved, pendingCalls, statusOf, waitsFor } from "./status.ts";
import { pendingView, userOf } from "./views.ts";

export function advance(draft: Draft): void {
  while (once(draft)) continue;
  markEdge(draft);
}

/** One consequence; false when there is none left. Terminates: each one moves a call, a step or a run forward. */
function once(draft: Draft): boolean {
  const run = draft.state.active;
  if (!run) return startNext(draft);
  if (run.halt) return endIfSettled(draft, run);
  if (draft.state.handover.state === "active" || run.continuation || run.budget?.waiting) return false;
  // While the tenant is paused nothing starts, but what has come to its end ends.
  if (!draft.state.paused && startCall(draft, run)) return true;
  if (!run.calls.every(hasEnded)) return false;
  return nextStep(draft, run);
}

function startNext(draft: Draft): boolean {
  const { state } = draft;
  const [run] = state.queue;
  if (!run || state.deleted || state.paused || state.handover.state === "active") return false;
  draft.emit("run.started", SYSTEM, { deadlineAt: isoOf(draft.now + run.limits.maxRunMs) }, run.id);
  if (!run.continues) sayAsUser(draft, run);
  return true;
}

function sayAsUser(draft: Draft, run: RunState): void {
  const { state } = draft;
  const conversationId = state.identity?.conversationId ?? "";
  const parts: MessagePart[] = [{ type: "text", text: run.input.text }];
  const by = userOf(run);
  const message = {
    id: messageIdOf(conversationId, state.messageCount + 1),
    runId: run.id,
    role: "user",
    by,
    parts,
    status: "complete",
    seq: state.seq + 1,
    createdAt: isoOf(draft.now),
  } as const;
  draft.emit("message.created", by, { message: { ...message, parts } }, run.id);
}

/** A stop has settled when nothing of its run is out any more. */
function endIfSettled(draft: Draft, run: RunState): boolean {
  const out = run.step?.phase === "asking" || run.calls.some((call) => call.state === "executing");
  if (out || !run.halt) return false;
  const { code, reason, requestedAt } = run.halt;
  if (code === "deadline_exceeded") endAsTripped(draft, outOfTime(run, requestedAt));
  else endRun(draft, run, stopOf(code, reason ?? DETAILS[code] ?? "The run was stopped."));
  return true;
}

const DETAILS: Partial<Record<string, string>> = {
  cancelled_by_user: "A person cancelled the run.",
  replaced: "A newer message replaced the run.",
  conversation_deleted: "The conversation was erased.",
  deactivated: "The user or tenant was deactivated.",
};

/**
 * Ungated calls start at once, gated ones when every confirmation of the step is closed. Reads run at most four at a
 * time, side-effecting calls one at a time in call order, and none while the outcome of another is unknown.
 */
function startCall(draft: Draft, run: RunState): boolean {
  const open = run.calls.some(isAwaiting);
  const executing = run.calls.filter((call) => call.state === "executing");
  const reads = executing.filter((call) => !isSideEffecting(call)).length;
  const acting = executing.some(isSideEffecting) || run.calls.some(isUnresolved);
  const call = run.calls.find((one) => {
    if (one.state !== (one.gate === null && one.attempt === 0 ? "proposed" : "approved")) return false;
    if (one.gate !== null && open) return false;
    return isSideEffecting(one) ? !acting : reads < PARALLEL_READS;
  });
  if (!call) return false;
  const allowed = call.scope === null || run.principal.scopes.includes(call.scope);
  if (!allowed || !stillApproved(draft.state, run, call)) refuse(draft, run, call);
  else startAttempt(draft, run, call, "execute");
  return true;
}

function refuse(draft: Draft, run: RunState, call: CallState): void {
  const payload = ownResult(run, call, "scope_missing");
  const data = { toolCallId: call.id, state: "failed", attempt: call.attempt, payload } as const;
  draft.emit("tool_call.finished", SYSTEM, data, run.id);
}

/** The intent: committed before the tool is called, so that a crash in between can be told from one before. */
export function startAttempt(
  draft: Draft,
  run: RunState,
  call: CallState,
  mode: "execute" | "probe",
  backoffMs = 0,
): void {
  const notBefore = draft.now + backoffMs;
  markResumed(draft);
  draft.emit(
    "tool_call.started",
    agentOf(draft.state),
    {
      toolCallId: call.id,
      tool: call.tool,
      mode,
      attempt: call.attempt + 1,
      argsDigest: call.argsDigest,
      idempotencyKey: call.idempotencyKey,
      incarnation: draft.incarnation,
      deadlineAt: isoOf(notBefore + call.timeoutMs),
      ...(backoffMs > 0 ? { notBefore: isoOf(notBefore) } : {}),
    },
    run.id,
  );
}

function nextStep(draft: Draft, run: RunState): boolean {
  const { step } = run;
  if (step?.phase === "asking") return false;
  if (step?.phase === "paused") return !draft.state.paused && askAgain(draft, run);
  if (step && expiredUndecided(run)) {
    endRun(draft, run, stopOf("confirmation_expired", "Nobody decided in time."));
    return true;
  }
  const hit = tripped(draft.state, run);
  if (!hit && draft.state.paused) return false;
  if (hit) trip(draft, run, hit);
  else ask(draft, run, (step?.n ?? 0) + 1, 1, messageIdOf(conversationIdOf(draft), draft.state.messageCount + 1));
  return true;
}

const conversationIdOf = (draft: Draft) => draft.state.identity?.conversationId ?? "";

/** True when the step asked for confirmations and every one of them ran out without anybody's word. */
function expiredUndecided(run: RunState): boolean {
  const gated = run.calls.filter((call) => call.step === run.step?.n && call.gate !== null);
  return gated.length > 0 && gated.every((call) => call.expiredUndecided && call.decisions.length === 0);
}

function askAgain(draft: Draft, run: RunState): boolean {
  if (!run.step) return false;
  ask(draft, run, run.step.n, run.step.attempt + 1, run.step.messageId);
  return true;
}

export function ask(draft: Draft, run: RunState, n: number, attempt: number, messageId: string): void {
  markResumed(draft);
  draft.emit(
    "step.started",
    SYSTEM,
    {
      n,
      attempt,
      messageId,
      agentDigest: run.agentDigest,
      incarnation: draft.incarnation,
      deadlineAt: isoOf(draft.now + run.limits.maxModelMs),
    },
    run.id,
  );
}

/** `run.interrupted` and `run.resumed` mark the edges of the derived status; they set no status. */
function markEdge(draft: Draft): void {
  const run = draft.state.active;
  if (!run) return;
  if (statusOf(draft.state, run) !== "interrupted" || run.interrupted) return;
  const pending = pendingCalls(run).map((call) => pendingView(run, call));
  const data = { waitsFor: waitsFor(draft.state, run), pending, needsConfirmation: run.calls.some(isAwaiting) };
  draft.emit("run.interrupted", SYSTEM, data, run.id);
}

/** Whatever starts, resumes: only a start ends the wait of a run that goes on. */
function markResumed(draft: Draft): void {
  const { run } = draft;
  if (!run.interrupted) return;
  const left = Math.max(0, run.limits.maxRunMs - run.runningMs);
  draft.emit("run.resumed", SYSTEM, { deadlineAt: isoOf(draft.now + left) }, run.id);
}
