/** After a limit that asks: go on with the same amount again, or end as the trip would have. */
import type { Continuation } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { checkRunControl } from "./authority.ts";
import { userBy, type Draft } from "./draft.ts";
import { endAsTripped } from "./limits.ts";
import { finished, starterOf } from "./targets.ts";
import type { State } from "./state.ts";
import { findRun } from "./status.ts";

export function checkContinuation(
  state: State,
  runId: string,
  one: Continuation,
  principal: Principal,
): Rejection | null {
  const forbidden = checkRunControl(state, principal, starterOf(state, runId) ?? "");
  if (forbidden) return forbidden;
  const run = findRun(state, runId);
  if (!run) return reject("run_finished", "The run has ended.");
  if (run.stop) return finished(state, run);
  if (run.halt) return reject("run_finished", "The run is ending.");
  return run.continuation?.limit === one.limit ? null : reject("not_interrupted", `${one.limit} asks for nothing.`);
}

export function applyContinuation(draft: Draft, one: Continuation, principal: Principal): void {
  const { run } = draft;
  const hit = run.continuation;
  if (!hit) return;
  const by = userBy(principal);
  const bound = Math.max(hit.figure, run.limits[one.limit]) + run.granted[one.limit];
  draft.emit("limit.continued", by, { limit: one.limit, decision: one.decision, bound, by }, run.id);
  if (one.decision === "stop") endAsTripped(draft, hit);
}
