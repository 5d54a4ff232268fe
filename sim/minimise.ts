/**
 * Makes a failing schedule smaller: commands, faults and reactions are left out, one after the other and in halves, as
 * long as the same law stays broken. What is left is the seed with what to leave out.
 */
import type { Without } from "./plan.ts";
import { planOf } from "./plan.ts";
import type { Judged } from "./runner.ts";

export interface Regression {
  readonly seed: number;
  readonly without: Without;
  /** The law that was broken when this was found. */
  readonly law: string;
  readonly note: string;
}

/** Plays a schedule; in tests, something that fails when it likes. */
export interface Player {
  run(seed: number, without: Without): Promise<Pick<Judged, "violations" | "calls">>;
}

export async function minimise(runner: Player, seed: number, law: string): Promise<Without> {
  const fails = async (without: Without) => (await runner.run(seed, without)).violations.some((one) => one.law === law);
  const plan = planOf(seed);
  let ops: readonly number[] = [];
  let faults: readonly number[] = [];
  ops = await leaveOut(
    plan.ops.map(({ index }) => index),
    (left) => fails({ ops: left, faults }),
  );
  faults = await leaveOut(
    plan.faults.map(({ index }) => index),
    (left) => fails({ ops, faults: left }),
  );
  const calls = await callsOf(runner, seed, { ops, faults });
  const reactions = await leaveOut(calls, (left) => fails({ ops, faults, reactions: left }));
  ops = await leaveOut(
    plan.ops.map(({ index }) => index),
    (left) => fails({ ops: left, faults, reactions }),
    ops,
  );
  return { ops, faults, reactions };
}

/** As many as can be left out, tried in pieces that get smaller. */
async function leaveOut<T>(
  all: readonly T[],
  stillFails: (left: readonly T[]) => Promise<boolean>,
  begin: readonly T[] = [],
): Promise<readonly T[]> {
  let left = [...begin];
  for (let size = Math.max(1, Math.ceil(all.length / 2)); ; size = Math.floor(size / 2)) {
    const candidates = all.filter((one) => !left.includes(one));
    for (let at = 0; at < candidates.length; at += size) {
      const more = [...left, ...candidates.slice(at, at + size)];
      if (await stillFails(more)) left = more;
    }
    if (size <= 1) return all.filter((one) => left.includes(one));
  }
}

async function callsOf(runner: Player, seed: number, without: Without): Promise<string[]> {
  const { calls } = await runner.run(seed, without);
  return [...calls];
}
