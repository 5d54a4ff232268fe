/** What the Worker's first breath costs, against budgets.json: the time its module scope is busy, from a CPU profile. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { QUIET_WRANGLER, WRANGLER } from "./settings.ts";

const run = promisify(execFile);

/** As much of V8's profile as this reads; times in microseconds. */
interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Milliseconds in which something ran. A busy machine lengthens the profile mostly by idling. */
export function busyMs({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id));
  const us = samples.reduce((sum, node, at) => sum + (idle.has(node) ? 0 : (timeDeltas[at] ?? 0)), 0);
  return Math.round(us / 1_000);
}

/** Throws over budget. */
export async function checkStartupTime(root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-startup-"));
  try {
    const outfile = join(folder, "startup.cpuprofile");
    await run(process.execPath, [join(root, WRANGLER), "check", "startup", "--outfile", outfile], {
      cwd: root,
      env: { ...process.env, ...QUIET_WRANGLER },
    });
    const ms = busyMs(JSON.parse(await readFile(outfile, "utf8")) as Profile);
    const budgets = JSON.parse(await readFile(join(root, "budgets.json"), "utf8")) as { worker: { startupMs: number } };
    const summary = `${ms} of ${budgets.worker.startupMs} ms busy`;
    if (ms > budgets.worker.startupMs) throw new Error(`the Worker starts too slowly: ${summary}`);
    return summary;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
