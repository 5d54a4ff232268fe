/**
 * The clocks of one model call: first byte, idle, total; and the caller's abort. Whatever comes first ends the call,
 * once, through one signal that also closes the provider's socket.
 *
 * Idle counts real progress only: a server that sends keep-alives for ever does not keep a run alive. The timer is set
 * once per period and not once per read.
 */
import type { Clock } from "../actor/ports.ts";

export type Ended = "aborted" | "first_byte" | "idle" | "total";

export interface ClockLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Epoch ms. */
  readonly deadlineAt: number;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class ModelClocks {
  readonly #clock: Clock;
  readonly #limits: ClockLimits;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #onAbort = () => this.#end("aborted");
  #idleSince: number;
  readonly #startedAt: number;
  #firstByteMs: number | null = null;
  #ended: Ended | null = null;
  #cancelTimer: () => void = () => undefined;

  constructor(clock: Clock, limits: ClockLimits, caller: AbortSignal) {
    this.#clock = clock;
    this.#limits = limits;
    this.#caller = caller;
    this.#startedAt = clock.now();
    this.#idleSince = this.#startedAt;
    if (caller.aborted) this.#end("aborted");
    else {
      caller.addEventListener("abort", this.#onAbort, { once: true });
      this.#arm();
    }
  }

  /** Of the request: aborts when the first of the clocks runs out, or the caller aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): Ended | null {
    return this.#ended;
  }

  /** Until the first byte; null: none has come. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** The first byte of the answer, or real progress after it. */
  progress(): void {
    this.#idleSince = this.#clock.now();
    if (this.#firstByteMs !== null || this.#ended !== null) return;
    // From here on another limit counts, which may end earlier than the standing timer; later it only moves on.
    this.#firstByteMs = this.#idleSince - this.#startedAt;
    this.#cancelTimer();
    this.#arm();
  }

  /** The answer is there: from now on only the total and the caller's abort count. */
  answered(): void {
    this.#idleSince = Number.POSITIVE_INFINITY;
  }

  /** The outcome, or null as soon as the call has ended without it: for work that does not know our signal. */
  async orEnded<T>(work: Promise<T>): Promise<T | null> {
    if (this.#ended !== null) {
      work.catch(() => undefined);
      return null;
    }
    let release = (): void => undefined;
    const ended = new Promise<null>((resolve) => {
      release = () => resolve(null);
      this.signal.addEventListener("abort", release, { once: true });
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      this.signal.removeEventListener("abort", release);
    }
  }

  /** Nothing fires any more. */
  close(): void {
    this.#cancelTimer();
    this.#caller.removeEventListener("abort", this.#onAbort);
  }

  #arm(): void {
    const wait = Math.max(0, Math.min(this.#idleUntil(), this.#limits.deadlineAt) - this.#clock.now());
    this.#cancelTimer = this.#clock.after(Math.min(wait, LONGEST_TIMER_MS), () => this.#check());
  }

  #check(): void {
    const now = this.#clock.now();
    if (now >= this.#limits.deadlineAt) this.#end("total");
    else if (now >= this.#idleUntil()) this.#end(this.#firstByteMs === null ? "first_byte" : "idle");
    else this.#arm();
  }

  #idleUntil(): number {
    return this.#idleSince + (this.#firstByteMs === null ? this.#limits.firstByteMs : this.#limits.idleMs);
  }

  #end(by: Ended): void {
    if (this.#ended !== null) return;
    this.#ended = by;
    this.close();
    this.#controller.abort();
  }
}
