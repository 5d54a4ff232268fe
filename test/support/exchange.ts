/** One HTTP exchange as a fake server sees it: its clock, its waits, and which side ended it. */
import type { ServerResponse } from "node:http";

export type EndedBy = null | "server" | "client" | "server_destroyed";

export type Watch = {
  /** Arrival, ms since the epoch with a fraction. */
  readonly atMs: number;
  /** Null while the exchange runs; then who closed first (`server_destroyed`: we cut the socket on purpose). */
  endedBy: EndedBy;
  endedAfterMs: number | null;
  /** Fires when the exchange is over, whoever ended it. */
  readonly signal: AbortSignal;
  onEnd: (() => void) | null;
  readonly destroy: () => void;
};

/** The longest delay that a Node timer accepts; longer ones would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds since the epoch with a fraction, comparable between processes on one machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

export function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/**
 * Waits, or returns early when the signal fires. Anything under a millisecond is one turn of the event loop, which
 * is enough to make the next write a packet of its own.
 */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    if (ms < 1) {
      setImmediate(resolve);
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener("abort", done, { once: true });
  });
}

export function watchExchange(res: ServerResponse): Watch {
  const started = performance.now();
  const gone = new AbortController();
  let destroyed = false;
  const watch: Watch = {
    atMs: nowMs(),
    endedBy: null,
    endedAfterMs: null,
    signal: gone.signal,
    onEnd: null,
    destroy() {
      destroyed = true;
      res.socket?.destroy();
      res.destroy();
    },
  };
  res.on("close", () => {
    watch.endedBy = destroyed ? "server_destroyed" : res.writableFinished ? "server" : "client";
    watch.endedAfterMs = round(performance.now() - started);
    gone.abort();
    watch.onEnd?.();
  });
  return watch;
}

/** How it ended, as the request lists of both servers say it. */
export function outcomeOf({ endedBy, endedAfterMs }: Watch) {
  return { endedBy, endedAfterMs, clientClosedAfterMs: endedBy === "client" ? endedAfterMs : null };
}
