/** Memory of the service's process, as the kernel counts it. */
import { readFileSync } from "node:fs";

export interface Sample {
  /** Seconds. */
  readonly at: number;
  readonly mb: number;
}

export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return found === undefined ? 0 : Number(found) / 1_024;
}

export class MemoryWatch {
  readonly samples: Sample[] = [];
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs = 500) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.sample(), everyMs);
  }

  sample(): number {
    const mb = residentMb(this.#pid);
    this.samples.push({ at: performance.now() / 1_000, mb });
    return mb;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Least squares, in MB per minute; null: too little to say. */
export function slopeOf(samples: readonly Sample[]): number | null {
  if (samples.length < 3) return null;
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [at, mb] = [mean((one) => one.at), mean((one) => one.mb)];
  let over = 0;
  let under = 0;
  for (const one of samples) {
    over += (one.at - at) * (one.mb - mb);
    under += (one.at - at) ** 2;
  }
  return under === 0 ? null : Math.round((over / under) * 60 * 100) / 100;
}
