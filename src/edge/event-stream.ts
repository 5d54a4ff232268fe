/**
 * Server-sent events, ended in the Worker and fed by the actor's socket: the actor knows one kind of watcher, and a
 * response that stays open for hours pins no object. Closing the stream cancels nothing.
 *
 * A reader that does not read: above the first bound previews are left out; above the second, or too long above the
 * first, it is told to come back and the stream ends. What it holds in memory is bounded in either case.
 */
import { CLOSE } from "../protocol/frames.ts";
import { LIMITS } from "../protocol/limits.ts";
import { eventText, FrameEncoder, type StreamFilter } from "./frame-encoder.ts";

export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** As much of a socket as this takes. */
export interface FrameSource {
  accept(): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
  close(code?: number, reason?: string): void;
}

export interface Pace {
  readonly heartbeatMs: number;
  readonly dropBytes: number;
  readonly closeBytes: number;
  readonly closeMs: number;
  readonly now: () => number;
}

export const PACE: Omit<Pace, "now"> = {
  heartbeatMs: 15_000,
  dropBytes: LIMITS.slowDropBytes,
  closeBytes: LIMITS.slowCloseBytes,
  closeMs: LIMITS.slowCloseMs,
};

const AGAIN_MS = 1_000;

export function eventStream(socket: FrameSource, filter: StreamFilter, pace: Pace): ReadableStream<Uint8Array> {
  const source = new Source(socket, filter, pace);
  return new ReadableStream<Uint8Array>(
    { start: (controller) => source.start(controller), cancel: () => source.left() },
    new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }),
  );
}

class Source {
  readonly #socket: FrameSource;
  readonly #frames: FrameEncoder;
  readonly #pace: Pace;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #slowSince: number | null = null;

  constructor(socket: FrameSource, filter: StreamFilter, pace: Pace) {
    this.#socket = socket;
    this.#frames = new FrameEncoder(filter);
    this.#pace = pace;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // Headers and this line leave at once, also where nothing happens for long.
    this.#say(": connected\n\n");
    this.#heartbeat = setInterval(() => {
      if (this.#speed() === "stuck") return;
      this.#say(": still here\n\n");
      // A connection that is gone takes the first write without a word; the second one finds out.
      setTimeout(() => this.#say(":\n\n"), AGAIN_MS);
    }, this.#pace.heartbeatMs);
    this.#socket.addEventListener("message", ({ data }) => this.#take(data));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#end(code, reason));
    this.#socket.addEventListener("error", () => this.#end(CLOSE.internal, "the source failed"));
    this.#socket.accept();
  }

  /** The reader went: whatever the run does, it goes on. */
  left(): void {
    this.#stop();
    close(this.#socket, CLOSE.done, "the reader left");
  }

  #take(data: unknown): void {
    if (this.#controller === null || typeof data !== "string") return;
    const speed = this.#speed();
    if (speed === "stuck") return;
    const { text, last } = this.#frames.encode(data, speed === "slow");
    if (text !== "") this.#say(text);
    if (!last) return;
    this.#stop()?.close();
    close(this.#socket, CLOSE.done, "done");
  }

  /** Ends the stream of a reader that is too slow. */
  #speed(): "ready" | "slow" | "stuck" {
    const { dropBytes, closeBytes, closeMs, now } = this.#pace;
    const behind = -(this.#controller?.desiredSize ?? 0);
    if (behind <= dropBytes) {
      this.#slowSince = null;
      return "ready";
    }
    this.#slowSince ??= now();
    if (behind <= closeBytes && now() - this.#slowSince < closeMs) return "slow";
    const controller = this.#controller;
    this.#end(CLOSE.slow, "reads too slowly");
    // What it has not read by then is given up: nobody keeps megabytes for a reader who may never come.
    setTimeout(() => controller?.error(new Error("not read")), closeMs);
    return "stuck";
  }

  /** A stream that could have gone on says why it does not, so that a client knows whether to come back. */
  #end(code: number, reason: string): void {
    if (this.#controller === null) return;
    this.#say(eventText("closed", JSON.stringify({ code, reason })));
    this.#stop()?.close();
    close(this.#socket, CLOSE.done, "done");
  }

  #stop(): ReadableStreamDefaultController<Uint8Array> | null {
    clearInterval(this.#heartbeat);
    const controller = this.#controller;
    this.#controller = null;
    return controller;
  }

  #say(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }
}

/** Never throws: the other side may have closed it already. */
function close(socket: FrameSource, code: number, reason: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // It is closed, which is what was wanted.
  }
}
