/** Cancelling: stored as intent at once; done when everything that is out has settled, or after the grace. */
import type { Command } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { STOPS, stopOf } from "../protocol/stops.ts";
import { checkRunControl, checkVisible, NOT_FOUND } from "./authority.ts";
import { SYSTEM, userBy, type Draft } from "./draft.ts";
import { endRun } from "./ending.ts";
import { halt } from "./halting.ts";
import type { RunState } from "./state.ts";
import { findRun } from "./status.ts";
import { finished, starterOf } from "./targets.ts";

type CancelCommand = Extract<Command, { type: "cancel_run" }>;

export function cancelRun(draft: Draft, command: CancelCommand, principal: Principal): Rejection | null {
  const { state } = draft;
  const run = findRun(state, command.runId);
  const starter = starterOf(state, command.runId);
  const refused =
    checkVisible(state, principal) ??
    (starter === null ? NOT_FOUND : null) ??
    checkRunControl(state, principal, starter ?? "");
  if (refused) return refused;
  if (!run) {
    const stop = state.ended.find(({ n }) => command.runId.endsWith(`.r${n}`))?.stop ?? "internal";
    return STOPS[stop].status === "cancelled" ? null : reject("run_finished", `The run has ended: ${stop}.`);
  }
  if (run.stop) return STOPS[run.stop.code].status === "cancelled" ? null : finished(state, run);
  if (run.halt) return null;
  const reason = command.body.reason ?? null;
  if (run.startedAt === null) {
    const stop = stopOf("cancelled_by_user", reason ?? "A person cancelled the run in the queue.");
    endRun(draft, run, stop, userBy(principal));
  } else halt(draft, run, "cancelled_by_user", userBy(principal), reason);
  return null;
}

/** A user, or the whole tenant, was deactivated: their runs stop, queued and active. */
export function deactivate(draft: Draft, userId: string | undefined): void {
  const theirs = (run: RunState) => userId === undefined || run.principal.userId === userId;
  const stop = stopOf("deactivated", "The user or tenant was deactivated.");
  for (const run of draft.state.queue.filter(theirs)) endRun(draft, run, stop);
  const { active, handover } = draft.state;
  if (active && theirs(active) && !active.halt) halt(draft, active, "deactivated", SYSTEM, null);
  // An operator who is out answers nobody: another one is asked for.
  if (handover.state === "active" && handover.operator === userId) {
    draft.emit("handover.requested", SYSTEM, { reason: "operator_deactivated" });
  }
}
