/**
 * One batch of events to D1, and what to do when it is refused: halves, down to the event that may be to blame. That one
 * is set aside in the journal first; only after several refusals, each in a drain of its own, is it a hole in D1, and
 * the others go on. So at any death there is nothing, or a hole that is known. While D1 takes no writes at all
 * nothing is set aside: that is the weather, thrown.
 */
import type { Log, OutboxJournal } from "../actor/ports.ts";
import type { Event } from "../protocol/events.ts";
import type { Destination, Landed } from "./destination.ts";
import { effectsOf, joined, leaveOut, noHole, type Projected } from "./project.ts";
import type { Statement, Subject } from "./statement.ts";

/** With the question where the history stands it makes 50. */
const BATCH_STATEMENTS = 49;
/** UTF-16 units bound in one batch. */
const BATCH_CHARS = 1024 * 1024;
/** A lost answer looks like a refusal; so many in a row, with waits in between, do not. */
const REFUSALS = 3;

/** The database takes no writes, or its answer makes no sense: to be tried again later. */
export class Weather extends Error {
  constructor(cause: unknown) {
    super("the history takes no writes", { cause });
    this.name = "Weather";
  }
}

export interface WriterPorts {
  readonly journal: OutboxJournal;
  readonly destination: Destination;
  readonly log: Log;
}

export class BatchWriter {
  readonly #ports: WriterPorts;
  readonly #subject: Subject;
  readonly #onHole: (seq: number, refusals: number) => void;
  /** Events that were refused before, and how often: D1 may have a hole for each of them, or none yet. */
  readonly #aside: Map<number, number>;

  /** @param onHole an event was left out */
  constructor(ports: WriterPorts, subject: Subject, onHole: (seq: number, refusals: number) => void) {
    this.#ports = ports;
    this.#subject = subject;
    this.#onHole = onHole;
    this.#aside = new Map(ports.journal.parked().map(({ seq, attempts }) => [seq, attempts]));
  }

  /** The first of these events that go into one batch together, at least one. */
  fitting(events: readonly Event[]): readonly Event[] {
    const list: Projected[] = [];
    // For the move beyond the last.
    let count = 1;
    let chars = 0;
    for (const event of events) {
      const one = this.#projected(event);
      if (!one) break;
      count +=
        one.effects.length + (one.effects.length > 0 && list.length > 0 ? 1 : 0) + Number(this.#aside.has(event.seq));
      chars += charsOf(one.effects);
      if (list.length > 0 && (count > BATCH_STATEMENTS || chars > BATCH_CHARS)) break;
      list.push(one);
    }
    const fit = events.slice(0, Math.max(1, list.length));
    this.#fitted = { events: fit, list: list.length > 0 ? list : null };
    return fit;
  }

  /** @returns where the history stands afterwards; rejects with `Weather` */
  async write(events: readonly Event[]): Promise<Landed> {
    const statements = this.#statements(events);
    const landed = statements && (await this.#try(statements));
    if (landed) {
      this.#taken(events, landed);
      return landed;
    }
    const [first] = events;
    return events.length > 1 || !first ? this.#halves(events) : this.#refused(first, statements !== null);
  }

  async #halves(events: readonly Event[]): Promise<Landed> {
    const middle = Math.ceil(events.length / 2);
    const landed = await this.write(events.slice(0, middle));
    const reached = landed.kind === "at" && landed.seq >= (events[middle - 1]?.seq ?? 0);
    // Behind that, the second half would change nothing yet.
    return reached ? this.write(events.slice(middle)) : landed;
  }

  /** What was set aside and went through after all is so no more. The cursor follows, whatever befalls the rest. */
  #taken(events: readonly Event[], landed: Landed): void {
    const { journal } = this.#ports;
    if (landed.kind === "missing") return;
    const taken = events.filter(({ seq }) => landed.kind !== "at" || seq <= landed.seq);
    this.#mark(taken.at(-1)?.seq ?? 0);
    for (const { seq } of taken) if (this.#aside.delete(seq)) journal.unpark(seq);
  }

  #mark(seq: number): void {
    const { journal } = this.#ports;
    if (seq > journal.projectedSeq()) journal.markProjected(seq);
  }

  /** @param byDatabase false: it cannot be put in rows, and no wait changes that */
  async #refused(event: Event, byDatabase: boolean): Promise<Landed> {
    const { journal, log } = this.#ports;
    const { seq, type } = event;
    const reason = byDatabase ? `the database refuses it: ${this.#refusal}` : "it cannot be put in rows";
    // Without its first event there is no row that could have a hole.
    if (type === "conversation.created") throw new Weather(reason);
    const before = this.#aside.get(seq) ?? 0;
    // Of more refusals there is no need to know: they would use up the tries at filling the hole.
    const refusals = before >= REFUSALS ? before : before + 1;
    if (refusals !== before) journal.park(seq, reason);
    this.#aside.set(seq, refusals);
    if (byDatabase && refusals < REFUSALS) throw new Weather(reason);
    const landed = await this.#leaveOut(event);
    if (landed.kind !== "at" || landed.seq < seq) return landed;
    this.#mark(seq);
    this.#onHole(seq, refusals);
    const { conversationId } = this.#subject;
    log.error("history_parked", new Error(reason), { conversationId, seq, type });
    return landed;
  }

  async #leaveOut(event: Event): Promise<Landed> {
    const { destination } = this.#ports;
    try {
      return await destination.write(this.#subject, leaveOut(this.#subject, event));
    } catch (error) {
      // The hole may be there or not; that the event is set aside is known either way.
      throw new Weather(error);
    }
  }

  #refusal = "";
  /** What was made to find out what fits. */
  #fitted: { readonly events: readonly Event[]; readonly list: readonly Projected[] | null } | null = null;

  /** null: refused, and it is not the weather. */
  async #try(statements: readonly Statement[]): Promise<Landed | null> {
    const { destination } = this.#ports;
    try {
      return await destination.write(this.#subject, statements);
    } catch (error) {
      this.#refusal = String(error);
      await mustTakeWrites(destination, this.#subject, error);
      return null;
    }
  }

  /** null: one of them cannot be put in rows at all. */
  #statements(events: readonly Event[]): Statement[] | null {
    const list = this.#fitted?.events === events ? this.#fitted.list : this.#all(events);
    this.#fitted = null;
    if (!list) return null;
    const again = events.filter(({ seq }) => this.#aside.has(seq));
    return [...joined(this.#subject, list), ...again.map(({ seq }) => noHole(this.#subject, seq))];
  }

  #all(events: readonly Event[]): readonly Projected[] | null {
    const list = events.map((event) => this.#projected(event)).filter((one) => one !== null);
    return list.length === events.length ? list : null;
  }

  #projected(event: Event): Projected | null {
    const { journal, log } = this.#ports;
    try {
      return { event, effects: effectsOf(this.#subject, event, (digest) => journal.payload(digest)) };
    } catch (error) {
      log.error("history_projection_failed", error, { seq: event.seq, type: event.type });
      return null;
    }
  }
}

/** After a refusal: rejects with `Weather` when the database refuses every write. */
export async function mustTakeWrites(destination: Destination, subject: Subject, refusal: unknown): Promise<void> {
  try {
    await destination.probe(subject);
  } catch {
    throw new Weather(refusal);
  }
}

function charsOf(statements: readonly Statement[]): number {
  let chars = 0;
  for (const { params } of statements)
    for (const value of params) chars += typeof value === "string" ? value.length : 8;
  return chars;
}
