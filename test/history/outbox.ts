/** The outbox's side of a journal, in memory: what the drain may see and do. */
import type { EncodedEvent, Log, OutboxJournal } from "../../src/actor/ports.ts";
import type { Event } from "../../src/protocol/events.ts";
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import type { Script } from "./script.ts";

export class Outbox implements OutboxJournal {
  readonly payloads = new Map<string, string>();
  readonly aside = new Map<number, { seq: number; reason: string; attempts: number }>();
  readonly #script: Script;
  #projected = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  unprojected(limit: number): EncodedEvent[] {
    return this.#script.events.slice(this.#projected, this.#projected + limit).map(encodeEvent);
  }

  projectedSeq(): number {
    return this.#projected;
  }

  markProjected(seq: number): void {
    if (seq > this.#script.events.length) throw new RangeError(`event ${seq} is not in the log`);
    this.#projected = Math.max(this.#projected, seq);
  }

  park(seq: number, reason: string): void {
    this.aside.set(seq, { seq, reason, attempts: (this.aside.get(seq)?.attempts ?? 0) + 1 });
  }

  unpark(seq: number): void {
    this.aside.delete(seq);
  }

  parked(): { seq: number; reason: string; attempts: number }[] {
    return [...this.aside.values()].toSorted((a, b) => a.seq - b.seq);
  }

  event(seq: number): EncodedEvent | null {
    const event = this.#script.events[seq - 1];
    return event ? encodeEvent(event) : null;
  }

  events({ after, limit, runId }: Parameters<OutboxJournal["events"]>[0]): EncodedEvent[] {
    const found = this.#script.events.filter(
      (event) => event.seq > after && (runId === undefined || event.runId === runId),
    );
    return found.slice(0, limit).map(encodeEvent);
  }

  eventsOf(types: readonly Event["type"][]): Event[] {
    return this.#script.events.filter(({ type }) => types.includes(type));
  }

  payload(digest: string): string | null {
    return this.payloads.get(digest) ?? null;
  }

  identity(): ReturnType<OutboxJournal["identity"]> {
    return this.#script.state.identity;
  }
}

/** Remembers the names of what was logged. */
export class Lines implements Log {
  readonly names: string[] = [];

  info(event: string): void {
    this.names.push(event);
  }

  warn(event: string): void {
    this.names.push(event);
  }

  error(event: string): void {
    this.names.push(event);
  }
}
