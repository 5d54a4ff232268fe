/** The state as the wire shows it. Pure projections: they decide nothing and store nothing. */
import type { Conversation } from "../protocol/conversation.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { By } from "../protocol/principal.ts";
import type { Role } from "../protocol/roles.ts";
import type { Run } from "../protocol/run.ts";
import { isoOf } from "../protocol/time.ts";
import type { DecisionRecord, PendingCall, SideEffect, ToolCall } from "../protocol/tool-call.ts";
import type { CallState, RunState, State } from "./state.ts";
import { isAwaiting, isSideEffecting, pendingCalls, phaseOf, statusOf, waitsFor } from "./status.ts";

export const userOf = (run: RunState): By => ({ kind: "user", id: run.principal.userId });

export function allowedOf(call: CallState): ToolCall["allowed"] {
  return isAwaiting(call) ? ["approve", "edit", "reject"] : [];
}

export function pendingView(run: RunState, call: CallState): PendingCall {
  return {
    id: call.id,
    runId: run.id,
    tool: call.tool,
    title: call.title,
    argsDigest: call.argsDigest,
    effect: call.effect,
    state: call.state,
    attempt: call.attempt,
    ...(call.expiresAt === null ? {} : { expiresAt: isoOf(call.expiresAt) }),
    allowed: allowedOf(call),
  };
}

export function callView(run: RunState, call: CallState): ToolCall {
  return {
    ...pendingView(run, call),
    args: call.args,
    ...(call.preview ? { preview: call.preview } : {}),
    decisions: [...call.decisions] as DecisionRecord[],
    ...(call.resolution ? { resolution: call.resolution } : {}),
  };
}

export const mayHaveActed = (state: CallState["state"]): boolean =>
  state === "succeeded" || state === "unknown" || state === "executing";

/** What had been done, or may have been done, when the run ended: never a call that is proved not to have acted. */
export function sideEffectsOf(run: RunState): SideEffect[] {
  return (
    run.calls
      .filter((call) => isSideEffecting(call) && call.attempt > 0)
      .filter((call) => mayHaveActed(call.state))
      // Bounded, because the terminal event is; the doubtful ones are the ones that somebody must look at.
      .toSorted((a, b) => Number(b.state === "unknown") - Number(a.state === "unknown"))
      .slice(0, LIMITS.sideEffectsListed)
      .toSorted((a, b) => a.n - b.n)
      .map((call) => ({
        toolCallId: call.id,
        tool: call.tool,
        state: call.state,
        reversible: call.reversible,
        ...(call.undo === null ? {} : { undo: call.undo }),
      }))
  );
}

export function runView(state: State, run: RunState): Run {
  const phase = phaseOf(state, run);
  const position = run.startedAt === null && !run.stop ? state.queue.findIndex(({ id }) => id === run.id) + 1 : 0;
  return {
    id: run.id,
    conversationId: state.identity?.conversationId ?? "",
    agent: state.identity?.agent ?? "",
    agentDigest: run.agentDigest,
    status: statusOf(state, run),
    ...(phase === null ? {} : { phase }),
    waitsFor: waitsFor(state, run),
    needsConfirmation: !run.stop && run.calls.some(isAwaiting),
    ...(position > 0 ? { position } : {}),
    ...(position > 0 && state.active ? { blockedBy: blockedBy(state, state.active) } : {}),
    ...(run.halt ? { cancelRequestedAt: isoOf(run.halt.requestedAt) } : {}),
    ...(run.stop ? { stop: run.stop } : {}),
    input: run.input,
    ...(Object.keys(run.metadata).length > 0 ? { metadata: run.metadata } : {}),
    by: userOf(run),
    createdAt: isoOf(run.createdAt),
    ...(run.startedAt === null ? {} : { startedAt: isoOf(run.startedAt) }),
    ...(run.finishedAt === null ? {} : { finishedAt: isoOf(run.finishedAt) }),
    ...(run.deadlineAt === null ? {} : { deadlineAt: isoOf(run.deadlineAt) }),
    steps: run.steps,
    usage: run.usage,
    pending: pendingCalls(run).map((call) => callView(run, call)),
    sideEffects: sideEffectsOf(run),
    ...(run.retryOf === null ? {} : { retryOf: run.retryOf }),
  };
}

export function blockedBy(state: State, run: RunState): { runId: string; phase?: NonNullable<Run["phase"]> } {
  const phase = phaseOf(state, run);
  return { runId: run.id, ...(phase === null ? {} : { phase }) };
}

export function conversationView(state: State, role: Role): Conversation {
  const { identity, active } = state;
  const { operator } = state.handover;
  const pending = active ? pendingCalls(active).map((call) => callView(active, call)) : [];
  return {
    id: identity?.conversationId ?? "",
    agent: identity?.agent ?? "",
    title: state.title ?? "",
    role,
    metadata: identity?.metadata ?? {},
    createdAt: isoOf(state.createdAt),
    updatedAt: isoOf(state.updatedAt),
    archived: state.archived,
    headCursor: cursorOf(identity?.generation ?? "00000000", state.seq),
    activeRun: active && runView(state, active),
    queued: state.queue.map((run) => runView(state, run)),
    needsConfirmation: pending.some((call) => call.state === "awaiting_confirmation"),
    pending,
    handover: { state: state.handover.state, ...(operator === null ? {} : { operator }) },
    participants: state.participants.map(({ userId, role: theirs }) => ({ userId, role: theirs })),
  };
}
