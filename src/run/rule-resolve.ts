/**
 * Saying what became of a call whose outcome is unknown. Somebody with the authority to approve it says so; in a run
 * that has ended it records, and never runs anything.
 */
import type { ResolutionRequest } from "../protocol/commands.ts";
import type { EventData } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { userBy, type Draft } from "./draft.ts";
import { happenedResult, ownResult } from "./results.ts";
import type { ResumeFacts } from "./inputs.ts";
import { finished, type Target } from "./targets.ts";
import type { CallState, RunState, State } from "./state.ts";
import { isUnresolved } from "./status.ts";

export function checkResolution(
  state: State,
  { call, whole }: Target,
  one: ResolutionRequest,
  facts: ResumeFacts,
): Rejection | null {
  const { resolution } = call;
  if (resolution) {
    const who = resolution.by.id ?? "Somebody";
    return reject("already_decided", `${who} resolved it (${resolution.outcome}) at ${resolution.at}.`, {
      extensions: { toolCallId: call.id, decidedBy: resolution.by, decidedAt: resolution.at },
    });
  }
  if (whole?.halt && !whole.stop) return reject("run_finished", "The run is ending.");
  if (!isUnresolved(call)) {
    return whole?.stop ? finished(state, whole) : reject("not_interrupted", "The call's outcome is not unknown.");
  }
  const past = checkAttempt(call, one);
  if (past) return past;
  if (one.outcome === "did_not_happen") {
    // In a run that has ended nothing runs again, so it does not matter what the tool has become.
    if (runsAgain(whole) && facts.toolDigests[call.id] !== call.toolDigest) {
      return reject("confirmation_stale", "The tool or its policy has changed since this was shown.");
    }
    if (one.argsDigest !== call.argsDigest) {
      return reject("digest_mismatch", "These are not the arguments that the call has.");
    }
  }
  const result = facts.results[call.id];
  if (one.outcome === "happened" && result && "invalid" in result) {
    const errors = [{ pointer: "/result", detail: result.invalid }];
    return reject("invalid_request", result.invalid, { errors });
  }
  return null;
}

/**
 * A word about an earlier attempt, late on its way, must not count for the one that was made since: "it did not happen"
 * would run again what has happened. Without a number it can be about that one only where nobody has said so before.
 */
function checkAttempt({ id, attempt, deniedAttempt }: CallState, one: ResolutionRequest): Rejection | null {
  const meant = one.attempt ?? (one.outcome === "did_not_happen" && deniedAttempt > 0 ? deniedAttempt : attempt);
  if (meant === attempt) return null;
  return reject("already_decided", `It is attempt ${attempt} whose outcome is unknown now; name it in attempt.`, {
    extensions: { toolCallId: id, attempt },
  });
}

export function applyResolution(
  draft: Draft,
  target: Target | null,
  one: ResolutionRequest,
  principal: Principal,
  facts: ResumeFacts,
): void {
  if (!target) return;
  const by = userBy(principal);
  draft.emit(
    "tool_call.resolved",
    by,
    { toolCallId: target.call.id, by, ...outcomeOf(target, one, facts) },
    target.run.id,
  );
}

const runsAgain = (whole: RunState | null): boolean => whole !== null && !whole.stop;

type Resolved = Pick<EventData<"tool_call.resolved">, "outcome" | "state" | "payload">;

function outcomeOf({ run, whole, call }: Target, one: ResolutionRequest, facts: ResumeFacts): Resolved {
  switch (one.outcome) {
    case "happened": {
      const given = facts.results[call.id];
      const payload = given && !("invalid" in given) ? given : happenedResult(run, call);
      return { outcome: "happened", state: "succeeded", payload };
    }
    case "did_not_happen": {
      // In a living run this is itself the fresh approval: the call starts again, with the same key.
      if (runsAgain(whole)) return { outcome: "did_not_happen", state: "approved" };
      return { outcome: "did_not_happen", state: "cancelled", payload: ownResult(run, call, "cancelled") };
    }
    case "give_up":
      return { outcome: "give_up", state: "unknown", payload: ownResult(run, call, "outcome_unknown") };
  }
}
