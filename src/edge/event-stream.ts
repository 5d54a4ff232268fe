/**
 * Server-sent events, ended in the Worker and fed by the actor's socket: the actor knows one kind of watcher, and a
 * response that stays open for hours pins no object.
 *
 * Durable events carry `id:`, their cursor; previews carry none, so a client that comes back never resumes from one.
 * What is sent is JSON on one `data:` line: no text of a model can forge a field. Closing the stream cancels nothing.
 */
import type { ServerFrame } from "../protocol/frames.ts";
import { CLOSE } from "../protocol/frames.ts";
import { LIMITS } from "../protocol/limits.ts";

export const HEARTBEAT_MS = 15_000;

export interface StreamFilter {
  /** Only this run's events and previews. */
  readonly runId?: string;
  /** Event types after which the stream has said all that it was asked for. */
  readonly until?: readonly string[];
}

/** As much of a socket as this takes. */
export interface FrameSource {
  accept(): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
  close(code?: number, reason?: string): void;
}

export function eventStream(socket: FrameSource, filter: StreamFilter = {}): Response {
  const encoder = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const frames = new FrameEncoder(filter);
  let ended = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const say = (text: string) => controller.enqueue(encoder.encode(text));
        const end = (code: number, reason: string) => {
          if (ended) return;
          ended = true;
          clearInterval(heartbeat);
          controller.close();
          socket.close(code, reason);
        };
        // Headers and this line leave at once, also where nothing happens for long.
        say(": connected\n\n");
        heartbeat = setInterval(() => say(": still here\n\n"), HEARTBEAT_MS);
        socket.addEventListener("message", ({ data }) => {
          if (ended || typeof data !== "string") return;
          const behind = -(controller.desiredSize ?? 0);
          // A reader that does not read: it comes back with its last id and has lost previews only.
          if (behind > LIMITS.slowCloseBytes) return end(CLOSE.slow, "reads too slowly");
          const { text, last } = frames.encode(data, behind > LIMITS.slowDropBytes);
          if (text !== "") say(text);
          if (last) end(CLOSE.done, "done");
        });
        socket.addEventListener("close", ({ code, reason }) => {
          if (!ended) say(`event: closed\ndata: ${JSON.stringify({ code, reason })}\n\n`);
          end(CLOSE.done, "");
        });
        socket.addEventListener("error", () => end(CLOSE.internal, "the source failed"));
        socket.accept();
      },
      cancel() {
        ended = true;
        clearInterval(heartbeat);
        socket.close(CLOSE.done, "the reader left");
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }),
  );
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store, no-transform" };
  return new Response(body, { headers });
}

interface Encoded {
  readonly text: string;
  readonly last: boolean;
}
const NOTHING: Encoded = { text: "", last: false };
type WireEvent = Extract<ServerFrame, { type: "event" }>["event"];

/** Frames of the actor's as events of the stream; remembers which run is active, because previews do not say. */
export class FrameEncoder {
  readonly #filter: StreamFilter;
  #active: string | undefined;

  constructor(filter: StreamFilter) {
    this.#filter = filter;
  }

  /** @param slow previews are left out for a reader that lags */
  encode(data: string, slow: boolean): Encoded {
    const frame = JSON.parse(data) as ServerFrame;
    switch (frame.type) {
      case "welcome":
        this.#active = frame.conversation.activeRun?.id;
        return NOTHING;
      case "event":
        return this.#events([frame.event], frame.cursor);
      case "events":
        return this.#events(frame.events, frame.cursor);
      case "reset":
        return { text: `event: reset\ndata: ${data}\n\n`, last: false };
      case "delta":
      case "partial": {
        const { runId } = this.#filter;
        const wanted = !slow && (runId === undefined || runId === this.#active);
        return wanted ? { text: `event: ${frame.type}\ndata: ${data}\n\n`, last: false } : NOTHING;
      }
      default:
        return NOTHING;
    }
  }

  #events(events: readonly WireEvent[], cursor: string): Encoded {
    const { runId, until = [] } = this.#filter;
    const generation = cursor.slice(0, cursor.indexOf("."));
    let text = "";
    for (const event of events) {
      if (event.type === "run.started") this.#active = event.runId;
      if (runId !== undefined && event.runId !== runId) continue;
      text += `id: ${generation}.${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
      if (until.includes(event.type)) return { text, last: true };
    }
    return { text, last: false };
  }
}
