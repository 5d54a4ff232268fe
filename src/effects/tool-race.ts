/** A promise of somebody else's against the clock and against an abort. Whoever loses is not waited for any longer. */
import type { Clock } from "../actor/ports.ts";

export type Raced<T> =
  | { readonly kind: "returned"; readonly value: T }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timeout" }
  | { readonly kind: "aborted" };

export interface RaceLimits {
  readonly clock: Clock;
  readonly ms: number;
  /** From outside: the call is no longer wanted. */
  readonly signal: AbortSignal;
  /** How long after the abort the other side may still say what it did. */
  readonly settleMs: number;
}

/** @param run gets a signal that follows both; it may ignore it, throw anything, or never return. Never rejects. */
export function race<T>(limits: RaceLimits, run: (signal: AbortSignal) => Promise<T> | T): Promise<Raced<T>> {
  const { clock, ms, signal, settleMs } = limits;
  const inner = new AbortController();
  return new Promise((resolve) => {
    const cancels: (() => void)[] = [];
    const end = (result: Raced<T>) => {
      for (const cancel of cancels) cancel();
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    };
    const onAbort = () => {
      cancels.push(clock.after(settleMs, () => end({ kind: "aborted" })));
      inner.abort(new DOMException("The call is no longer wanted.", "AbortError"));
    };
    cancels.push(
      clock.after(Math.max(0, ms), () => {
        end({ kind: "timeout" });
        inner.abort(new DOMException("The call took too long.", "TimeoutError"));
      }),
    );
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    // Through a promise, so that a synchronous throw and a hostile `then` come out in the same place.
    void Promise.resolve()
      .then(() => run(inner.signal))
      .then(
        (value) => end({ kind: "returned", value }),
        (error: unknown) => end(signal.aborted && isAbort(error) ? { kind: "aborted" } : { kind: "threw", error }),
      );
  });
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
