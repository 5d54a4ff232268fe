/** A socket that a test speaks on, the frames that an actor sends, and a reader of server-sent events. */
import type { FrameSource } from "../../../src/edge/event-stream.ts";
import type { Conversation } from "../../../src/protocol/conversation.ts";
import type { Event } from "../../../src/protocol/events.ts";
import type { Run } from "../../../src/protocol/run.ts";
import { CONVERSATION } from "./edge.ts";

type Heard = { readonly data?: unknown; readonly code?: number; readonly reason?: string };

export class FakeSource implements FrameSource {
  accepted = false;
  readonly closes: (readonly [code: number | undefined, reason: string | undefined])[] = [];
  readonly #listeners: [type: string, listener: (event: never) => void][] = [];

  accept(): void {
    this.accepted = true;
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push([type, listener]);
  }
  close(code?: number, reason?: string): void {
    this.closes.push([code, reason]);
  }

  say(...frames: readonly unknown[]): void {
    for (const frame of frames) {
      this.#tell("message", { data: frame instanceof Uint8Array ? frame : JSON.stringify(frame) });
    }
  }
  end(code: number, reason: string): void {
    this.#tell("close", { code, reason });
  }
  fail(): void {
    this.#tell("error", {});
  }
  #tell(type: string, event: Heard): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event as never);
  }
}

/** What an upgrade is answered with; Node's own `Response` cannot be a 101. */
export function upgraded(webSocket: FrameSource): Response {
  const answer = new Response(null);
  Object.defineProperties(answer, { status: { value: 101 }, webSocket: { value: webSocket } });
  return answer;
}

export const GENERATION = "abcdefgh";
export const cursor = (seq: number): string => `${GENERATION}.${seq}`;
export const runOf = (n: number, status: Run["status"] = "running") => ({ id: `${CONVERSATION}.r${n}`, status }) as Run;

export const event = (seq: number, type: Event["type"], run?: number, data: unknown = {}) => ({
  seq,
  v: 1,
  type,
  at: "2026-11-29T12:00:00.000Z",
  ...(run === undefined ? {} : { runId: runOf(run).id }),
  by: { kind: "system" },
  data,
});
type WireEvent = ReturnType<typeof event>;

interface Snapshot {
  readonly head: number;
  readonly active?: Run;
  readonly queued?: readonly Run[];
}
const snapshot = ({ head, active, queued = [] }: Snapshot) =>
  ({ id: CONVERSATION, headCursor: cursor(head), activeRun: active ?? null, queued }) as unknown as Conversation;

export const welcome = (shown: Snapshot) => ({
  type: "welcome",
  protocol: "holdpoint.v1",
  conversation: snapshot(shown),
  headCursor: cursor(shown.head),
  serverTime: "2026-11-29T12:00:00.000Z",
});
export const reset = (shown: Snapshot) => ({
  type: "reset",
  snapshot: snapshot(shown),
  reason: "too_far_behind",
  headCursor: cursor(shown.head),
});
export const caughtUp = (events: readonly WireEvent[], head: number) => ({
  type: "events",
  events,
  cursor: cursor(head),
});
export const live = (one: WireEvent) => ({ type: "event", cursor: cursor(one.seq), event: one });

const message = { messageId: `${CONVERSATION}.m2`, attempt: 1, part: 0 };
export const delta = (offset: number, text: string, more: object = {}) => ({
  type: "delta",
  ...message,
  offset,
  text,
  ...more,
});
export const partial = (text: string) => ({ type: "partial", ...message, text });

export interface SentEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** By the standard's rules, as a client reads them: comments are dropped, fields end at line breaks. */
export function readSse(text: string): SentEvent[] {
  const blocks = text.split("\n\n").filter((block) => !block.startsWith(":") && block !== "");
  return blocks.map((block) => {
    const fields = new Map(
      block.split(/\r\n|\r|\n/).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    const id = fields.get("id");
    const { event: type = "", data = "" } = Object.fromEntries(fields);
    return { event: type, ...(id === undefined ? {} : { id }), data: JSON.parse(data) as unknown };
  });
}
