/**
 * Processes that lead a group of their own, so that one signal reaches all of a service. Without an owner such a group
 * lives on when its rig is interrupted, and holds its port and its share of the processor: what is owned here ends
 * with this process, unless that is ended by SIGKILL.
 */
import type { ChildProcess } from "node:child_process";

const INTERRUPTIONS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
const living = new Set<ChildProcess>();
let watching = false;

/** @param child started with `detached: true` */
export function owned<C extends ChildProcess>(child: C): C {
  if (!watching) watch();
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}

export function signalGroup({ pid }: ChildProcess, name: "SIGKILL" | "SIGTERM"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // The group is gone already, which is what was wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function watch(): void {
  watching = true;
  process.on("exit", () => {
    for (const child of living) signalGroup(child, "SIGKILL");
  });
  for (const [name, number] of Object.entries(INTERRUPTIONS)) process.once(name, () => process.exit(128 + number));
}
