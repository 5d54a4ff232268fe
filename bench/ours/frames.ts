/** Our frames in the vocabulary of the load generator, and its names of runs beside ours. */
import type { Event } from "../../src/protocol/events.ts";
import type { ServerFrame } from "../../src/protocol/frames.ts";
import { nowUs } from "../measure/clock.ts";
import type { Seen } from "../load/peer.ts";

/** The model's deltas are five characters each; a frame has those of one network read. */
const DELTA_CHARS = 5;

export class Frames {
  readonly #onEvent: (seen: Seen) => void;
  /** The load's names ⇄ ours: ours are made by the service, and come with the acknowledgement. */
  readonly #native = new Map<string, string>();
  readonly #given = new Map<string, string>();

  constructor(onEvent: (seen: Seen) => void) {
    this.#onEvent = onEvent;
  }

  nativeOf(run: string): string {
    return this.#native.get(run) ?? run;
  }

  take(text: string): void {
    const t = nowUs();
    const frame = JSON.parse(text) as ServerFrame;
    switch (frame.type) {
      case "ack":
        return this.#acked(frame.id, frame.result, t);
      case "delta":
        return this.#onEvent({ k: "delta", text: frame.text, n: Math.max(1, deltasIn(frame.text)), t });
      case "partial":
        return this.#onEvent({ k: "delta", text: frame.text, n: deltasIn(frame.text), snap: true, t });
      case "event":
        return this.#event(frame.event as Event, t);
      case "events":
        return this.#onEvent({ k: "caughtup", t });
      case "problem":
        return this.#onEvent({ k: "error", err: frame.problem.code, t });
      default:
        return;
    }
  }

  /** The acknowledgement of a decision or a cancel is no run's registration. */
  #acked(run: string, result: unknown, t: number): void {
    if (/^[dx]-/.test(run)) return;
    const native = String((result as { id: string }).id);
    this.#native.set(run, native);
    this.#given.set(native, run);
    this.#onEvent({ k: "ack", run, native, t });
  }

  #event(event: Event, t: number): void {
    const native = event.runId ?? "";
    const run = this.#given.get(native) ?? native;
    switch (event.type) {
      case "run.interrupted":
        if (!event.data.needsConfirmation) return;
        return this.#onEvent({ k: "proposal", run, call: event.data.pending[0], native, t });
      case "tool_call.finished":
        return this.#onEvent({ k: "tool", run, t });
      case "run.completed":
        return this.#onEvent({ k: "done", run, status: "done", t });
      case "run.failed":
      case "run.cancelled":
        return this.#onEvent({ k: "done", run, status: event.type.slice("run.".length), t });
      default:
    }
  }
}

const deltasIn = (text: string): number => Math.round(text.length / DELTA_CHARS);
