/** The breakers: what is checked before a model call, and after a step's last tool call. */
import { DURATIONS } from "../protocol/limits.ts";
import type { LimitName } from "../protocol/run.ts";
import { stopOf, type StopCode } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import { endRun, notice } from "./ending.ts";
import type { RunState, State } from "./state.ts";

export interface Trip {
  readonly limit: LimitName;
  readonly figure: number;
  readonly bound: number;
  readonly code: StopCode;
}

/** The first limit that forbids another model call, in the order in which people can act on it; or null. */
export function tripped(state: State, run: RunState): Trip | null {
  const { limits, usage } = run;
  const worst = Math.max(0, ...run.failures.map(({ count }) => count));
  const checks: readonly (readonly [LimitName, number, StopCode])[] = [
    ["maxSameFailure", worst, "tool_circuit_open"],
    ["maxToolErrors", run.toolErrors, "tool_circuit_open"],
    ["maxSteps", run.steps, "step_limit"],
    ["maxRunTokens", usage.inputTokens + usage.outputTokens, "token_limit"],
    ["maxConversationTokens", state.tokens, "token_limit"],
  ];
  const hit = checks.find(([limit, figure]) => figure >= limits[limit]);
  return hit ? { limit: hit[0], figure: hit[1], bound: limits[hit[0]], code: hit[2] } : null;
}

/** Records the trip; the run then ends in the same commit, or asks where its agent says so. */
export function trip(draft: Draft, run: RunState, hit: Trip): void {
  const ask = run.policy.onLimit === "ask";
  draft.emit(
    "limit.tripped",
    SYSTEM,
    { ...hit, ask, ...(ask ? { expiresAt: isoOf(draft.now + DURATIONS.continuationMs) } : {}) },
    run.id,
  );
  if (!ask) endAsTripped(draft, hit);
}

export function endAsTripped(draft: Draft, hit: Trip): void {
  const { run } = draft;
  notice(draft, run, hit.code, { limit: hit.limit, figure: hit.figure, bound: hit.bound });
  if (run.policy.handoverOnLimit && draft.state.handover.state === "none") {
    draft.emit("handover.requested", SYSTEM, { reason: hit.code }, run.id);
  }
  endRun(draft, draft.run, stopOf(hit.code, `${hit.limit}: ${hit.figure} of ${hit.bound}.`));
}
