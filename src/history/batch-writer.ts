/**
 * One batch of events to D1, and what to do when it is refused: halves, down to the event that is to blame, which is set
 * aside as a hole. While D1 takes no writes at all nothing is set aside: that is the weather, thrown.
 */
import type { Log, OutboxJournal } from "../actor/ports.ts";
import type { Event } from "../protocol/events.ts";
import type { Destination, Landed } from "./destination.ts";
import { leaveOut, project } from "./project.ts";
import type { Statement, Subject } from "./statement.ts";

/** With the question where the history stands it makes 50. */
const BATCH_STATEMENTS = 49;
/** UTF-16 units bound in one batch. */
const BATCH_CHARS = 1024 * 1024;

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
  readonly #onHole: (seq: number) => void;

  /** @param onHole an event was set aside */
  constructor(ports: WriterPorts, subject: Subject, onHole: (seq: number) => void) {
    this.#ports = ports;
    this.#subject = subject;
    this.#onHole = onHole;
  }

  /** The first of these events that go into one batch together, at least one. */
  fitting(events: readonly Event[]): readonly Event[] {
    let fit = events;
    while (fit.length > 1 && isTooMuch(this.#statements(fit) ?? [])) fit = fit.slice(0, Math.floor(fit.length * 0.7));
    return fit;
  }

  /** @returns where the history stands afterwards; rejects with `Weather` */
  async write(events: readonly Event[]): Promise<Landed> {
    const statements = this.#statements(events);
    if (statements) {
      const landed = await this.#try(statements);
      if (landed) return landed;
    }
    return events.length > 1 ? this.#halves(events) : this.#alone(events, statements);
  }

  async #halves(events: readonly Event[]): Promise<Landed> {
    const middle = Math.ceil(events.length / 2);
    const landed = await this.write(events.slice(0, middle));
    const reached = landed.kind === "at" && landed.seq >= (events[middle - 1]?.seq ?? 0);
    // Behind that, the second half would change nothing yet.
    return reached ? this.write(events.slice(middle)) : landed;
  }

  /** Refused alone while writes are taken: once more, then it is this event and not the weather. */
  async #alone([event]: readonly Event[], statements: readonly Statement[] | null): Promise<Landed> {
    const { journal, destination, log } = this.#ports;
    const landed = statements ? await this.#try(statements) : null;
    if (landed) return landed;
    const reason = statements ? `the database refuses it: ${this.#refusal}` : "it cannot be put in rows";
    // Without its first event there is no row that could have a hole.
    if (!event || event.type === "conversation.created") throw new Weather(reason);
    const skipped = await destination.write(this.#subject, leaveOut(this.#subject, event));
    if (skipped.kind === "at" && skipped.seq >= event.seq) {
      journal.park(event.seq, reason);
      this.#onHole(event.seq);
      const { conversationId } = this.#subject;
      log.error("history_parked", new Error(reason), { conversationId, seq: event.seq, type: event.type });
    }
    return skipped;
  }

  #refusal = "";

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
    const { journal, log } = this.#ports;
    try {
      return project(this.#subject, events, (digest) => journal.payload(digest));
    } catch (error) {
      log.error("history_projection_failed", error, { seq: events[0]?.seq, events: events.length });
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

function isTooMuch(statements: readonly Statement[]): boolean {
  let chars = 0;
  for (const { params } of statements)
    for (const value of params) chars += typeof value === "string" ? value.length : 8;
  return statements.length > BATCH_STATEMENTS || chars > BATCH_CHARS;
}
