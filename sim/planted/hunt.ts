/**
 * Plants each bug in turn in processes of its own, and plays schedules until it is found: first those that found it
 * before (`seeds.json`), then those that dwell on what it is about, then one after the other.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emphasisOf } from "../config.ts";
import { runPool, type Failure } from "../pool.ts";
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

/** Of each bug some that find it: a change of the service makes other stories of some seeds. */
type Seeds = Record<string, readonly number[]>;
const SEEDS = join(import.meta.dirname, "seeds.json");
const KEPT = 4;

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
  const all: Found[] = [];
  const hunter = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const one = await seek(bug, from, seeds[bug.name] ?? [], remember ? KEPT : 1);
      all.push(one);
      found(one);
    }
  };
  await Promise.all(Array.from({ length: processes }, hunter));
  if (remember) keep(seeds, all);
  return all;
}

async function seek(bug: PlantedBug, from: number, known: readonly number[], wanted: number): Promise<Found> {
  const { name, within, likely } = bug;
  const caught: Failure[] = [];
  let played = 0;
  let after: number | null = null;
  const kinds =
    likely === undefined ? [] : Array.from({ length: 10 }, (_, at) => at).filter((at) => emphasisOf(at) === likely);
  await runPool({
    processes: 1,
    from,
    count: within,
    first: known,
    // First the half of them that dwells on what the bug is about.
    seedOf: (n) => (kinds[0] === undefined || n - from >= within / 2 ? n : (n - from) * 10 + kinds[0]),
    planted: name,
    stopAtFirst: wanted === 1,
    onResult: ({ schedules, failed }) => {
      played += schedules;
      if (failed.length > 0) after ??= played;
      caught.push(...failed);
      return caught.length < wanted && (after === null || played < after + MORE);
    },
  });
  const [first] = caught;
  const laws = [...new Set(first?.violations.map(({ law }) => law))];
  const seeds = caught.slice(0, KEPT).map(({ seed }) => seed);
  return { name, within, after, laws, says: first?.violations[0]?.says ?? "", seed: seeds[0] ?? null, seeds };
}

interface Found extends Hunted {
  readonly seeds: readonly number[];
}
/** So many are played to find more seeds for one bug. */
const MORE = 3_000;

/** In the order of the list, so that the file changes where a seed does. */
function keep(seeds: Seeds, all: readonly Found[]): void {
  const kept: Record<string, readonly number[]> = {};
  for (const { name } of BUGS) {
    const found = all.find((one) => one.name === name)?.seeds ?? seeds[name] ?? [];
    if (found.length > 0) kept[name] = found;
  }
  writeFileSync(SEEDS, `${JSON.stringify(kept)}\n`);
}
