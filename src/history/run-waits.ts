/** What a run waits for, from its columns: the same order and meaning as the core's `status.ts`, worked out when read. */
import type { Phase, RunStatus, WaitsFor } from "../protocol/run.ts";
import { PHASES } from "../run/status.ts";
import { flagIn, numberOrNull, textIn, type Row } from "./row.ts";

/** Of the run r in the conversation c: columns `status`, `started_at`, …, `unresolved`, `awaiting`, `handover_state`. */
export const WAITS_COLUMNS = `r.status, r.started_at, r.cancel_requested_at, r.finished_at, r.awaits_continuation,
  r.awaits_budget, c.paused, c.handover_state,
  EXISTS (SELECT 1 FROM confirmations u WHERE u.tenant_id = r.tenant_id AND u.conversation_id = r.conversation_id
    AND u.generation = r.generation AND u.kind = 'resolution' AND u.run_n = r.run_n AND u.open = 1) AS unresolved,
  EXISTS (SELECT 1 FROM confirmations a WHERE a.tenant_id = r.tenant_id AND a.conversation_id = r.conversation_id
    AND a.generation = r.generation AND a.kind = 'decision' AND a.run_n = r.run_n AND a.open = 1) AS awaiting`;

export function waitsOf(row: Row): WaitsFor[] {
  const since = (column: string) => numberOrNull(row, column);
  if (since("started_at") === null || since("finished_at") !== null || since("cancel_requested_at") !== null) return [];
  const waits: WaitsFor[] = [];
  if (flagIn(row, "unresolved")) waits.push("resolution");
  if (flagIn(row, "awaiting")) waits.push("confirmation");
  if (flagIn(row, "awaits_continuation")) waits.push("continuation");
  if (flagIn(row, "awaits_budget") || flagIn(row, "paused")) waits.push("budget");
  if (row["handover_state"] === "active") waits.push("handover");
  return waits;
}

export const statusIn = (row: Row): RunStatus => textIn(row, "status") as RunStatus;

export function phaseIn(row: Row): Phase | null {
  const [first] = waitsOf(row);
  return statusIn(row) === "interrupted" && first !== undefined ? PHASES[first] : null;
}
