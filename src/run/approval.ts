/** What a yes is worth: for the arguments that the call has now, and from somebody who may still give it. */
import { may } from "../protocol/roles.ts";
import type { DecisionRecord } from "../protocol/tool-call.ts";
import type { CallState, RunState, State } from "./state.ts";

export const standing = (call: CallState): DecisionRecord[] => call.decisions.filter(({ voided }) => voided !== true);

export const approvals = (call: CallState): DecisionRecord[] =>
  standing(call).filter((one) => one.decision !== "reject" && one.argsDigest === call.argsDigest);

/**
 * Asked again before the first attempt: people may have lost their place since they agreed. A repeat, or a call that
 * somebody said did not happen, goes on under the yes that it had.
 */
export function stillApproved(state: State, run: RunState, call: CallState): boolean {
  if (call.gate === null || call.attempt > 0) return true;
  const valid = approvals(call).filter(({ by }) => {
    const role = state.participants.find(({ userId }) => userId === by.id)?.role ?? null;
    return role !== null && (may(role, "decide") || by.id === run.principal.userId);
  });
  return valid.length >= call.gate.quorum;
}
