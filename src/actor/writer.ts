/**
 * The one writer of a conversation. Each input is decided, committed, published and performed in one synchronous turn.
 *
 * **I1** commit → acknowledge → publish → perform, in this order. **I2** the state in memory is the fold of what was committed: where
 * the transaction throws, the state stays what it was. **I11** there is no await in here.
 */
import { decide } from "../run/decide.ts";
import type { Input, PartialText, Unstored } from "../run/inputs.ts";
import type { Rejection } from "../protocol/problems.ts";
import type { Event } from "../protocol/events.ts";
import { EMPTY, type State } from "../run/state.ts";
import { endedViews } from "./ended-views.ts";
import { encodeEvent } from "../protocol/encoded-event.ts";
import type { Cause, Journal, Payload, Receipt, TimerKind } from "./ports.ts";

export interface Turn {
  readonly input: Input;
  readonly payloads?: readonly Payload[];
  /** The receipt of a keyed command, made from what it led to. Refusals leave none. */
  readonly receipt?: (state: State, events: readonly Event[]) => Receipt;
  /** What the input itself led to is committed; nobody has heard of it yet. Not called where nothing was to be committed. */
  readonly committed?: (state: State, events: readonly Event[]) => void;
}

export interface Turned {
  readonly rejection: Rejection | null;
  /** Of the input itself, without what time did before it. */
  readonly events: readonly Event[];
}

export interface WriterDeps {
  readonly journal: Journal;
  readonly now: () => number;
  readonly partial: () => PartialText | null;
  /** A model request whose answer could not be written. */
  readonly unstored: () => Unstored | null;
  /** Timers that this commit sets, as rows of its transaction. */
  readonly timers: (events: readonly Event[]) => Partial<Record<TimerKind, number | null>>;
  /** They stand. */
  readonly timersSet: (timers: Partial<Record<TimerKind, number | null>>) => void;
  /** Called in the same turn, after the transaction. */
  readonly committed: (encoded: ReturnType<typeof encodeEvent>[], state: State) => void;
}

export class Writer {
  readonly #deps: WriterDeps;
  #state: State = EMPTY;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  get state(): State {
    return this.#state;
  }

  /** Takes over what the log says; the object's first act. */
  load(state: State): void {
    this.#state = state;
  }

  /** What time did is committed in either case. */
  turn({ input, payloads = [], receipt, committed }: Turn): Turned {
    const now = this.#deps.now();
    const causes: Cause[] = [];
    const passed = this.#decide(this.#state, this.#timePassed(), now, causes);
    const decided = input.type === "time_passed" ? passed : this.#decide(passed.state, input, now, causes);
    const events = decided === passed ? passed.events : [...passed.events, ...decided.events];
    const kept = decided.rejection === null ? receipt?.(decided.state, decided.events) : undefined;
    if (events.length === 0 && !kept) return decided;
    const encoded = events.map(encodeEvent);
    const timers = this.#deps.timers(events);
    this.#deps.journal.commit({
      state: decided.state,
      events: encoded,
      causes,
      payloads,
      ...(kept ? { receipt: kept } : {}),
      endedRuns: endedViews(this.#state, events, (runId) => this.#deps.journal.endedRun(runId)),
      timers,
    });
    this.#state = decided.state;
    this.#deps.timersSet(timers);
    if (decided.rejection === null) committed?.(decided.state, decided.events);
    this.#deps.committed(encoded, decided.state);
    return decided;
  }

  #timePassed(): Input {
    const partial = this.#deps.partial();
    const unstored = this.#deps.unstored();
    return { type: "time_passed", ...(partial ? { partial } : {}), ...(unstored ? { unstored } : {}) };
  }

  #decide(state: State, input: Input, now: number, causes: Cause[]) {
    const decided = decide(state, input, now);
    const [first] = decided.events;
    if (first) causes.push({ seq: first.seq, now, input });
    return decided;
  }
}
