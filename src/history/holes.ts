/**
 * Events that were set aside, tried again: with longer and longer waits, and not for ever. What D1 never takes stays
 * parked for people to see; it blocks nothing.
 */
import type { Clock } from "../actor/ports.ts";
import { backOffMs } from "./back-off.ts";
import { mustTakeWrites, type WriterPorts } from "./batch-writer.ts";
import { canFillLater, fillHole } from "./project.ts";
import type { Subject } from "./statement.ts";

const ATTEMPTS = 8;

export interface HolePorts extends WriterPorts {
  readonly clock: Pick<Clock, "now">;
  readonly random: () => number;
}

export class Holes {
  readonly #ports: HolePorts;
  /** When each may be tried again; forgotten with the object, then it may be at once. */
  readonly #dueAt = new Map<number, number>();

  constructor(ports: HolePorts) {
    this.#ports = ports;
  }

  opened(seq: number, attempts = 1): number {
    const { clock, random } = this.#ports;
    const at = clock.now() + backOffMs(attempts, random());
    this.#dueAt.set(seq, at);
    return at;
  }

  /** @returns when the next one is due (epoch ms), null when none is; rejects with `Weather` */
  async fill(subject: Subject): Promise<number | null> {
    const { journal, clock } = this.#ports;
    let next = Number.POSITIVE_INFINITY;
    for (const { seq, attempts } of journal.parked()) {
      if (attempts >= ATTEMPTS) continue;
      const due = this.#dueAt.get(seq) ?? 0;
      next = Math.min(next, due > clock.now() ? due : await this.#try(subject, seq, attempts));
    }
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  async #try(subject: Subject, seq: number, attempts: number): Promise<number> {
    const { journal, destination } = this.#ports;
    const event = journal.event(seq)?.event;
    if (!event || !canFillLater(event)) return Number.POSITIVE_INFINITY;
    try {
      await destination.write(
        subject,
        fillHole(subject, event, (digest) => journal.payload(digest)),
      );
      journal.unpark(seq);
      this.#dueAt.delete(seq);
      return Number.POSITIVE_INFINITY;
    } catch (error) {
      await mustTakeWrites(destination, subject, error);
      journal.park(seq, `the database refuses it: ${String(error)}`);
      return attempts + 1 >= ATTEMPTS ? Number.POSITIVE_INFINITY : this.opened(seq, attempts + 1);
    }
  }
}
