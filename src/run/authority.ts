/**
 * Who may, in the core: the place of a principal in this conversation, and the refusals that follow from it. A person
 * without a place learns nothing, not even that the conversation exists.
 */
import { may, SCOPES, startersMay, type Permission, type Role } from "../protocol/roles.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import type { CallState, RunState, State } from "./state.ts";

export const NOT_FOUND = reject("not_found", "There is no such thing, or it is not yours.");

export function roleOf(state: State, principal: Principal): Role | null {
  if (!state.identity || state.identity.tenantId !== principal.tenantId) return null;
  return state.participants.find(({ userId }) => userId === principal.userId)?.role ?? null;
}

/** An operator reaches a conversation only while its hand-over is requested or active. */
export const isOperator = (state: State, principal: Principal): boolean =>
  state.identity?.tenantId === principal.tenantId &&
  state.handover.state !== "none" &&
  principal.scopes.includes(SCOPES.handoverOperate);

/** null: go on. Erased conversations are gone for their owner and unknown to everybody else. */
export function checkVisible(state: State, principal: Principal): Rejection | null {
  const role = roleOf(state, principal);
  if (role === null && !isOperator(state, principal)) return NOT_FOUND;
  if (!state.deleted) return null;
  return role === "owner" ? reject("gone", "This conversation has been erased.") : NOT_FOUND;
}

export function checkPermission(state: State, principal: Principal, permission: Permission): Rejection | null {
  const hidden = checkVisible(state, principal);
  if (hidden) return hidden;
  return may(roleOf(state, principal), permission)
    ? null
    : reject("forbidden", "Your role in this conversation does not allow this.");
}

/** Cancel, retry, edit while queued: one's own run, or any where the role says so. */
export function checkRunControl(state: State, principal: Principal, starter: string): Rejection | null {
  const hidden = checkVisible(state, principal);
  if (hidden) return hidden;
  const own = starter === principal.userId && startersMay("control_any_run");
  if (own || may(roleOf(state, principal), "control_any_run")) return null;
  return reject("forbidden", "Only the run's starter or the conversation's owner may do this.");
}

/** The place alone: what is left to ask where the call itself is not held any more. */
export function checkPlace(state: State, principal: Principal, starter: string | null): Rejection | null {
  if (starter === principal.userId || may(roleOf(state, principal), "decide")) return null;
  return reject("forbidden", "Your role in this conversation does not allow deciding.");
}

/** Decide or resolve this call: place, scopes, the tool's own list of approvers, and whether one may approve oneself. */
export function checkAuthority(
  state: State,
  principal: Principal,
  run: Pick<RunState, "principal">,
  call: CallState,
): Rejection | null {
  const misplaced = checkPlace(state, principal, run.principal.userId);
  if (misplaced) return misplaced;
  const missing = [SCOPES.confirmationsDecide, call.scope].find(
    (scope) => scope !== null && !principal.scopes.includes(scope),
  );
  if (missing !== undefined) return reject("scope_missing", `The sign-in lacks the scope ${missing}.`);
  const { gate } = call;
  if (gate?.approvers && !gate.approvers.some((role) => principal.roles.includes(role))) {
    return reject("approval_not_allowed", `Only ${gate.approvers.join(", ")} may decide this call.`);
  }
  if (run.principal.userId === principal.userId && gate && !gate.selfApproval) {
    return reject("self_approval_forbidden", "The person who started the run may not decide this call.");
  }
  return null;
}
