/**
 * Puts an answer on the wire: planned writes with their waits and their end.
 *
 * Each write has a turn of the event loop to itself: Node joins writes of one turn into one packet, and a test of split
 * bytes would then see them whole.
 */
import type { ServerResponse } from "node:http";
import { nowMs, wait, type Watch } from "./exchange.ts";
import type { Plan } from "./plan.ts";
import type { End } from "./stream-fixtures.ts";

/** The part of a request's record that playing changes. */
export type Progress = {
  readonly watch: Watch;
  bytesWritten: number;
  writes: number;
  firstWriteAtMs: number | null;
  lastWriteAtMs: number | null;
};

/** Each write is handed to the kernel before the next wait begins, as a chunk of its own. */
export async function play(
  res: ServerResponse,
  progress: Progress,
  plan: Plan,
  timeScale: number,
  onWrite: (n: number) => void = () => {},
): Promise<void> {
  const { watch } = progress;
  const { signal } = watch;
  const pause = (ms: number): Promise<void> => wait(ms * timeScale, signal);

  await pause(plan.waitMs);
  if (signal.aborted) return;
  if (plan.end.mode === "hang" && !plan.end.headers) {
    await pause(plan.end.ms);
    watch.destroy();
    return;
  }
  res.writeHead(plan.status ?? 200, plan.headers);
  res.flushHeaders();
  for (const [i, bytes] of plan.writes.entries()) {
    await pause(plan.delays[i] ?? 0);
    if (signal.aborted) return;
    await writeNow(res, progress, bytes);
    onWrite(i + 1);
  }
  switch (plan.end.mode) {
    case "hang":
      await pause(plan.end.ms);
      watch.destroy();
      return;
    case "destroy":
      // One turn more, so that the kernel has sent what was written before the socket goes.
      await wait(0, signal);
      watch.destroy();
      return;
    case "hold":
      await hold(res, progress, plan.end, timeScale);
      break;
    case "close":
      break;
  }
  if (!signal.aborted) res.end();
}

/** Keeps a finished answer open: silent, or with a heartbeat that carries no content. */
async function hold(
  res: ServerResponse,
  progress: Progress,
  { ms, heartbeat }: Extract<End, { mode: "hold" }>,
  timeScale: number,
): Promise<void> {
  const { signal } = progress.watch;
  if (heartbeat === undefined) {
    await wait(ms * timeScale, signal);
    return;
  }
  const beat = Buffer.from(heartbeat.text, "utf8");
  for (let passed = 0; passed < ms && !signal.aborted; passed += heartbeat.every_ms) {
    await wait(Math.min(heartbeat.every_ms, ms - passed) * timeScale, signal);
    if (!signal.aborted && passed + heartbeat.every_ms < ms) await writeNow(res, progress, beat);
  }
}

/** Writes and waits until the kernel has taken the bytes; a reader that does not read holds us here. */
function writeNow(res: ServerResponse, progress: Progress, bytes: Uint8Array): Promise<void> {
  countWrite(progress, bytes.length);
  return new Promise((resolve) => {
    if (progress.watch.signal.aborted) {
      resolve();
      return;
    }
    progress.watch.onEnd = resolve;
    res.write(bytes, () => resolve());
  });
}

export function countWrite(progress: Progress, bytes: number): void {
  const now = nowMs();
  progress.firstWriteAtMs ??= now;
  progress.lastWriteAtMs = now;
  progress.bytesWritten += bytes;
  progress.writes += 1;
}
