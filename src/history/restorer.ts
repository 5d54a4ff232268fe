/**
 * One conversation's history brought back from its log, on an administrator's order, and what there is to say of it. Works
 * beside the outbox, never on the way of an answer (**I9**), and decides nothing about runs.
 */
import type { OutboxJournal } from "../actor/ports.ts";
import type { HistoryAccount, RestoreMode } from "../protocol/restore.ts";
import { epochOf } from "../protocol/time.ts";
import type { Destination } from "./destination.ts";
import type { HistoryDrain } from "./drain.ts";
import type { Subject } from "./statement.ts";

/** Of at most 50 statements each, in one call. */
const BATCHES = 15;

export interface RestorerPorts {
  readonly journal: OutboxJournal & { tombstone(): unknown };
  readonly destination: Destination;
  readonly drain: Pick<HistoryDrain, "restore">;
  /** The last event of the log. */
  readonly head: () => number;
  readonly now: () => number;
}

export class Restorer {
  readonly #ports: RestorerPorts;

  constructor(ports: RestorerPorts) {
    this.#ports = ports;
  }

  /** Rejects where the history cannot be asked. */
  async restore(mode: RestoreMode): Promise<HistoryAccount> {
    const { journal, drain, head, now } = this.#ports;
    const subject = journal.identity();
    if (!subject) return { kind: journal.tombstone() ? "erased" : "empty" };
    const stood = await this.#stands(subject);
    if (mode !== "look") await drain.restore(mode === "anew", BATCHES);
    const stands = mode === "look" ? stood : await this.#stands(subject);
    const { tenantId, conversationId } = subject;
    const lacking = journal.event(stands + 1)?.event;
    return {
      kind: "conversation",
      tenantId,
      conversationId,
      head: head(),
      stood,
      stands,
      lagMs: lacking ? Math.max(0, now() - epochOf(lacking.at)) : 0,
      parked: journal.parked(),
    };
  }

  /** Another generation's row is none of this conversation's. */
  async #stands(subject: Subject): Promise<number> {
    const landed = await this.#ports.destination.write(subject, []);
    return landed.kind === "at" ? landed.seq : 0;
  }
}
