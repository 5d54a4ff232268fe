/**
 * The shell of one conversation: it loads the state, turns requests, outcomes and alarms into inputs for the writer, and
 * keeps performer, reminders and outbox in line after each commit. It decides nothing about runs; the core does.
 *
 * Every way in begins with `open`: a new life that finds unfinished work says so to the core before anything else, so a
 * restart is the same whether an alarm, a request or a socket's frame is the first thing that happens.
 */
import type { Principal, RequestContext } from "../protocol/principal.ts";
import type { Result } from "../protocol/problems.ts";
import type { Role } from "../protocol/roles.ts";
import type { CommandAnswer, CommandRequest } from "../protocol/rpc.ts";
import { checkVisible } from "../run/authority.ts";
import { nextDeadline } from "../run/deadlines.ts";
import { isBusy } from "../run/status.ts";
import type { State } from "../run/state.ts";
import { Budgeting } from "./budgeting.ts";
import { Commands, type Acknowledge } from "./commanding.ts";
import { Credentials } from "./credentials.ts";
import { Outbox } from "./outbox.ts";
import { Performer } from "./performer.ts";
import type { ActorPorts, Checkpoint, EncodedEvent, Transcript } from "./ports.ts";
import { readingRole, Reads } from "./reads.ts";
import { isolated, Reminders } from "./reminders.ts";
import { Rates } from "./rates.ts";
import { RunLog } from "./run-log.ts";
import { partialOf, StreamingText } from "./streaming-text.ts";
import { TRANSCRIPT_EVENTS } from "./transcript-events.ts";
import { isWorthProjecting } from "./worth-projecting.ts";
import { Writer } from "./writer.ts";

