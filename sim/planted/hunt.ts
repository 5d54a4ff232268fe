/**
 * Plants each bug in turn in processes of its own, and plays schedules until it is found: first the one that found it
 * the last time (`seeds.json`), then one after the other.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runPool } from "../pool.ts";
import type { PlantedBug } from "./bug.ts";
import { BUGS } from "./bugs.ts";

export interface Hunted {
  readonly name: string;
  readonly within: number;
  /** How many schedules it took; null: it was not found. */
  readonly after: number | null;
  /** Of the schedule that found it. */
  readonly seed: number | null;
  readonly laws: readonly string[];
  readonly says: string;
}

type Seeds = Record<string, number>;
const SEEDS = join(import.meta.dirname, "seeds.json");

export interface HuntOptions {
  readonly from: number;
  readonly processes: number;
  /** A part of the name of those that are to be planted. */
  readonly only: string;
  /** Seeds that find a bug are kept. */
  readonly remember: boolean;
  readonly found: (one: Hunted) => void;
}

export async function hunt({ from, processes, only, remember, found }: HuntOptions): Promise<Hunted[]> {
  const seeds = JSON.parse(readFileSync(SEEDS, "utf8")) as Seeds;
  const waiting = BUGS.filter(({ name }) => name.includes(only));
  const all: Hunted[] = [];
  const hunter = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const one = await seek(bug, from, seeds[bug.name]);
      all.push(one);
      found(one);
    }
  };
  await Promise.all(Array.from({ length: processes }, hunter));
  if (remember) keep(seeds, all);
  return all;
}

async function seek(bug: PlantedBug, from: number, known: number | undefined): Promise<Hunted> {
  const again = known === undefined ? null : await first(bug.name, known, 1);
  if (again) return { ...bug, after: 1, ...again };
  const before = known === undefined ? 0 : 1;
  const caught = await first(bug.name, from, bug.within);
  if (!caught) return { ...bug, after: null, seed: null, laws: [], says: "" };
  return { ...bug, after: before + caught.seed - from + 1, ...caught };
}

type Caught = Pick<Hunted, "laws" | "says"> & { readonly seed: number };

async function first(planted: string, from: number, count: number): Promise<Caught | null> {
  const caught: Caught[] = [];
  await runPool({
    processes: 1,
    from,
    count,
    planted,
    stopAtFirst: true,
    onResult: ({ failed: [one] }) => {
      if (!one) return true;
      const laws = [...new Set(one.violations.map(({ law }) => law))];
      caught.push({ seed: one.seed, laws, says: one.violations[0]?.says ?? "" });
      return false;
    },
  });
  return caught[0] ?? null;
}

/** In the order of the list, so that the file changes where a seed does. */
function keep(seeds: Seeds, all: readonly Hunted[]): void {
  const kept: Seeds = {};
  for (const { name } of BUGS) {
    const seed = all.find((one) => one.name === name)?.seed ?? seeds[name];
    if (seed !== undefined) kept[name] = seed;
  }
  writeFileSync(SEEDS, `${JSON.stringify(kept, null, 2)}\n`);
}
