/**
 * A draft collects the events of one input: each emitted event is evolved at once, so every rule reads the state as
 * the events before it left it. A draft that ends in a rejection is thrown away, and nothing has happened.
 */
import { EVENT_VERSION } from "../protocol/version.ts";
import type { Event, EventData, EventType } from "../protocol/events.ts";
import type { By, Principal } from "../protocol/principal.ts";
import { isoOf } from "../protocol/time.ts";
import { evolve } from "./evolve.ts";
import type { RunState, State } from "./state.ts";

export class Draft {
  readonly now: number;
  readonly events: Event[] = [];
  state: State;
  /** Of the life that decides: a wake raises it, and the events it stamps carry it into the state. */
  incarnation: number;

  constructor(state: State, now: number) {
    this.state = state;
    this.incarnation = state.incarnation;
    this.now = now;
  }

  emit<T extends EventType>(type: T, by: By, data: EventData<T>, runId?: string): void {
    const event = {
      seq: this.state.seq + 1,
      v: EVENT_VERSION,
      type,
      at: isoOf(this.now),
      ...(runId === undefined ? {} : { runId }),
      by,
      data,
    } as Event;
    this.events.push(event);
    this.state = evolve(this.state, event);
  }

  /** The active run; a rule that is reached only while one is active may rely on it. */
  get run(): RunState {
    const run = this.state.active;
    if (!run) throw new Error("no active run");
    return run;
  }
}

export const userBy = (principal: Principal): By => ({ kind: "user", id: principal.userId });
export const SYSTEM: By = { kind: "system" };
export const agentOf = (state: State): By => ({ kind: "agent", id: state.identity?.agent ?? "" });
