/**
 * One of those that are compared, in one run: its samples by metric. All sides are up at the same time and are asked in
 * turns, so that whatever else the machine does meets all of them; nobody works while another is asked.
 */
import { setTimeout } from "node:timers/promises";
import type { Peer } from "../load/peer.ts";
import { Usage } from "./process.ts";

/** In which what a side does after its answers (the history, timers) has been done. */
const SETTLE_MS = 1_800;

export class Side {
  readonly peer: Peer;
  readonly #samples = new Map<string, number[]>();
  #usage: Usage | null = null;
  #database: Usage | null = null;

  constructor(peer: Peer) {
    this.peer = peer;
  }

  add(metric: string, value: number): void {
    const samples = this.#samples.get(metric);
    if (samples) samples.push(value);
    else this.#samples.set(metric, [value]);
  }

  of(metric: string): readonly number[] {
    return this.#samples.get(metric) ?? [];
  }

  /** Its processes are others after a restart. */
  restarted(): void {
    this.#usage = null;
  }

  get usage(): Usage {
    this.#usage ??= new Usage([this.peer.pid()]);
    return this.#usage;
  }

  /** Of the databases that it brings along: other services, and told beside its own. */
  get database(): Usage {
    this.#database ??= new Usage(this.peer.extraPids?.() ?? []);
    return this.#database;
  }
}

/** `times` rounds; in each of them every side once, another one first each time. */
export async function alternate(
  sides: readonly Side[],
  times: number,
  sample: (side: Side, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < times; round++) {
    for (let at = 0; at < sides.length; at++) {
      const side = sides[(at + round) % sides.length];
      if (side) await sample(side, round);
    }
  }
}

/** CPU of a side while `work` runs and settles, for each of so many pieces of it; of its databases beside it. */
export async function cpuOf(
  sides: readonly Side[],
  metric: string,
  { pieces, work }: { readonly pieces: number; readonly work: () => Promise<void> },
): Promise<void> {
  const before = sides.map(({ usage, database }) => ({ own: usage.cpuUs(), database: database.cpuUs() }));
  await work();
  await setTimeout(SETTLE_MS);
  for (const [at, { own, database }] of before.entries()) {
    const side = sides[at];
    side?.add(metric, (side.usage.cpuUs() - own) / pieces);
    side?.add(`${metric} database`, (side.database.cpuUs() - database) / pieces);
  }
}
