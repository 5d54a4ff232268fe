/**
 * Chunks as the body of a response, at a human pace. A byte stream, because production reads with buffers of its own and
 * a stream of another kind would take another path there.
 */

export interface Playing {
  /** Between chunks; 0: as fast as they are read. */
  readonly delayMs: number;
  readonly signal: AbortSignal | undefined;
  /** Stays open without a word after the chunks, until it is aborted or cancelled. */
  readonly silent: boolean;
}

export function playStream(
  chunks: readonly string[],
  { delayMs, signal, silent }: Playing,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  let over = false;
  let wake = (): void => undefined;
  const wait = (ms: number | null) =>
    new Promise<void>((resolve) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return new ReadableStream({
    type: "bytes",
    start(controller: ReadableByteStreamController) {
      const abort = (): void => {
        if (over) return;
        over = true;
        controller.error(signal?.reason);
        wake();
      };
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    },
    async pull(controller: ReadableByteStreamController) {
      const chunk = chunks[next++];
      if (chunk === undefined && silent) await wait(null);
      else if (delayMs > 0) await wait(delayMs);
      if (over) return;
      if (chunk !== undefined) return controller.enqueue(encoder.encode(chunk));
      over = true;
      controller.close();
      // A read that waits with a buffer of its own is only released by this.
      controller.byobRequest?.respond(0);
    },
    cancel() {
      over = true;
      wake();
    },
  });
}
