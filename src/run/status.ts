/**
 * Status, phase and what a run waits for: derived, never set. `running` while something is outstanding, scheduled, or a
 * stop is settling; `interrupted` when nothing of that is so and somebody or something is waited for.
 */
import type { Phase, RunStatus, WaitsFor } from "../protocol/run.ts";
import { STOPS } from "../protocol/stops.ts";
import type { CallState, RunState, State } from "./state.ts";

export const PHASES: Record<WaitsFor, Phase> = {
  resolution: "awaiting_resolution",
  confirmation: "awaiting_confirmation",
  continuation: "awaiting_continuation",
  budget: "awaiting_budget",
  handover: "handed_over",
};

export const isUnresolved = (call: CallState): boolean => call.state === "unknown" && call.resolution === null;
export const isAwaiting = (call: CallState): boolean => call.state === "awaiting_confirmation";
/** Nothing more will happen to it in this run. A call that somebody gave up on stays unknown and has ended. */
export const hasEnded = (call: CallState): boolean =>
  !["proposed", "awaiting_confirmation", "approved", "executing"].includes(call.state) && !isUnresolved(call);
export const isSideEffecting = (call: CallState): boolean => call.effect !== "read";

/** The run of the state that this id names, if it is held whole. */
export const findRun = (state: State, runId: string): RunState | null =>
  [state.active, state.latest, ...state.queue].find((run) => run?.id === runId) ?? null;

export function isBusy(state: State, run: RunState): boolean {
  if (run.stop || run.startedAt === null) return false;
  if (run.halt) return true;
  return run.calls.some((call) => call.state === "executing") || isAsking(state, run);
}

export const isAsking = (state: State, run: RunState): boolean =>
  run.step?.phase === "asking" && state.handover.state !== "active";

export function waitsFor(state: State, run: RunState): WaitsFor[] {
  if (run.stop || run.startedAt === null || run.halt) return [];
  const waits: WaitsFor[] = [];
  if (run.calls.some(isUnresolved)) waits.push("resolution");
  if (run.calls.some(isAwaiting)) waits.push("confirmation");
  if (run.continuation) waits.push("continuation");
  if (run.budget?.waiting || state.paused) waits.push("budget");
  if (state.handover.state === "active") waits.push("handover");
  return waits;
}

export function statusOf(state: State, run: RunState): RunStatus {
  if (run.stop) return STOPS[run.stop.code].status;
  if (run.startedAt === null) return "queued";
  return !isBusy(state, run) && waitsFor(state, run).length > 0 ? "interrupted" : "running";
}

export function phaseOf(state: State, run: RunState): Phase | null {
  if (statusOf(state, run) !== "interrupted") return null;
  const [first] = waitsFor(state, run);
  return first === undefined ? null : PHASES[first];
}

/** Calls that wait for a person: to be decided, or to be resolved. */
export const pendingCalls = (run: RunState): CallState[] =>
  run.calls.filter((call) => isAwaiting(call) || isUnresolved(call));
