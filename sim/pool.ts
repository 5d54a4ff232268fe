/** Schedules over several processes: each gets a stretch of them at a time and sends back what came of it. */
import { fork } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mark } from "./marks.ts";
import type { Violation } from "./observation.ts";

export interface Stretch {
  readonly seeds: readonly number[];
  /** What follows the first failure is not played. */
  readonly stopAtFirst: boolean;
  /** Not seeds, but interleavings of the small scope, by their place in the list. */
  readonly smallScope: boolean;
}

export interface StretchResult {
  readonly schedules: number;
  readonly events: number;
  readonly marks: Partial<Record<Mark, number>>;
  readonly failed: readonly Failure[];
}

export interface Failure {
  readonly seed: number;
  /** In the small scope: the interleaving and the death. */
  readonly note?: string;
  readonly violations: readonly Violation[];
}

const WORKER = join(import.meta.dirname, "worker.ts");
/** Most of a worker's start is types that are stripped and code that is compiled, the same every time. */
const COMPILED = join(tmpdir(), "holdpoint-sim-compiled");
const STRETCH = 50;
/** Schedules leave nothing behind: most of what they make is gone before it would be moved. */
const EXEC_ARGV = ["--max-semi-space-size=32"];

export interface PoolOptions {
  readonly processes: number;
  readonly from: number;
  readonly count: number;
  /** Played before the others. */
  readonly first?: readonly number[];
  /** Those that are played, and in which order. */
  readonly seedOf?: (n: number) => number;
  /** The name of a planted bug that the workers run with. */
  readonly planted?: string;
  readonly stopAtFirst?: boolean;
  readonly smallScope?: boolean;
  /** Called after each stretch; false: enough. */
  readonly onResult: (result: StretchResult) => boolean;
}

/** Resolves when all is done, or when `onResult` has said that it is enough. */
export async function runPool(options: PoolOptions): Promise<void> {
  const { processes, from, count, planted = "", stopAtFirst = false, smallScope = false, onResult } = options;
  const { first = [], seedOf = (n: number) => n } = options;
  const size = smallScope ? 1 : STRETCH;
  let next = from;
  let begun = first.length === 0;
  let stop = false;
  const take = (): Stretch | null => {
    if (stop) return null;
    if (!begun) {
      begun = true;
      return { seeds: first, stopAtFirst, smallScope };
    }
    const length = Math.min(size, from + count - next);
    if (length <= 0) return null;
    const seeds = Array.from({ length }, (_, at) => seedOf(next + at));
    next += length;
    return { seeds, stopAtFirst, smallScope };
  };
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, SIM_PLANTED: planted };
      const child = fork(WORKER, { execArgv: EXEC_ARGV, env });
      const more = () => {
        const stretch = take();
        if (stretch) child.send(stretch);
        else child.disconnect();
      };
      child.on("message", (result) => {
        if (!onResult(result as StretchResult)) stop = true;
        more();
      });
      child.on("error", reject);
      child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
      more();
    });
  await Promise.all(Array.from({ length: Math.min(processes, Math.max(1, Math.ceil(count / size))) }, work));
}
