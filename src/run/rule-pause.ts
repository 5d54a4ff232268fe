/**
 * The tenant was paused, or goes on. What is in flight finishes; nothing new starts, and the run waits for its budget.
 * Only a conversation that has a run is told: elsewhere nothing can start, because commands are refused meanwhile.
 */
import { SYSTEM, type Draft } from "./draft.ts";
import { retryBudget } from "./rule-time.ts";

export function pause(draft: Draft): void {
  const { identity, deleted, paused, active, queue } = draft.state;
  if (!identity || deleted || paused || (!active && queue.length === 0)) return;
  draft.emit("tenant.paused", SYSTEM, {}, active?.id);
}

export function unpause(draft: Draft): void {
  const { paused, active } = draft.state;
  if (!paused) return;
  draft.emit("tenant.resumed", SYSTEM, {}, active?.id);
  if (active) retryBudget(draft);
}
