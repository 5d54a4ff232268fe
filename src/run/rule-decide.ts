/** Decisions on a confirmation. It binds one call and the digest of its arguments, and closes once (**I7**). */
import type { Decision } from "../protocol/commands.ts";
import type { Gate } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { isoOf } from "../protocol/time.ts";
import type { DecisionRecord } from "../protocol/tool-call.ts";
import { approvals, standing } from "./approval.ts";
import { SYSTEM, userBy, type Draft } from "./draft.ts";
import { ownResult } from "./results.ts";
import type { ResumeFacts } from "./inputs.ts";
import { finished, targetOf, type Target } from "./targets.ts";
import type { CallState, State } from "./state.ts";

export function checkDecision(
  state: State,
  { whole, call }: Target,
  one: Decision,
  principal: Principal,
  facts: ResumeFacts,
): Rejection | null {
  const decided = closingDecision(call) ?? sameAgain(call, one, principal);
  if (decided) return decidedAlready(call, decided);
  if (call.state === "expired") return reject("confirmation_expired", "The confirmation has expired.");
  if (whole?.stop) return finished(state, whole);
  if (!whole || whole.halt) return reject("run_finished", "The run is ending, or has ended.");
  if (call.state !== "awaiting_confirmation") return reject("not_interrupted", "The call waits for no decision.");
  if (facts.toolDigests[call.id] !== call.toolDigest) {
    return reject("confirmation_stale", "The tool or its policy has changed since this was shown.");
  }
  if (one.argsDigest !== call.argsDigest) {
    return reject("digest_mismatch", "These are not the arguments that the call has now.");
  }
  const edit = facts.edits[call.id];
  if (one.decision === "edit" && edit?.kind !== "ready") {
    const detail = edit?.detail ?? "The arguments were not accepted.";
    return reject("invalid_request", detail, { errors: [{ pointer: `/args${edit?.pointer ?? ""}`, detail }] });
  }
  return null;
}

/** The rejection, or the last approval of the quorum; null while it is open, or where it closed without a decision. */
function closingDecision(call: CallState): DecisionRecord | null {
  const given = approvals(call);
  const rejection = standing(call).find(({ decision }) => decision === "reject");
  return rejection ?? (given.length >= (call.gate?.quorum ?? Infinity) ? (given.at(-1) ?? null) : null);
}

/** One person is one approval. Taking it back by a rejection or an edit is possible while the question is open. */
const sameAgain = (call: CallState, one: Decision, principal: Principal): DecisionRecord | undefined =>
  one.decision === "approve" ? approvals(call).find(({ by }) => by.id === principal.userId) : undefined;

function decidedAlready(call: CallState, last: DecisionRecord): Rejection {
  return reject("already_decided", `${last.by.id ?? "Somebody"} decided (${last.decision}) at ${last.at}.`, {
    extensions: { toolCallId: call.id, decision: last.decision, decidedBy: last.by, decidedAt: last.at },
  });
}

export function applyDecision(draft: Draft, one: Decision, principal: Principal, facts: ResumeFacts): void {
  const target = targetOf(draft.state, one.toolCallId);
  const { gate } = target?.call ?? {};
  if (!target?.whole || !gate) return;
  const { whole: run, call } = target;
  const by = userBy(principal);
  const said = one.reason === undefined ? {} : { reason: one.reason };
  const base = { toolCallId: call.id, by, decision: one.decision, ...said };
  if (one.decision === "reject") {
    const payload = ownResult(run, call, "rejected", said);
    draft.emit(
      "confirmation.decided",
      by,
      { ...base, argsDigest: call.argsDigest, remaining: 0, closed: true, payload },
      run.id,
    );
    return;
  }
  if (one.decision === "approve") {
    const remaining = Math.max(0, gate.quorum - approvals(call).length - 1);
    draft.emit(
      "confirmation.decided",
      by,
      { ...base, argsDigest: call.argsDigest, remaining, closed: remaining === 0 },
      run.id,
    );
    return;
  }
  const edit = facts.edits[call.id];
  if (edit?.kind !== "ready") return;
  const again = edit.changed || asksForMore(gate, edit.gate);
  const remaining = again ? edit.gate.quorum : gate.quorum - 1;
  const shown = {
    args: edit.args,
    argsDigest: edit.argsDigest,
    ...(edit.expect === undefined ? {} : { expect: edit.expect }),
    ...(edit.preview === undefined ? {} : { preview: edit.preview }),
  };
  const voided = again ? { voided: true } : {};
  draft.emit("confirmation.decided", by, { ...base, ...shown, ...voided, remaining, closed: remaining === 0 }, run.id);
  if (!again) return;
  // Normalising made something else of it, or policy asks for more: nobody has seen that yet, so it is asked again.
  const { tool, title, effect } = call;
  const expiresAt = isoOf(draft.now + edit.gate.expiresInMs);
  draft.emit(
    "confirmation.requested",
    SYSTEM,
    {
      toolCallId: call.id,
      tool,
      title,
      effect,
      ...shown,
      gate: edit.gate,
      expiresAt,
      allowed: ["approve", "edit", "reject"],
    },
    run.id,
  );
}

/** Whether those who may agree to these arguments are fewer, or must be more, than for the ones before. */
function asksForMore(gate: Gate, edited: Gate): boolean {
  const fewer = edited.approvers && !(gate.approvers ?? []).every((role) => edited.approvers?.includes(role));
  const named = edited.approvers !== undefined && gate.approvers === undefined;
  return edited.quorum > gate.quorum || (gate.selfApproval && !edited.selfApproval) || named || fewer === true;
}
