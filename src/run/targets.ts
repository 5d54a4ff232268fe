/** Finding the run or call that a command names, and the refusals for one that is not there any more. */
import { numberOf, runIdOf, runOf } from "../protocol/ids.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { NOT_FOUND } from "./authority.ts";
import type { CallState, RunState, State } from "./state.ts";
import { findRun } from "./status.ts";
import { runView } from "./views.ts";

/** A call with the run (whole, or known only by its starter) that it belongs to. */
export interface Target {
  readonly run: Pick<RunState, "id" | "principal">;
  readonly whole: RunState | null;
  readonly call: CallState;
}

export function targetOf(state: State, toolCallId: string): Target | null {
  const whole = findRun(state, runOf(toolCallId));
  if (whole) {
    const call = whole.calls.find(({ id }) => id === toolCallId);
    return call ? { run: whole, whole, call } : null;
  }
  const ended = state.ended.find(({ n }) => n === numberOf(runOf(toolCallId)));
  const call = ended?.unknown.find(({ id }) => id === toolCallId);
  if (!ended || !call) return null;
  const principal = { tenantId: state.identity?.tenantId ?? "", userId: ended.by, roles: [], scopes: [] };
  return { run: { id: runIdOf(state.identity?.conversationId ?? "", ended.n), principal }, whole: null, call };
}

/** Why a call is not held: its run ended long ago, it was refused before anybody was asked, or there never was one. */
export function missingTarget(state: State, toolCallId: string): Rejection {
  const run = findRun(state, runOf(toolCallId));
  const ended = state.ended.find(({ n }) => n === numberOf(runOf(toolCallId)));
  if (numberOf(toolCallId) > (run?.callCount ?? ended?.calls ?? 0)) return NOT_FOUND;
  if (ended) return reject("run_finished", `The run has ended: ${ended.stop}.`);
  return run?.stop ? finished(state, run) : reject("not_interrupted", "The call waits for nothing.");
}

/** Who started this run, whole or reduced; null: there never was such a run. */
export function starterOf(state: State, runId: string): string | null {
  const id = state.identity?.conversationId ?? "";
  const ended = state.ended.find((run) => runIdOf(id, run.n) === runId);
  return findRun(state, runId)?.principal.userId ?? ended?.by ?? null;
}

export const finished = (state: State, run: RunState): Rejection =>
  reject("run_finished", `The run has ended: ${run.stop?.code ?? "unknown"}.`, {
    extensions: { run: runView(state, run) },
  });
