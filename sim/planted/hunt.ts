/** Plants each bug in turn in processes of its own, and plays schedules until it is found. */
import { runPool } from "../pool.ts";
import type { PlantedBug } from "./bug.ts";
import { BUGS } from "./bugs.ts";

export interface Hunted {
  readonly name: string;
  readonly within: number;
  /** The schedule that found it, counted from the first; null: it was not found. */
  readonly after: number | null;
  readonly laws: readonly string[];
  readonly says: string;
}

/** @param only a part of the name of those that are to be planted */
export async function hunt(
  from: number,
  processes: number,
  only: string,
  found: (one: Hunted) => void,
): Promise<Hunted[]> {
  const waiting = BUGS.filter(({ name }) => name.includes(only));
  const all: Hunted[] = [];
  const hunter = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const one = await seek(bug, from);
      all.push(one);
      found(one);
    }
  };
  await Promise.all(Array.from({ length: processes }, hunter));
  return all;
}

async function seek({ name, within }: PlantedBug, from: number): Promise<Hunted> {
  let first: { seed: number; laws: string[]; says: string } | null = null;
  await runPool({
    processes: 1,
    from,
    count: within,
    planted: name,
    stopAtFirst: true,
    onResult: ({ failed: [one] }) => {
      if (!one) return true;
      const laws = [...new Set(one.violations.map(({ law }) => law))];
      first = { seed: one.seed, laws, says: one.violations[0]?.says ?? "" };
      return false;
    },
  });
  // The type says what the closure above may have done.
  const caught = first as { seed: number; laws: string[]; says: string } | null;
  return { name, within, after: caught && caught.seed - from + 1, laws: caught?.laws ?? [], says: caught?.says ?? "" };
}
