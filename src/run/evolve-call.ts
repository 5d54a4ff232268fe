/** The fold of one tool call. */
import type { Event, EventOf } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import { epochOf } from "../protocol/time.ts";
import type { CallState } from "./state.ts";

export function proposedCall(event: EventOf<"tool_call.proposed">): CallState {
  const data = event.data;
  return {
    n: numberOf(data.toolCallId),
    id: data.toolCallId,
    step: data.step,
    tool: data.tool,
    title: data.title,
    effect: data.effect,
    args: data.args,
    argsDigest: data.argsDigest,
    toolDigest: data.toolDigest,
    expect: data.expect,
    gate: data.gate,
    preview: data.preview ?? null,
    idempotencyKey: data.idempotencyKey,
    scope: data.scope ?? null,
    fingerprint: data.fingerprint,
    timeoutMs: data.timeoutMs,
    dedupeWindowMs: data.dedupeWindowMs,
    answersForKey: data.answersForKey,
    reversible: data.reversible,
    undo: data.undo ?? null,
    state: "proposed",
    attempt: 0,
    mode: null,
    firstStartedAt: null,
    deadlineAt: null,
    notBefore: null,
    ambiguous: false,
    repeats: 0,
    expiresAt: null,
    decisions: [],
    closed: data.gate === null,
    expiredUndecided: false,
    resolution: null,
    deniedAttempt: 0,
  };
}

export function evolveCall(call: CallState, event: Event, at: number): CallState {
  if (!("toolCallId" in event.data) || event.data.toolCallId !== call.id) return call;
  switch (event.type) {
    case "confirmation.requested": {
      const { args, argsDigest, expect, preview, gate, expiresAt } = event.data;
      return {
        ...call,
        state: "awaiting_confirmation",
        args,
        argsDigest,
        expect,
        preview: preview ?? null,
        gate,
        expiresAt: epochOf(expiresAt),
      };
    }
    case "confirmation.decided":
      return decided(call, event);
    case "confirmation.expired":
      return { ...call, state: "expired", closed: true, expiredUndecided: event.data.reason === "undecided" };
    case "tool_call.started": {
      const { mode, attempt, deadlineAt, notBefore } = event.data;
      const again = call.attempt > 0 && call.state === "executing";
      return {
        ...call,
        state: "executing",
        mode,
        attempt,
        firstStartedAt: call.firstStartedAt ?? at,
        deadlineAt: epochOf(deadlineAt),
        notBefore: notBefore === undefined ? null : epochOf(notBefore),
        ambiguous: call.ambiguous || again,
        repeats: again ? call.repeats + 1 : call.repeats,
      };
    }
    case "tool_call.finished":
      return { ...call, state: event.data.state, closed: true, mode: null, deadlineAt: null, notBefore: null };
    case "tool_call.became_unknown":
      return { ...call, state: "unknown", ambiguous: true, mode: null, deadlineAt: null, notBefore: null };
    case "tool_call.resolved": {
      const { outcome, by, state } = event.data;
      const approved = state === "approved";
      return {
        ...call,
        state,
        // A fresh approval starts anew: the person said that nothing happened, so a later unknown is a new question.
        resolution: approved ? null : { outcome, by, at: event.at },
        ...(approved
          ? { ambiguous: false, repeats: 0, expiresAt: null, firstStartedAt: null, deniedAttempt: call.attempt }
          : {}),
      };
    }
    default:
      return call;
  }
}

function decided(call: CallState, event: EventOf<"confirmation.decided">): CallState {
  const { by, decision, argsDigest, args, expect, preview, reason, closed, voided } = event.data;
  const record = {
    decision,
    by,
    at: event.at,
    argsDigest,
    ...(reason === undefined ? {} : { reason }),
    ...(voided === undefined ? {} : { voided }),
  };
  // An edit makes earlier approvals worthless: they were given to other arguments.
  const earlier =
    decision === "edit"
      ? call.decisions.map((one) => (one.decision === "reject" ? one : { ...one, voided: true }))
      : call.decisions;
  const edited =
    decision === "edit" && args !== undefined ? { args, argsDigest, expect, preview: preview ?? null } : {};
  return {
    ...call,
    ...edited,
    decisions: [...earlier, record],
    closed,
    state: !closed ? "awaiting_confirmation" : decision === "reject" ? "rejected" : "approved",
  };
}
