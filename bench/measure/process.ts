/** What a process and its descendants have used, from Linux's /proc. Elsewhere there is nothing to read, and it says so. */
import { readdirSync, readFileSync } from "node:fs";

function parents(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = read(`/proc/${pid}/stat`);
    // The name before it may contain anything, spaces and brackets too.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

/** A process may end while it is looked at. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function family(pid: number): number[] {
  const children = parents();
  const found = [pid];
  for (const one of found) found.push(...(children.get(one) ?? []));
  return found;
}

export class Usage {
  readonly #pids: readonly number[];

  /** The families are looked up once: a service starts no processes while it serves. */
  constructor(pids: readonly number[]) {
    this.#pids = pids.flatMap(family);
  }

  /** CPU microseconds of all threads so far. */
  cpuUs(): number {
    let ns = 0;
    for (const pid of this.#pids) {
      for (const thread of threads(pid)) ns += Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0] ?? 0);
    }
    return ns / 1_000;
  }

  residentMb(): number {
    const kb = this.#pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0));
    return kb.reduce((sum, one) => sum + one, 0) / 1_024;
  }
}

function threads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
