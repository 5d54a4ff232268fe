/**
 * What must be in flight now. The performer compares it with what is in flight: it starts what is missing and aborts
 * what is too much. Start, cancel and crash recovery are this one comparison (**I4**).
 */
import { isAsking } from "./status.ts";
import type { CallState, RunState, State, StepState } from "./state.ts";

export type Effect = ModelEffect | ToolEffect;

export interface ModelEffect {
  readonly kind: "model";
  /** `<run>.s<step>` */
  readonly id: string;
  readonly attempt: number;
  readonly incarnation: number;
  readonly run: RunState;
  readonly messageId: string;
  /** The number that the answer's first tool call gets. */
  readonly firstCall: number;
  readonly deadlineAt: number;
}

export interface ToolEffect {
  readonly kind: "tool";
  /** The tool call's id. */
  readonly id: string;
  readonly attempt: number;
  readonly incarnation: number;
  readonly run: RunState;
  readonly call: CallState;
  readonly mode: "execute" | "probe";
  readonly deadlineAt: number;
}

export const effectKey = (effect: { readonly id: string; readonly attempt: number }): string =>
  `${effect.id}#${effect.attempt}`;

/** The model request that was out when a life ended, also of a run that is being stopped; null: there was none. */
export function lostRequest({ active, ...state }: State): ModelEffect | null {
  return active?.step?.phase === "asking" ? requestOf(state, active, active.step) : null;
}

const requestOf = ({ incarnation }: Pick<State, "incarnation">, run: RunState, step: StepState): ModelEffect => ({
  kind: "model",
  id: `${run.id}.s${step.n}`,
  attempt: step.attempt,
  incarnation,
  run,
  messageId: step.messageId,
  firstCall: run.callCount + 1,
  deadlineAt: step.deadlineAt,
});

/** @param now epoch ms: a repeat that waits out its back-off is not outstanding before its time */
export function outstanding(state: State, now: number): Effect[] {
  const run = state.active;
  if (!run || run.halt) return [];
  const effects: Effect[] = [];
  if (isAsking(state, run) && run.step) effects.push(requestOf(state, run, run.step));
  for (const call of run.calls) {
    if (call.state !== "executing" || call.mode === null) continue;
    if (call.notBefore !== null && call.notBefore > now) continue;
    effects.push({
      kind: "tool",
      id: call.id,
      attempt: call.attempt,
      incarnation: state.incarnation,
      run,
      call,
      mode: call.mode,
      deadlineAt: call.deadlineAt ?? Number.MAX_SAFE_INTEGER,
    });
  }
  return effects;
}
