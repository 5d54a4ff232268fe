/**
 * What the log says, read by another hand than the core's: a small model of runs and calls that knows the allowed moves
 * and complains about every other. Nothing of `src/run` is used here.
 */
import type { Event } from "../../src/protocol/events.ts";
import { isTerminal } from "../../src/protocol/events.ts";
import { tellCall } from "./story-call.ts";
import type { CallStory, RunStory } from "./story-parts.ts";

export type { CallStory, RunStory };

export class Story {
  readonly calls = new Map<string, CallStory>();
  readonly runs = new Map<string, RunStory>();
  readonly queue: string[] = [];
  readonly places = new Map<string, string>();
  active: string | null = null;
  handover = "none";
  operator: string | null = null;
  deleted = false;
  owner = "";
  seq = 0;
  readonly wrong: (law: string, says: string) => void;

  constructor(wrong: (law: string, says: string) => void) {
    this.wrong = wrong;
  }

  tell(event: Event): void {
    this.seq = event.seq;
    const { runId } = event;
    if (runId !== undefined) this.#named(event, runId);
    switch (event.type) {
      case "conversation.created":
        this.owner = event.data.owner;
        this.places.set(event.data.owner, "owner");
        return;
      case "conversation.deleted":
        this.deleted = true;
        return;
      case "participant.added":
      case "participant.role_changed":
        this.places.set(event.data.userId, event.data.role);
        return;
      case "participant.removed":
        this.places.delete(event.data.userId);
        return;
      case "handover.requested":
        this.handover = "requested";
        return;
      case "handover.accepted":
        this.handover = "active";
        this.operator = event.data.operator;
        return;
      case "handover.released":
        this.handover = "none";
        this.operator = null;
        return;
      default:
        if (runId !== undefined) this.#ofRun(event, runId);
    }
  }

  pending(): CallStory[] {
    return [...this.calls.values()].filter(
      (call) =>
        this.active === call.runId &&
        (call.state === "awaiting_confirmation" || (call.state === "unknown" && call.resolved === null)),
    );
  }

