/**
 * What a watcher sees, folded from frames: events by `seq`, each once; previews of text by offset. A frame that repeats
 * is dropped, a gap is told; so any mix of cuts and resumes ends in the same view as an uncut stream.
 */
import type { Event } from "../protocol/events.ts";
import type { ServerFrame } from "../protocol/frames.ts";

export interface LiveText {
  readonly messageId: string;
  readonly attempt: number;
  readonly part: number;
  readonly text: string;
}

export class ConversationView {
  /** Durable events, dense from the first one seen. */
  readonly events: Event[] = [];
  /** Text in progress: a preview, replaced by `message.completed`. */
  live: LiveText | null = null;
  cursor: string | null = null;
  /** Times that a frame left a hole; a correct server leaves none. */
  gaps = 0;
  repeats = 0;
  #head = 0;

  constructor(cursor: string | null = null) {
    this.cursor = cursor;
    this.#head = cursor === null ? 0 : seqOf(cursor);
  }

  /** @returns the events that are new with this frame */
  take(frame: ServerFrame): Event[] {
    switch (frame.type) {
      case "welcome":
        if (this.cursor === null) this.#jump(frame.headCursor);
        return [];
      case "events":
        return frame.events.flatMap((event) => this.#event(event as Event, withSeq(frame.cursor, event.seq)));
      case "event":
        return this.#event(frame.event as Event, frame.cursor);
      case "reset":
        this.events.length = 0;
        this.live = null;
        this.#jump(frame.headCursor);
        return [];
      case "partial": {
        const { messageId, attempt, part, text } = frame;
        this.live = { messageId, attempt, part, text };
        return [];
      }
      case "delta":
        this.#delta(frame);
        return [];
      default:
        return [];
    }
  }

  #event(event: Event, cursor: string): Event[] {
    if (event.seq <= this.#head) {
      this.repeats++;
      return [];
    }
    if (event.seq !== this.#head + 1) this.gaps++;
    this.#head = event.seq;
    this.cursor = cursor;
    this.events.push(event);
    if (event.type === "message.completed" || event.type === "step.superseded") this.live = null;
    return [event];
  }

  #delta({ messageId, attempt, part, offset, text }: Extract<ServerFrame, { type: "delta" }>): void {
    const same =
      this.live?.messageId === messageId && this.live.attempt === attempt && this.live.part === part ? this.live : null;
    const known = same?.text ?? "";
    // Text that came before this watcher did stays unknown until a `partial` or the message itself brings it.
    if (offset !== known.length) return;
    this.live = { messageId, attempt, part, text: known + text };
  }

  #jump(cursor: string): void {
    this.cursor = cursor;
    this.#head = seqOf(cursor);
  }
}

const seqOf = (cursor: string): number => Number(cursor.slice(cursor.indexOf(".") + 1));
const withSeq = (cursor: string, seq: number): string => `${cursor.slice(0, cursor.indexOf("."))}.${seq}`;
