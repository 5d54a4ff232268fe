/**
 * When the outbox is drained: soon after what the history should learn, and when its timer says so; one drain at a time,
 * in the background, never on the way of an answer (**I9**).
 */
import { DURATIONS } from "../protocol/limits.ts";
import type { Clock, Log, Projector } from "./ports.ts";
import type { Reminders } from "./reminders.ts";

export interface OutboxDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly projector: Projector;
  readonly reminders: Reminders;
  /** The alarm is to be armed anew. */
  readonly arm: () => void;
}

export class Outbox {
  readonly #deps: OutboxDeps;
  /** `again`: something was committed while a drain was under way, perhaps behind its last look. */
  #draining: "once" | "again" | null = null;
  #due = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  /** Shortly after the turn: answers and frames leave first, and the next run of a quick talker shares the batch. */
  soon(): void {
    if (this.#due) return;
    this.#due = true;
    this.#deps.clock.after(DURATIONS.projectionMs, () => {
      this.#due = false;
      this.drain();
    });
  }

  drain(): void {
    const { reminders, projector, log, arm } = this.#deps;
    reminders.outboxStarted();
    if (this.#draining !== null) {
      this.#draining = "again";
      return;
    }
    this.#draining = "once";
    void projector
      .drain()
      .then((at) => {
        const again = this.#draining === "again" && at === null;
        this.#draining = null;
        if (again) return this.drain();
        reminders.outboxDrained(at);
        arm();
      })
      .catch((error: unknown) => {
        this.#draining = null;
        log.error("outbox_failed", error);
      });
  }
}
