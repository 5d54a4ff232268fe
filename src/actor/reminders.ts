/**
 * The one alarm. It stands at or before the earliest duty and is rewritten only when something is due earlier, because
 * setting it costs two fsyncs; a later duty is found when it fires. It decides nothing (**I10**): it is a reminder to
 * ask what is due, and may come early, late, twice or never.
 */
import type { Event } from "../protocol/events.ts";
import { nextDeadline } from "../run/deadlines.ts";
import { outstanding } from "../run/outstanding.ts";
import type { State } from "../run/state.ts";
import { isBusy } from "../run/status.ts";
import type { ActorSettings, Clock, Journal, Log, SignIns, TimerKind } from "./ports.ts";
import { isWorthProjecting } from "./worth-projecting.ts";

export class Reminders {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #settings: ActorSettings;
  readonly #signIns: SignIns | undefined;
  /** When the outbox is to be looked at next, as its row says; undefined until the row was read. */
  #outboxAt: number | null | undefined;
  /** The alarm has fired and its row could not be cleared: it says of one that is gone that it stands. */
  #fired = false;

  constructor(journal: Journal, clock: Clock, settings: ActorSettings, signIns?: SignIns) {
    this.#journal = journal;
    this.#signIns = signIns;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** The outbox's row: set with the first event that the history should learn, cleared when it is drained. */
  timersFor(events: readonly Event[]): Partial<Record<TimerKind, number | null>> {
    if (this.#outbox() !== null || !events.some(isWorthProjecting)) return {};
    return { outbox: this.#clock.now() + this.#settings.outboxMs };
  }

  /** Known only when it stands: a commit that failed has set nothing. */
  timersSet({ outbox }: Partial<Record<TimerKind, number | null>>): void {
    if (outbox !== undefined) this.#outboxAt = outbox;
  }

  outboxDue(): boolean {
    const at = this.#outbox();
    return at !== null && at <= this.#clock.now();
  }

  /** A drain is under way: the alarm that started it must not come again at once, and again until it has an answer. */
  outboxStarted(): void {
    if (this.#outbox() !== null) this.#outboxAt = this.#clock.now() + this.#settings.outboxMs;
  }

  /** @param at epoch ms of the next try; null: nothing is left to bring over */
  outboxDrained(at: number | null): void {
    if (this.#outbox() === at) return;
    this.#outboxAt = at;
    this.#journal.setTimers({ outbox: at });
  }

  /** Whatever becomes of the row: it does not stand. */
  alarmFired(): void {
    this.#fired = true;
    this.#journal.alarmFired();
    this.#fired = false;
  }

  /** @param notBefore epoch ms: a duty has just failed, and trying it again at once would only fail again, for ever */
  arm(state: State, notBefore = 0): void {
    const due = this.#earliest(state);
    if (due === null) return;
    const standing = this.#fired ? null : this.#journal.alarmAt();
    const earliest = Math.max(due, notBefore);
    if (standing !== null && standing <= earliest) return;
    this.#journal.setAlarm(earliest);
    this.#fired = false;
  }

  /** A new life's first: an alarm that is overdue by then cannot be trusted to fire, so it does not count as standing. */
  armAnew(state: State): void {
    const standing = this.#journal.alarmAt();
    if (standing !== null && standing <= this.#clock.now()) this.alarmFired();
    this.arm(state);
  }

  #earliest(state: State): number | null {
    const now = this.#clock.now();
    const working = outstanding(state, Number.MAX_SAFE_INTEGER).length > 0 || state.active?.halt;
    const watchdog = working ? now + this.#settings.watchdogMs : null;
    // While something is in flight, memory has its deadlines to the millisecond; the alarm is for an object that dies.
    const inMemory = working && state.active && isBusy(state, state.active);
    const deadline = inMemory ? null : nextDeadline(state, now);
    const signIns = this.#signIns?.nextEnd() ?? null;
    const due = [deadline, watchdog, this.#outbox(), signIns].filter((at) => at !== null);
    return due.length === 0 ? null : Math.max(now, Math.min(...due));
  }

  #outbox(): number | null {
    if (this.#outboxAt === undefined) this.#outboxAt = this.#journal.timers().outbox ?? null;
    return this.#outboxAt;
  }
}

/**
 * Runs each duty by itself: one that fails is logged, and keeps none of the others from being done.
 *
 * @returns whether all of them went well
 */
export function isolated(log: Log, duties: Record<string, () => void>): boolean {
  let well = true;
  for (const [duty, run] of Object.entries(duties)) {
    try {
      run();
    } catch (error) {
      well = false;
      log.error("alarm_duty_failed", error, { duty });
    }
  }
  return well;
}
