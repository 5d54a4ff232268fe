/**
 * What keeps going wrong in a run, as data: how often the same call failed in the same way, and how often a tool failed
 * in the same way although the model changed its arguments or tried another tool in between. Pure folds and one
 * question; what follows from a trip is not decided here.
 *
 * Progress is the success of a call that had not succeeded before in this run. It forgives what came before it: a model
 * that found something new may fail at the next thing. The same call that fails in the same way is never forgiven.
 */
import type { RunState, Streak } from "./state.ts";

export type Pattern = "same_call" | "ping_pong" | "no_progress";
export interface Repeated {
  readonly pattern: Pattern;
  readonly tool: string;
  readonly figure: number;
}

export type Failing = Pick<RunState, "toolErrors" | "failures" | "streaks" | "worked">;
interface Ended {
  readonly tool: string;
  readonly step: number;
  readonly fingerprint: string;
}

const KEPT = 64;

/** A call failed: once for the run, once for call and code, and once a step for tool and code. */
export function failed<T extends Failing>(run: T, { tool, step, fingerprint }: Ended, code: string): T {
  const key = `${fingerprint}:${code}`;
  const count = (run.failures.find((one) => one.fingerprint === key)?.count ?? 0) + 1;
  const others = run.failures.filter((one) => one.fingerprint !== key);
  const streaks = calledBetween(run.streaks, tool);
  const known = streaks.find((one) => one.tool === tool && one.code === code);
  return {
    ...run,
    toolErrors: run.toolErrors + 1,
    failures: [...others, { fingerprint: key, count }].slice(-KEPT),
    streaks: [...streaks.filter((one) => one !== known), longer(known, { tool, code, step })].slice(-KEPT),
  };
}

function longer(known: Streak | undefined, at: Pick<Streak, "tool" | "code" | "step">): Streak {
  if (!known) return { ...at, steps: 1, returns: 0, between: false };
  if (known.step === at.step) return known;
  const returns = known.returns + (known.between ? 1 : 0);
  return { ...at, steps: known.steps + 1, returns, between: false };
}

/** A call succeeded. The first time that it does, it is progress. */
export function worked<T extends Failing>(run: T, { tool, fingerprint }: Pick<Ended, "tool" | "fingerprint">): T {
  const news = !run.worked.includes(fingerprint);
  return {
    ...run,
    worked: news ? [...run.worked, fingerprint].slice(-KEPT) : run.worked,
    streaks: news ? [] : calledBetween(run.streaks, tool),
  };
}

const calledBetween = (streaks: readonly Streak[], tool: string): readonly Streak[] =>
  streaks.map((one) => (one.tool === tool || one.between ? one : { ...one, between: true }));

/**
 * A failure that has been repeated too often, or null. Going back to a tool after another one counts as the same failure
 * again; changed arguments alone are forgiven once more, because correcting them is what a model is expected to do.
 */
export function repeated(run: Failing, bound: number): Repeated | null {
  const all = [
    ...run.failures.map(({ fingerprint, count }) => of("same_call", toolIn(fingerprint), count, bound)),
    ...run.streaks.map(({ tool, returns }) => of("ping_pong", tool, returns > 0 ? returns + 1 : 0, bound)),
    ...run.streaks.map(({ tool, steps }) => of("no_progress", tool, steps, bound + 1)),
  ];
  return all.find((one) => one !== null) ?? null;
}

const of = (pattern: Pattern, tool: string, figure: number, from: number): Repeated | null =>
  figure >= from ? { pattern, tool, figure } : null;

/** A fingerprint begins with the tool's name, which has no colon. */
const toolIn = (fingerprint: string): string => fingerprint.slice(0, Math.max(0, fingerprint.indexOf(":")));
