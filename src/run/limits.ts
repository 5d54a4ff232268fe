/** The breakers: what is checked before a model call, and after a step's last tool call. */
import { DURATIONS } from "../protocol/limits.ts";
import type { LimitName } from "../protocol/run.ts";
import { stopOf, type StopCode } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import { endRun, notice } from "./ending.ts";
import { repeated, type Pattern } from "./failing.ts";
import type { RunState, State } from "./state.ts";

export interface Trip {
  readonly limit: LimitName;
  readonly figure: number;
  readonly bound: number;
  readonly code: StopCode;
  /** Of a failure that repeats: how, and of which tool. */
  readonly pattern?: Pattern;
  readonly tool?: string;
}

/** The first limit that forbids another model call, in the order in which people can act on it; or null. */
export function tripped(state: State, run: RunState): Trip | null {
  const { limits, usage } = run;
  const { maxSameFailure } = limits;
  const again = repeated(run, maxSameFailure);
  if (again) return { limit: "maxSameFailure", bound: maxSameFailure, code: "tool_circuit_open", ...again };
  const checks: readonly (readonly [LimitName, number, StopCode])[] = [
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
  const { limit, figure, bound, code } = hit;
  sayLimit(draft, code, { limit, figure, bound });
  endRun(draft, draft.run, stopOf(code, `${limit}: ${figure} of ${bound}.`));
}

/** The run's last words, and the call for a person where its agent says so. */
export function sayLimit(draft: Draft, code: StopCode, params: Record<string, string | number>): void {
  const { run } = draft;
  notice(draft, run, code, params);
  if (run.policy.handoverOnLimit && draft.state.handover.state === "none") {
    draft.emit("handover.requested", SYSTEM, { reason: code }, run.id);
  }
}

/** The run's clock has run out. Time cannot be granted again: the stop settles like a cancel. */
export function outOfTime(run: RunState, at: number): Trip {
  const figure = run.runningMs + (run.runningSince === null ? 0 : at - run.runningSince);
  return { limit: "maxRunMs", figure, bound: run.limits.maxRunMs, code: "deadline_exceeded" };
}
