/**
 * Events that were left out, tried again: with longer and longer waits, and not for ever. What D1 never takes stays
 * set aside for people to see; it blocks nothing.
 */
import type { Clock } from "../actor/ports.ts";
import { backOffMs } from "./back-off.ts";
import { mustTakeWrites, type WriterPorts } from "./batch-writer.ts";
import type { Landed } from "./destination.ts";
import { fillHole } from "./fill.ts";
import { past } from "./past.ts";
import type { Subject } from "./statement.ts";

const ATTEMPTS = 8;

export interface HolePorts extends WriterPorts {
  readonly clock: Pick<Clock, "now">;
  readonly random: () => number;
}

/** `done`: when the next one is due (epoch ms), null when none is. `behind`: the history lacks what it had. */
export type Filled =
  | { readonly kind: "done"; readonly again: number | null }
  | { readonly kind: "behind"; readonly landed: Landed };

export class Holes {
  readonly #ports: HolePorts;
  /** When each may be tried again; forgotten with the object, then it may be at once. */
  readonly #dueAt = new Map<number, number>();

  constructor(ports: HolePorts) {
    this.#ports = ports;
  }

  opened(seq: number, attempts: number): number {
    const { clock, random } = this.#ports;
    const at = clock.now() + backOffMs(attempts, random());
    this.#dueAt.set(seq, at);
    return at;
  }

  /**
   * The history stands at the journal's cursor. Rejects with `Weather`.
   * @param all also those that are not due, or have been given up
   */
  async fill(subject: Subject, all = false): Promise<Filled> {
    const { journal, clock } = this.#ports;
    const set = journal.parked();
    const lacks = new Set(set.map(({ seq }) => seq));
    let next = Number.POSITIVE_INFINITY;
    for (const { seq, attempts } of set) {
      if (attempts >= ATTEMPTS && !all) continue;
      let due = all ? 0 : (this.#dueAt.get(seq) ?? 0);
      if (due <= clock.now()) {
        const landed = await this.#try(subject, seq, lacks);
        if (landed && stands(landed) < journal.projectedSeq()) return { kind: "behind", landed };
        if (landed) {
          journal.unpark(seq);
          lacks.delete(seq);
          this.#dueAt.delete(seq);
          continue;
        }
        if (attempts + 1 >= ATTEMPTS) continue;
        due = this.opened(seq, attempts + 1);
      }
      next = Math.min(next, due);
    }
    return { kind: "done", again: next === Number.POSITIVE_INFINITY ? null : next };
  }

  /** null: refused once more. */
  async #try(subject: Subject, seq: number, lacks: ReadonlySet<number>): Promise<Landed | null> {
    const { journal, destination } = this.#ports;
    const event = journal.event(seq)?.event;
    if (!event) throw new Error(`event ${seq} is not in the log`);
    const others = new Set(lacks);
    others.delete(seq);
    try {
      const statements = fillHole(subject, event, past(journal, others), (digest) => journal.payload(digest));
      return await destination.write(subject, statements);
    } catch (error) {
      await mustTakeWrites(destination, subject, error);
      journal.park(seq, `the database refuses it: ${String(error)}`);
      return null;
    }
  }
}

/** Of an erased or superseded conversation there is nothing to fill. */
function stands(landed: Landed): number {
  if (landed.kind === "at") return landed.seq;
  return landed.kind === "missing" ? 0 : Number.POSITIVE_INFINITY;
}
