/**
 * The actor's frames as server-sent events, one conversation's or one run's. Durable events carry `id:`, their cursor;
 * previews carry none, so a client that comes back never resumes from one. What is sent is JSON on one `data:` line: no
 * text of a model can forge a field. Pure: it knows no socket and no clock.
 */
import type { Conversation } from "../protocol/conversation.ts";
import { isTerminal } from "../protocol/events.ts";
import type { Delta, ServerFrame } from "../protocol/frames.ts";

export interface StreamFilter {
  /** Only this run's events and previews, until its terminal event. */
  readonly runId?: string;
  /** The stream of a start: it ends where the run waits for somebody, too. */
  readonly untilInterrupted?: boolean;
  /** No cursor was given: nothing is caught up with. */
  readonly fromHead?: boolean;
}

export interface Encoded {
  readonly text: string;
  /** With this the stream has said all that it was asked for. */
  readonly last: boolean;
}

const NOTHING: Encoded = { text: "", last: false };
type WireEvent = Extract<ServerFrame, { type: "event" }>["event"];
type Preview = Omit<Extract<ServerFrame, { type: "partial" }>, "type">;

export class FrameEncoder {
  readonly #filter: StreamFilter;
  /** Which run previews belong to: they do not say. */
  #active: string | undefined;
  /** What the snapshot says ends the stream once it is caught up with: the run is over, or waits. */
  #atRest = false;
  #head = 0;
  /** Text of the message in progress, so that a reader who missed previews can be told the whole of it. */
  #text: Preview | null = null;
  #missed = false;

  constructor(filter: StreamFilter) {
    this.#filter = filter;
  }

  /** @param slow previews are left out for a reader that lags */
  encode(data: string, slow: boolean): Encoded {
    const frame = JSON.parse(data) as ServerFrame;
    switch (frame.type) {
      case "welcome":
        this.#look(frame.conversation);
        return this.#filter.fromHead === true ? this.#arrived("") : NOTHING;
      case "reset":
        this.#look(frame.snapshot);
        return this.#arrived(eventText("reset", data));
      case "events": {
        const caught = this.#events(frame.events, frame.cursor);
        return caught.last || seqOf(frame.cursor) < this.#head ? caught : this.#arrived(caught.text);
      }
      case "event":
        return this.#events([frame.event], frame.cursor);
      case "partial":
        return this.#preview(frame, data, slow);
      case "delta":
        this.#append(frame);
        return this.#preview(frame, data, slow);
      default:
        return NOTHING;
    }
  }

  #look({ activeRun, queued, headCursor }: Conversation): void {
    const { runId, untilInterrupted } = this.#filter;
    this.#active = activeRun?.id;
    this.#head = seqOf(headCursor);
    if (runId === undefined) return;
    const run = [...(activeRun ? [activeRun] : []), ...queued].find(({ id }) => id === runId);
    this.#atRest = run === undefined || (untilInterrupted === true && run.status === "interrupted");
  }

  /** Caught up with the snapshot: a run that was at rest by then has nothing more to say. */
  #arrived(text: string): Encoded {
    return { text, last: this.#atRest };
  }

  #events(events: readonly WireEvent[], cursor: string): Encoded {
    const { runId, untilInterrupted } = this.#filter;
    const generation = cursor.slice(0, cursor.indexOf("."));
    let text = "";
    for (const event of events) {
      if (event.type === "run.started") this.#active = event.runId;
      if (event.type === "message.completed" || event.type === "step.superseded") this.#forget();
      if (runId !== undefined && event.runId !== runId) continue;
      text += `id: ${generation}.${event.seq}\n${eventText(event.type, JSON.stringify(event))}`;
      if (runId === undefined) continue;
      // One that is caught up with may have been answered since; whether it was, the snapshot says.
      const waits = untilInterrupted === true && event.type === "run.interrupted" && event.seq > this.#head;
      if (waits || isTerminal(event.type)) return { text, last: true };
    }
    return { text, last: false };
  }

  #preview(frame: Delta | ({ type: "partial" } & Preview), data: string, slow: boolean): Encoded {
    const { runId } = this.#filter;
    if (frame.type === "partial") this.#text = textOf(frame);
    if (runId !== undefined && runId !== this.#active) return NOTHING;
    if (slow) {
      this.#missed = true;
      return NOTHING;
    }
    const whole = this.#missed && this.#text !== null ? JSON.stringify({ type: "partial", ...this.#text }) : null;
    this.#missed = false;
    return { text: whole === null ? eventText(frame.type, data) : eventText("partial", whole), last: false };
  }

  #append(delta: Delta): void {
    const { messageId, attempt, part, offset, text } = delta;
    const known = this.#text;
    const same = known?.messageId === messageId && known.attempt === attempt && known.part === part;
    const before = offset === 0 ? "" : same && known.text.length === offset ? known.text : null;
    this.#text = before === null ? null : { messageId, attempt, part, text: before + text };
  }

  #forget(): void {
    this.#text = null;
    this.#missed = false;
  }
}

const textOf = ({ messageId, attempt, part, text }: Preview): Preview => ({ messageId, attempt, part, text });
const seqOf = (cursor: string): number => Number(cursor.slice(cursor.indexOf(".") + 1));

/** @param data JSON, so that it has no line breaks */
export const eventText = (type: string, data: string): string => `event: ${type}\ndata: ${data}\n\n`;
