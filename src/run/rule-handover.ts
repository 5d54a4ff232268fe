/** Hand-over belongs to the conversation: a person takes over, answers in it, and hands back. */
import type { Command } from "../protocol/commands.ts";
import { messageIdOf } from "../protocol/ids.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { may, SCOPES } from "../protocol/roles.ts";
import { isoOf } from "../protocol/time.ts";
import { checkVisible, isOperator, roleOf } from "./authority.ts";
import { userBy, type Draft } from "./draft.ts";

/** With the operator's scope it accepts; for a participant who may start runs it is the request for a person. */
export function takeOver(draft: Draft, principal: Principal): Rejection | null {
  const { state } = draft;
  const hidden = checkVisible(state, principal);
  if (hidden) return hidden;
  const operates = principal.scopes.includes(SCOPES.handoverOperate);
  if (!operates) return requestHandover(draft, principal);
  if (state.handover.state === "active") {
    return state.handover.operator === principal.userId ? null : reject("handed_over", "Another operator has it.");
  }
  const by = { kind: "operator", id: principal.userId } as const;
  draft.emit("handover.accepted", by, { operator: principal.userId });
  const { active } = draft.state;
  // A model call in flight is taken back and will be asked anew; tools in flight finish.
  if (active?.step?.phase === "asking" && !active.halt) {
    const { n, attempt } = active.step;
    const { incarnation } = draft;
    draft.emit("step.superseded", by, { n, attempt, reason: "handover", incarnation }, active.id);
  }
  return null;
}

function requestHandover(draft: Draft, principal: Principal): Rejection | null {
  const { state } = draft;
  if (!may(roleOf(state, principal), "start_runs")) return reject("forbidden", "Your role does not allow this.");
  if (state.handover.state === "active") return reject("handed_over", "An operator has it already.");
  if (state.handover.state === "none") {
    draft.emit("handover.requested", userBy(principal), { reason: "requested_by_user" });
  }
  return null;
}

export function sayAsOperator(
  draft: Draft,
  command: Extract<Command, { type: "say_as_operator" }>,
  principal: Principal,
): Rejection | null {
  const { state } = draft;
  const refused = checkOperating(draft, principal);
  if (refused) return refused;
  const by = { kind: "operator", id: principal.userId } as const;
  const message = {
    id: messageIdOf(state.identity?.conversationId ?? "", state.messageCount + 1),
    ...(state.active ? { runId: state.active.id } : {}),
    role: "operator",
    by,
    parts: [{ type: "text" as const, text: command.body.text }],
    status: "complete",
    seq: state.seq + 1,
    createdAt: isoOf(draft.now),
  } as const;
  draft.emit("message.created", by, { message: { ...message, parts: [...message.parts] } }, state.active?.id);
  return null;
}

export function releaseHandover(draft: Draft, principal: Principal): Rejection | null {
  const hidden = checkVisible(draft.state, principal);
  if (hidden) return hidden;
  if (draft.state.handover.state === "none") return null;
  const owner = may(roleOf(draft.state, principal), "manage");
  const refused = owner ? null : checkOperating(draft, principal);
  if (refused) return refused;
  const operates = draft.state.handover.operator === principal.userId;
  const by = operates ? ({ kind: "operator", id: principal.userId } as const) : userBy(principal);
  draft.emit("handover.released", by, { operator: principal.userId, state: "none" });
  return null;
}

function checkOperating(draft: Draft, principal: Principal): Rejection | null {
  const { state } = draft;
  const hidden = checkVisible(state, principal);
  if (hidden) return hidden;
  if (!isOperator(state, principal)) return reject("forbidden", "Only the operator may do this.");
  if (state.handover.state !== "active") return reject("not_interrupted", "Take the conversation over first.");
  return state.handover.operator === principal.userId ? null : reject("handed_over", "Another operator has it.");
}
