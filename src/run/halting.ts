/** Stops that take time: a halt is wanted at once, and reached when everything that is out has settled. */
import type { By } from "../protocol/principal.ts";
import type { StopCode } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import type { Draft } from "./draft.ts";
import { settleCall } from "./ending.ts";
import type { RunState } from "./state.ts";

/**
 * Puts a stop on the active run. What waits is cancelled in this commit; what is out is aborted by the performer,
 * because nothing of a halted run is outstanding; `advance` ends the run when the last of it has settled.
 */
export function halt(draft: Draft, run: RunState, code: StopCode, by: By, reason: string | null): void {
  const graceUntil = isoOf(draft.now + run.policy.cancelGraceMs);
  draft.emit("run.cancel_requested", by, { code, ...(reason === null ? {} : { reason }), graceUntil }, run.id);
  for (const call of draft.run.calls) {
    const out = call.state === "executing" && (call.notBefore === null || call.notBefore <= draft.now);
    if (!out) settleCall(draft, draft.run, call.id);
  }
}