  #named(event: Event, runId: string): void {
    const run = this.runs.get(runId);
    if (event.type === "run.queued") {
      if (run) this.wrong("X13", `${runId} is queued twice`);
      return;
    }
    if (event.type === "message.created" && event.data.message.role === "operator") return;
    if (!run) return this.wrong("X13", `${event.type} (${event.seq}) names a run that never was`);
    const after = ["tool_call.late_result", "tool_call.resolved"];
    if (run.status === "ended" && !after.includes(event.type)) {
      this.wrong("X13", `${event.type} (${event.seq}) names ${runId} after its end`);
    }
  }

  #ofRun(event: Event, runId: string): void {
    const run = this.runs.get(runId);
    this.#inTime(event, run);
    if (event.type === "run.queued") {
      const at = event.data.position - 1;
      if (at > this.queue.length) this.wrong("X14", `${runId} is queued at ${at + 1} of ${this.queue.length}`);
      this.queue.splice(at, 0, runId);
      const { retryOf } = event.data;
      const doubt = [...this.calls.values()].find(
        (call) => call.runId === retryOf && call.state === "unknown" && !call.resolved,
      );
      if (doubt) this.wrong("X11", `${runId} retries while ${doubt.id} is unknown`);
      this.runs.set(runId, {
        id: runId,
        by: event.data.principal.userId,
        queuedSeq: event.seq,
        head: at === 0 && this.queue.length > 1,
        startedSeq: 0,
        endedSeq: 0,
        status: "queued",
        stop: "",
        halted: false,
        deadlineAt: null,
        asking: null,
        steps: new Set(),
        finished: new Map(),
        interruptions: new Map(),
      });
      return;
    }
    if (!run) return;
    if (isTerminal(event.type)) return this.#ended(event, run);
    switch (event.type) {
      case "run.input_edited":
        if (run.status !== "queued") this.wrong("X13", `${runId} is edited while ${run.status}`);
        return;
      case "run.started":
        if (this.active !== null) this.wrong("X14", `${runId} starts while ${this.active} is active`);
        if (this.queue[0] !== runId) this.wrong("X14", `${runId} starts before ${this.queue[0]}`);
        if (this.handover === "active") this.wrong("X14", `${runId} starts while a person has the conversation`);
        this.queue.shift();
        run.status = "active";
        run.startedSeq = event.seq;
        run.deadlineAt = Date.parse(event.data.deadlineAt);
        this.active = runId;
        return;
      case "run.interrupted":
        run.deadlineAt = null;
        if (this.executing(runId).length > 0 || run.asking) this.wrong("X13", `${runId} is interrupted while it works`);
        return;
      case "run.resumed":
        run.deadlineAt = Date.parse(event.data.deadlineAt ?? "") || null;
        return;
      case "run.cancel_requested":
        if (run.halted) this.wrong("X13", `${runId} is stopped twice`);
        run.halted = true;
        return;
      case "limit.tripped":
        if (event.data.limit === "maxRunMs" && Date.parse(event.at) < (run.deadlineAt ?? Infinity)) {
          this.wrong("X17", `${runId} runs out of time before its deadline`);
        }
        return;
      case "step.started":
        return this.#stepStarted(event.data.n, event.data.attempt, run, event.seq);
      case "step.superseded":
      case "step.finished": {
        const { n, attempt } = event.data;
        const asked = run.asking?.step === n && run.asking.attempt === attempt;
        if (!asked) this.wrong("X13", `${event.type} (${event.seq}) of a step that is not being asked`);
        run.asking = null;
        if (event.type === "step.superseded" && event.data.reason === "interrupted") {
          const times = (run.interruptions.get(n) ?? 0) + 1;
          run.interruptions.set(n, times);
          if (times > 2) this.wrong("X19", `step ${n} of ${runId} is asked anew for the ${times}th time`);
        }
        if (event.type === "step.finished") run.finished.set(n, event.seq);
        return;
      }
      default:
        tellCall(this, event, run);
    }
  }

  /** Time is asked before anything else is done: nothing of a run that works happens after its deadline. */
  #inTime(event: Event, run: RunStory | undefined): void {
    if (!run || run.halted || run.deadlineAt === null || run.status !== "active") return;
    const late = Date.parse(event.at) >= run.deadlineAt;
    const stops = event.type === "run.cancel_requested" && event.data.code === "deadline_exceeded";
    const settles = stops || event.type === "limit.tripped" || event.type === "confirmation.expired" || !late;
    // What else was due at the same moment is done before.
    const timedOut = ["tool_call.became_unknown", "tool_call.started", "tool_call.finished", "run.resumed"].includes(
      event.type,
    );
    if (!settles && !timedOut) this.wrong("X17", `${event.type} (${event.seq}) of ${run.id} after its deadline`);
  }

  #stepStarted(n: number, attempt: number, run: RunStory, seq: number): void {
    if (run.halted) this.wrong("X12", `step ${n} of ${run.id} starts after the stop (${seq})`);
    if (this.active !== run.id) this.wrong("X13", `step ${n} of ${run.id} starts while it is ${run.status}`);
    if (run.finished.has(n)) this.wrong("X19", `step ${n} of ${run.id} was committed and is asked again`);
    if (run.asking) this.wrong("X13", `step ${n} of ${run.id} starts beside step ${run.asking.step}`);
    if (this.handover === "active") this.wrong("X13", `step ${n} of ${run.id} starts while a person has it`);
    const open = [...this.calls.values()].filter(
      (call) => call.runId === run.id && (OPEN.includes(call.state) || (call.state === "unknown" && !call.resolved)),
    );
    if (open.length > 0) this.wrong("X13", `step ${n} of ${run.id} starts while ${open[0]?.id} is ${open[0]?.state}`);
    if (attempt !== 1 && !run.steps.has(n)) this.wrong("X13", `step ${n} begins with attempt ${attempt}`);
    run.steps.add(n);
    run.asking = { step: n, attempt };
  }

  #ended(event: Event, run: RunStory): void {
    if (event.type !== "run.completed" && event.type !== "run.failed" && event.type !== "run.cancelled") return;
    const mine = [...this.calls.values()].filter(({ runId }) => runId === run.id);
    const open = mine.find(({ state }) => OPEN.includes(state));
    if (open) this.wrong("X13", `${run.id} ends while ${open.id} is ${open.state}`);
    if (run.asking) this.wrong("X13", `${run.id} ends while a step is being asked`);
    const done = mine.filter(
      ({ effect, state }) => effect !== "read" && (state === "succeeded" || state === "unknown"),
    );
    const listed = event.data.sideEffects.map(({ toolCallId, state }) => `${toolCallId} ${state}`).toSorted();
    const due = done
      .filter(({ attempt }) => attempt > 0)
      .map(({ id, state }) => `${id} ${state}`)
      .toSorted();
    if (listed.join() !== due.join()) this.wrong("X12", `${run.id} lists ${listed.join()} and did ${due.join()}`);
    run.status = "ended";
    run.stop = event.data.stop.code;
    run.endedSeq = event.seq;
    if (this.active === run.id) this.active = null;
    const at = this.queue.indexOf(run.id);
    if (at >= 0) this.queue.splice(at, 1);
  }

  executing(runId: string): CallStory[] {
    return [...this.calls.values()].filter((call) => call.runId === runId && call.state === "executing");
  }
}

const OPEN = ["proposed", "awaiting_confirmation", "approved", "executing"];
