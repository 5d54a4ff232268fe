/**
 * The outbox: brings the log to D1 in the background. One drain at a time per object; events go in the order of the
 * log, at most 50 in a transaction, and the journal's cursor moves when D1 has answered.
 *
 * Keeps **I9**. An answer that is lost does no harm: the same events change nothing the second time. An event that D1
 * refuses for itself blocks nothing. Where D1 has lost what it once had, the log brings it again. It never rejects, and
 * must decide nothing about runs.
 */
import type { Event } from "../protocol/events.ts";
import type { Projector } from "../actor/ports.ts";
import { backOffMs } from "./back-off.ts";
import { BatchWriter, Weather } from "./batch-writer.ts";
import type { Landed } from "./destination.ts";
import { forgotten } from "./forget.ts";
import { Holes, type HolePorts } from "./holes.ts";
import type { Subject } from "./statement.ts";

const BATCH_EVENTS = 50;

/** Where a drain begins: behind what the journal knows to be brought over, behind what the history has, or with nothing. */
type Start = "journal" | "history" | "nothing";

/** `random` is of [0, 1). */
export type DrainPorts = HolePorts;

export class HistoryDrain implements Projector {
  readonly #ports: DrainPorts;
  readonly #holes: Holes;
  #running: Promise<number | null> | null = null;
  #failures = 0;
  #retryAt = 0;

  constructor(ports: DrainPorts) {
    this.#ports = ports;
    this.#holes = new Holes(ports);
  }

  drain(): Promise<number | null> {
    this.#running ??= this.#run("journal");
    return this.#running;
  }

  /**
   * Looks where the history really stands, or takes away what it has, and brings the rest; what was set aside is tried
   * again. Resolves when nothing is left to do now, and says as little as `drain` of what could not be done.
   *
   * @param batches after so many the rest is left to the next call
   */
  async restore(anew: boolean, batches: number): Promise<void> {
    while (this.#running) await this.#running;
    this.#retryAt = 0;
    this.#running = this.#run(anew ? "nothing" : "history", batches);
    await this.#running;
  }

  async #run(start: Start, batches = Number.POSITIVE_INFINITY): Promise<number | null> {
    // `#running` must be set before it is cleared, also where there is nothing to do.
    await Promise.resolve();
    const { clock, log, random } = this.#ports;
    try {
      if (clock.now() < this.#retryAt) return this.#retryAt;
      const again = await this.#bringOver(start, batches);
      this.#failures = 0;
      return again;
    } catch (error) {
      this.#failures += 1;
      this.#retryAt = clock.now() + backOffMs(this.#failures, random());
      const fields = { failures: this.#failures, retryAt: this.#retryAt };
      if (error instanceof Weather) log.warn("history_unavailable", { ...fields, reason: String(error.cause) });
      else log.error("history_drain_failed", error, fields);
      return this.#retryAt;
    } finally {
      // In the turn of the last look at the log: an event that comes after it gets a drain of its own.
      this.#running = null;
    }
  }

  /** @returns when something is to be tried again; null: nothing is left */
  async #bringOver(start: Start, batches: number): Promise<number | null> {
    const { journal, clock } = this.#ports;
    const subject = journal.identity();
    if (!subject) return null;
    const begin = await this.#begin(start, subject);
    if (begin === null) return null;
    const writer = new BatchWriter(this.#ports, subject, (seq, refusals) => this.#holes.opened(seq, refusals));
    let cursor = begin;
    let steppedBack = false;
    let ahead: readonly Event[] = [];
    for (let batch = 1; ; batch++) {
      // The journal's cursor may be beyond: whoever goes on with this looks where the history stands.
      if (batch > batches) return clock.now();
      const events = ahead.length > 0 ? ahead : this.#after(cursor);
      if (events.length === 0) {
        const filled = await this.#holes.fill(subject, start !== "journal");
        if (filled.kind === "behind") {
          cursor = this.#lost(filled.landed.kind === "at" ? filled.landed.seq : 0, subject);
          steppedBack = true;
        } else if (this.#after(cursor).length === 0) return filled.again;
        continue;
      }
      const fitting = writer.fitting(events);
      const first = fitting[0]?.seq ?? 0;
      const reached = this.#reached(await writer.write(fitting), fitting, subject);
      if (reached < first) {
        // Stepping back must lead on; otherwise its answers make no sense.
        if (steppedBack || reached === first - 1) throw new Weather(`the history stands at ${reached}`);
        this.#lost(reached, subject);
      }
      steppedBack = reached < first;
      cursor = reached;
      // What did not fit is not read again, where it is what comes next.
      const rest = events.slice(fitting.length);
      ahead = rest[0]?.seq === reached + 1 ? rest : [];
    }
  }

  /** null: the history has no place for this conversation. */
  async #begin(start: Start, subject: Subject): Promise<number | null> {
    const { journal, destination } = this.#ports;
    const known = journal.projectedSeq();
    if (start === "journal") return known;
    const landed = await destination.write(subject, start === "nothing" ? forgotten(subject) : []);
    if (landed.kind === "missing") return 0;
    return landed.kind === "at" ? Math.min(landed.seq, known) : null;
  }

  #lost(seq: number, { conversationId }: Subject): number {
    const lost = new Error("the history lacks events that it once had");
    this.#ports.log.error("history_lost", lost, { conversationId, seq });
    return seq;
  }

  /** Behind the journal's cursor only where D1 has lost what it had. */
  #after(cursor: number): Event[] {
    const { journal } = this.#ports;
    const until = Math.min(journal.projectedSeq(), cursor + BATCH_EVENTS);
    const lost: Event[] = [];
    for (let seq = cursor + 1; seq <= until; seq++) {
      const encoded = journal.event(seq);
      if (!encoded) throw new Error(`event ${seq} is not in the log`);
      lost.push(encoded.event);
    }
    return lost.length > 0 ? lost : journal.unprojected(BATCH_EVENTS).map(({ event }) => event);
  }

  /** Up to where the history has the log now. */
  #reached(landed: Landed, batch: readonly Event[], { conversationId }: Subject): number {
    const last = batch.at(-1)?.seq ?? 0;
    switch (landed.kind) {
      case "missing":
        return 0;
      case "at":
        return Math.min(landed.seq, last);
      case "superseded": {
        const superseded = new Error("the history has another generation of this conversation");
        this.#ports.log.error("history_superseded", superseded, { conversationId });
        return last;
      }
      case "erased":
        return last;
    }
  }
}
