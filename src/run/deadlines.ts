/**
 * The earliest moment at which time alone changes something, or makes something due. The alarm is only a reminder:
 * every input is preceded by `time_passed`, so a late, doubled or lost alarm changes nothing (**I10**).
 */
import type { RunState, State } from "./state.ts";

/**
 * Epoch ms, or null where nothing of this conversation waits for time.
 *
 * @param now epoch ms: a back-off that is over waits for nothing more, its call is outstanding
 */
export function nextDeadline(state: State, now: number): number | null {
  const run = state.active;
  if (!run) return null;
  const times = [...runTimes(state, run), ...run.calls.flatMap((call) => callTimes(call, run, now))];
  return times.length === 0 ? null : Math.min(...times);
}

function runTimes(state: State, run: RunState): number[] {
  if (run.halt) return [run.halt.graceUntil];
  const times: (number | null | undefined)[] = [
    run.deadlineAt,
    run.step?.phase === "asking" ? run.step.deadlineAt : null,
    run.continuation?.expiresAt,
    run.budget?.waiting ? run.budget.expiresAt : null,
    // A person has the conversation: nothing is asked, so a window that comes makes nothing due.
    run.budget?.waiting && !state.paused && state.handover.state !== "active" ? run.budget.retryAt : null,
  ];
  return times.filter((time) => typeof time === "number");
}

function callTimes(call: RunState["calls"][number], run: RunState, now: number): number[] {
  if (run.halt) return [];
  if (call.state === "awaiting_confirmation" || call.state === "approved") {
    return call.expiresAt === null ? [] : [call.expiresAt];
  }
  if (call.state !== "executing") return [];
  if (call.notBefore !== null && call.notBefore > now) return [call.notBefore];
  return call.deadlineAt === null ? [] : [call.deadlineAt];
}
