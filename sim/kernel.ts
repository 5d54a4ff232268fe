/**
 * Virtual time and the one heap of things that are to happen. Nothing in the simulation happens but as an entry of this
 * heap; among those that are ready at the same time the seed decides. Between two entries every promise settles.
 */
import type { Random } from "./random.ts";

interface Entry {
  readonly at: number;
  readonly tie: number;
  readonly n: number;
  readonly run: () => void | Promise<void>;
  cancelled: boolean;
}

export const START = 1_800_000_000_000;

export class Kernel {
  #now = START;
  #count = 0;
  readonly #heap: Entry[] = [];
  readonly #random: Random;
  steps = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Whole milliseconds; what happens one after the other within one is kept apart by fractions. */
  get now(): number {
    return Math.floor(this.#now);
  }

  get idle(): boolean {
    return this.#heap.length === 0;
  }

  after(ms: number, run: () => void | Promise<void>): () => void {
    return this.at(this.#now + Math.max(0, ms), run);
  }

  at(time: number, run: () => void | Promise<void>): () => void {
    if (!Number.isFinite(time)) throw new RangeError(`${time} is no time`);
    const entry: Entry = {
      at: Math.max(this.#now, time),
      tie: this.#random.next(),
      n: this.#count++,
      run,
      cancelled: false,
    };
    this.#push(entry);
    return () => {
      entry.cancelled = true;
    };
  }

  /** The next thing, if it is due by then. @returns whether there was one */
  async step(until: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.at > until) return false;
      this.#pop();
      if (next.cancelled) continue;
      this.steps += 1;
      this.#now = next.at;
      await next.run();
      return true;
    }
  }

  /** Everything that is due up to then, also what becomes due on the way. Time ends there. */
  async run(until: number, maxSteps: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.at > until) break;
      this.#pop();
      if (next.cancelled) continue;
      if (++this.steps > maxSteps) throw new Error(`more than ${maxSteps} steps: it does not come to rest`);
      this.#now = next.at;
      const running = next.run();
      if (running) await running;
    }
    this.#now = Math.max(this.#now, until);
  }

  #before(a: Entry, b: Entry): boolean {
    if (a.at !== b.at) return a.at < b.at;
    return a.tie === b.tie ? a.n < b.n : a.tie < b.tie;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (!parent || !this.#before(entry, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      const left = heap[down];
      if (!left) break;
      const right = heap[down + 1];
      let child = left;
      if (right && this.#before(right, left)) {
        child = right;
        down += 1;
      }
      if (!this.#before(child, last)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
  }
}

/**
 * Lets every promise settle that can: a tick comes when the queue of microtasks is empty, what they queue included. It
 * is cheaper than a turn of the event loop, which nothing in the simulation waits for.
 */
export const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
