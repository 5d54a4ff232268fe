/**
 * What must hold in every reachable state and of every turn, whatever happened. `Laws` follows one conversation; each
 * method throws with the name of the law that is broken. The invariants' numbers are those of ARCHITECTURE.md.
 */
import { isDeepStrictEqual } from "node:util";
import { Conversation } from "../../src/protocol/conversation.ts";
import { EVENT_DATA, EventEnvelope, isTerminal, type Event } from "../../src/protocol/events.ts";
import { ATTEMPTS, PARALLEL_READS } from "../../src/protocol/limits.ts";
import { Run } from "../../src/protocol/run.ts";
import { nextDeadline } from "../../src/run/deadlines.ts";
import { decide, type Decided } from "../../src/run/decide.ts";
import { evolve } from "../../src/run/evolve.ts";
import type { Input } from "../../src/run/inputs.ts";
import { outstanding } from "../../src/run/outstanding.ts";
import { EMPTY, type RunState, type State } from "../../src/run/state.ts";
import { isSideEffecting, isUnresolved, statusOf, waitsFor } from "../../src/run/status.ts";
import { conversationView, runView } from "../../src/run/views.ts";
import { GateWatch } from "./gate-watch.ts";

const json = (value: unknown): string => JSON.stringify(value);
function law(name: string, holds: boolean, shown?: unknown): asserts holds {
  if (!holds) throw new Error(`law broken: ${name}${shown === undefined ? "" : `\n${json(shown)}`}`);
}

/** Only these may name a run after its terminal event (I12). */
const AFTERWARDS = ["tool_call.late_result", "tool_call.resolved"];
const TIME: Input = { type: "time_passed" };

export class Laws {
  readonly #ended = new Set<string>();
  readonly #stopping = new Set<string>();
  readonly #starts = new Map<string, { reads: number; repeats: number; attempt: number }>();
  readonly #gates = new GateWatch();
  readonly #messages = new Set<string>();
  #started: string | null = null;

  /** Of one decision. */
  check(before: State, input: Input, now: number, decided: Decided): void {
    const { state, events, rejection } = decided;
    law("the fold of the events is the state (I2)", isDeepStrictEqual(events.reduce(evolve, before), state));
    const stored = JSON.parse(json(before)) as State;
    law("a state read back from JSON decides the same", json(decide(stored, input, now).events) === json(events));
    if (rejection) {
      const found = events.filter(({ type }) => type === "confirmation.expired");
      law("a refusal changes nothing but what it found stale", events.length === 0 || found.length === 1, events);
    }
    events.forEach((event, at) => {
      law("seq is dense (I8)", event.seq === before.seq + 1 + at);
      this.#shape(event);
      this.#ends(event);
      this.#attempts(before, event);
      this.#message(event);
    });
    this.#gates.turn(input, events);
  }

  /** Of the state in which a turn leaves the conversation. */
  afterTurn(state: State, now: number): void {
    law("no status is stored", !json(state).includes('"status"'));
    Conversation.parse(conversationView(state, "owner"));
    for (const run of [state.active, state.latest, ...state.queue]) if (run) Run.parse(runView(state, run));
    law(
      "only the active run has started",
      state.queue.every(({ startedAt }) => startedAt === null),
    );
    if (state.active) this.#alive(state, state.active, now);
    else {
      const held = state.paused || state.handover.state === "active";
      law("nothing waits without an alarm or a person (I13)", state.queue.length === 0 || held, state.queue);
    }
    const again = decide(state, TIME, now).events;
    const at = nextDeadline(state, now);
    law("what is due at once changes something", at === null || at > now || again.length > 0, { at, now });
    law("time that did not pass changes nothing", again.length === 0 || (at !== null && at <= now), again);
  }