export class ConversationActor {
  readonly reads: Reads;
  /** Of those who command here. */
  readonly rates: Rates;
  readonly #ports: ActorPorts;
  readonly #writer: Writer;
  readonly #commands: Commands;
  readonly #performer: Performer;
  readonly #reminders: Reminders;
  readonly #outbox: Outbox;
  readonly #streaming: StreamingText;
  readonly #credentials = new Credentials();
  readonly #budgeting: Budgeting;
  readonly #runLog: RunLog;
  #transcript: Transcript | null = null;
  #opened = false;
  #cancelReminder: () => void = () => undefined;
  readonly #timePassed = {
    time: () => void this.#writer.turn({ input: { type: "time_passed" } }),
    effects: () => this.#performer.reconcile(),
  };

  constructor(ports: ActorPorts) {
    const { journal, clock, publisher, settings } = ports;
    this.#ports = ports;
    this.#streaming = new StreamingText(journal, publisher, clock, settings.checkpointMs);
    this.#reminders = new Reminders(journal, clock, settings, ports.signIns);
    this.#outbox = new Outbox({
      ...ports,
      reminders: this.#reminders,
      arm: () => this.#reminders.arm(this.#writer.state),
    });
    this.#writer = new Writer({
      journal,
      now: () => clock.now(),
      partial: () => this.#streaming.partial(),
      unstored: () => this.#performer.unstored(),
      timers: (events) => this.#reminders.timersFor(events),
      timersSet: (timers) => this.#reminders.timersSet(timers),
      committed: (encoded, state) => this.#committed(encoded, state),
    });
    this.#performer = new Performer({
      ...ports,
      streaming: this.#streaming,
      state: () => this.#writer.state,
      transcript: () => this.#openTranscript(),
      authHeader: (runId) => this.#credentials.of(runId, clock.now()),
      deliver: (input, payloads) => void this.#writer.turn({ input, payloads }),
    });
    this.#budgeting = new Budgeting({ ...ports, transcript: () => this.#openTranscript() });
    this.#runLog = new RunLog(ports.log);
    this.reads = new Reads(journal, () => this.state);
    this.rates = new Rates(settings.commandRate ?? null, () => clock.now());
    this.#commands = new Commands({
      ...ports,
      state: () => this.state,
      turn: (turn) => this.#writer.turn(turn),
      budgeting: this.#budgeting,
      rates: this.rates,
      credentials: this.#credentials,
      runLog: this.#runLog,
    });
  }

  /** The state, of an object that was opened. */
  get state(): State {
    this.open();
    return this.#writer.state;
  }

  /** What is being streamed right now, for a watcher that joins. */
  inProgress(): Checkpoint | null {
    return this.#streaming.current();
  }

  /** The first act of a life. Nothing is written for an object that was never initialised. */
  open(): void {
    if (this.#opened) return;
    const state = this.#ports.journal.open();
    this.#opened = true;
    if (!state) return;
    this.#writer.load(state);
    try {
      this.#wake(state);
    } catch (error) {
      // Not woken: going on would take what an earlier life had out for something that is still to be sent.
      this.#opened = false;
      throw error;
    }
  }

  /** @param acknowledge told the answer as soon as it is committed, before anybody else hears of anything */
  command(
    context: RequestContext,
    request: CommandRequest,
    acknowledge: Acknowledge = () => undefined,
  ): Promise<Result<CommandAnswer>> {
    return this.#commands.command(context, request, acknowledge);
  }

  /** Never awaits a model or a tool, and never throws: the platform drops an alarm that keeps failing. */
  alarm(): void {
    const { log, journal, clock, settings } = this.#ports;
    isolated(log, { fired: () => this.#reminders.alarmFired(), open: () => this.open() });
    if (!this.#opened) {
      isolated(log, { again: () => journal.setAlarm(clock.now() + settings.watchdogMs) });
      return;
    }
    const well = isolated(log, {
      ...this.#timePassed,
      signIns: () => this.#ports.signIns?.endDue(),
      outbox: () => this.#reminders.outboxDue() && this.#outbox.drain(),
    });
    const notBefore = well ? 0 : clock.now() + settings.watchdogMs;
    isolated(log, { arm: () => this.#reminders.arm(this.#writer.state, notBefore) });
  }

  /** Whether a principal may watch, and as what. */
  watch(principal: Principal): Result<{ readonly state: State; readonly role: Role }> {
    const { state } = this;
    const hidden = checkVisible(state, principal);
    return hidden
      ? { ok: false, rejection: hidden }
      : { ok: true, value: { state, role: readingRole(state, principal) } };
  }

  /** Runs of a deactivated user, or of everybody, stop here. @returns how many had to be told */
  deactivate(tenantId: string, userId: string | undefined): number {
    const { state } = this;
    if (state.identity?.tenantId !== tenantId) return 0;
    return this.#writer.turn({ input: { type: "deactivated", ...(userId === undefined ? {} : { userId }) } }).events
      .length;
  }

  /** Nothing starts until it goes on. @returns how many runs had to be told */
  pause(paused: boolean): number {
    return Math.min(1, this.#writer.turn({ input: { type: paused ? "paused" : "resumed" } }).events.length);
  }

  /** There may be room again: who waits for it asks. */
  budgetChanged(): void {
    if (this.state.identity) this.#writer.turn({ input: { type: "budget_changed" } });
  }

  /** Somebody watches from now on, whose sign-in will end. */
  watched(): void {
    this.#reminders.arm(this.#writer.state);
  }

  #wake(state: State): void {
    if (state.active && isBusy(state, state.active)) {
      const checkpoint = this.#ports.journal.checkpoint();
      const partial = checkpoint?.runId === state.active.id ? { partial: partialOf(checkpoint) } : {};
      this.#ports.log.warn("woke_with_unfinished_work", { runId: state.active.id });
      this.#writer.turn({
        input: { type: "woke", ...partial, ...this.#budgeting.lost(state, checkpoint?.text ?? "") },
      });
      this.#performer.reconcile();
      this.#remindInMemory(this.#writer.state);
    }
    this.#reminders.armAnew(this.#writer.state);
  }

  #committed(encoded: EncodedEvent[], state: State): void {
    const { publisher, journal } = this.#ports;
    if (encoded.length > 0) publisher.events(encoded, state);
    for (const { event } of encoded) {
      this.#transcript?.append(event, (digest) => journal.payload(digest));
      if (event.type === "message.completed" || event.type === "step.superseded" || event.type === "step.finished") {
        this.#streaming.clear();
      }
    }
    this.#performer.reconcile();
    this.#budgeting.committed(state);
    this.#remindInMemory(state);
    this.#reminders.arm(state);
    if (encoded.some(({ event }) => isWorthProjecting(event))) this.#outbox.soon();
    this.#runLog.committed(
      encoded.map(({ event }) => event),
      state,
    );
  }

  /**
   * While something is in flight the object is awake anyway, so deadlines are met to the millisecond and back-offs end
   * on time; a run that waits for a person leaves no timer behind, or the object could not hibernate.
   */
  #remindInMemory(state: State): void {
    this.#cancelReminder();
    const { clock, log } = this.#ports;
    const at = state.active && isBusy(state, state.active) ? nextDeadline(state, clock.now()) : null;
    if (at === null) return;
    this.#cancelReminder = clock.after(Math.max(0, at - clock.now()), () => {
      // Where that cannot be written, the alarm tries it again.
      if (isolated(log, this.#timePassed)) this.#remindInMemory(this.#writer.state);
    });
  }

  #openTranscript(): Transcript {
    const { journal } = this.#ports;
    if (this.#transcript) return this.#transcript;
    const transcript = this.#ports.transcript();
    for (const event of journal.eventsOf(TRANSCRIPT_EVENTS))
      transcript.append(event, (digest) => journal.payload(digest));
    this.#transcript = transcript;
    return transcript;
  }
}
