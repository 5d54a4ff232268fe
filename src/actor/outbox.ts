/**
 * When the outbox is drained: soon after what the history should learn, and when its timer says so; one drain at a time,
 * in the background, never on the way of an answer (**I9**).
 */
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

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  /** After the turn: the answer and the frames leave first. */
  soon(): void {
    this.#deps.clock.after(0, () => this.drain());
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