  #alive(state: State, run: RunState, now: number): void {
    const out = outstanding(state, now);
    const soon = outstanding(state, Number.MAX_SAFE_INTEGER);
    const waits = waitsFor(state, run);
    const status = statusOf(state, run);
    law("the edge in the log is the status", run.interrupted === (status === "interrupted"), run);
    if (run.halt) law("nothing of a stopping run is outstanding", soon.length === 0, soon);
    else if (status === "running") law("a running run has work", soon.length > 0, run);
    else law("an interrupted run waits, and has no work", waits.length > 0 && soon.length === 0, run);
    law(
      "the run's clock stands while it waits",
      (status === "interrupted") === (run.deadlineAt === null) || !!run.halt,
    );
    law("something will happen", out.length > 0 || waits.length > 0 || nextDeadline(state, now) !== null, run);
    const executing = run.calls.filter((call) => call.state === "executing");
    law("one act at a time", executing.filter(isSideEffecting).length <= 1, run.calls);
    law("four reads at a time", executing.length - executing.filter(isSideEffecting).length <= PARALLEL_READS);
  }

  #shape(event: Event): void {
    const envelope = EventEnvelope.safeParse(event);
    law("the envelope has its shape", envelope.success, event);
    const parsed = EVENT_DATA[event.type].safeParse(event.data);
    law("the data has its schema's shape", parsed.success, { event, issues: parsed.error?.issues });
    // Nothing beside the schema is persisted: it would be invisible to everybody who reads by the schema.
    law("the data has nothing else", json(parsed.data).length === json(event.data).length, event);
  }

  #ends({ type, runId }: Event): void {
    if (runId === undefined) return;
    if (this.#ended.has(runId))
      law("after its end a run is not named (I12)", AFTERWARDS.includes(type), { type, runId });
    if (type === "run.started") {
      law("one run is active (I3)", this.#started === null, runId);
      this.#started = runId;
    }
    if (type === "run.cancel_requested") {
      law("a stop is wanted once", !this.#stopping.has(runId), runId);
      this.#stopping.add(runId);
    }
    const starts = type === "step.started" || type === "tool_call.started";
    law("nothing starts after a stop", !starts || !this.#stopping.has(runId), { type, runId });
    if (!isTerminal(type)) return;
    this.#ended.add(runId);
    if (this.#started === runId) this.#started = null;
  }

  #attempts(before: State, event: Event): void {
    if (event.type === "tool_call.resolved" && event.data.state === "approved") {
      const known = this.#starts.get(event.data.toolCallId);
      if (known) this.#starts.set(event.data.toolCallId, { ...known, repeats: -1 });
    }
    if (event.type !== "tool_call.started") return;
    const { toolCallId, attempt } = event.data;
    const known = this.#starts.get(toolCallId) ?? { reads: 0, repeats: -1, attempt: 0 };
    law("attempts count up", attempt === known.attempt + 1, event);
    const call = before.active?.calls.find(({ id }) => id === toolCallId);
    const next = { reads: known.reads + 1, repeats: known.repeats + 1, attempt };
    this.#starts.set(toolCallId, next);
    if (!call) return;
    if (call.effect === "read") return law("a read is tried three times", next.reads <= ATTEMPTS.read, event);
    law("at most three repeats or probes", next.repeats <= ATTEMPTS.repeatsOrProbes, event);
    if (call.effect === "once") law("what acts once is never repeated by itself", next.repeats === 0, event);
    const doubtful = before.active?.calls.find((one) => isUnresolved(one) && one.id !== toolCallId);
    const settled = event.seq > before.seq + 1;
    law("no act starts while another is in doubt", !doubtful || settled, { event, doubtful });
  }

  #message(event: Event): void {
    if (event.type !== "message.created" && event.type !== "message.completed") return;
    const { id, seq } = event.data.message;
    law("a message is said once", !this.#messages.has(id), id);
    law("a message knows its place", seq === event.seq);
    this.#messages.add(id);
  }

  /** Of a whole log. */
  whole(log: readonly Event[], causes: readonly { input: Input; now: number }[], state: State): void {
    law("the log folds from nothing to the state (I2)", json(log.reduce(evolve, EMPTY)) === json(state));
    let replayed = EMPTY;
    const again: Event[] = [];
    for (const { input, now } of causes) {
      const decided = decide(replayed, input, now);
      again.push(...decided.events);
      replayed = decided.state;
    }
    law("the stored causes decide the same events again", json(again) === json(log));
  }
}
