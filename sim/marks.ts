/**
 * Coverage marks: one for every branch of recovery, of stopping and of refusing. A mark is seen from outside, in the log,
 * in the answers and in what was done to the object; a run of the simulation prints how many schedules hit each.
 */
import type { Event } from "../src/protocol/events.ts";
import type { Observation } from "./observation.ts";

export const MARKS = [
  // What was done to the object.
  "died: before the handler",
  "died: while writing",
  "died: before the commit",
  "died: before anything left",
  "died: between two things that left",
  "died: after everything had left",
  "died: while waiting",
  "evicted with its sockets",
  "an old life ran on beside the new one",
  "a request of an old life landed after its death",
  "several deaths",
  "a write was refused",
  "alarm: late",
  "alarm: twice",
  "alarm: early",
  "alarm: lost",
  "history: refused",
  "history: written and not answered",
  "history: stalled",
  "history: down for a minute",
  "history: one row refused, and filled in later",
  "register: call lost",
  "register: answer lost",
  // Waking.
  "woke: the model is asked anew",
  "woke: too often, model_interrupted",
  "woke: a read is repeated",
  "woke: an idempotent call is repeated",
  "woke: a probeable call is asked about",
  "woke: a call that acts once is unknown",
  "woke: a stop that was settling settles",
  "woke: a waiting run goes on waiting",
  // Doubt.
  "doubt: a read is repeated",
  "doubt: a read fails in the end",
  "doubt: an idempotent call is repeated",
  "doubt: a probe finds it",
  "doubt: a probe finds nothing, and it is sent",
  "unknown: ambiguous",
  "unknown: timeout",
  "unknown: attempts_exhausted",
  "unknown: window_passed",
  "unknown: cancelled",
  "failed: proved",
  "failed: not sent",
  "late result",
  "resolved: happened",
  "resolved: did_not_happen, and sent anew",
  "resolved: give_up",
  "resolved: of a run that had ended",
  // Confirmations.
  "confirmed: one yes",
  "confirmed: a quorum",
  "confirmed: edited",
  "edited: to be seen again",
  "rejected",
  "expired: undecided",
  "expired: approved, not started",
  "expired: the tool had changed",
  "expired: all of them, the run with it",
  // Stops.
  "cancelled: in the queue",
  "cancelled: while the model was asked",
  "cancelled: while a tool was out",
  "cancelled: while waiting for a confirmation",
  "cancelled: while waiting for a resolution",
  "cancelled: after the grace",
  "cancelled: text kept",
  "cancelled: a request was closed",
  "replaced",
  "deadline: of the run",
  "deadline: of the model",
  "failed: text kept",
  "model: empty, asked once more",
  "model: retried",
  "model: refused",
  "model: truncated calls",
  "model: truncated text",
  "limit: ended",
  "limit: asked and continued",
  "limit: asked and stopped",
  "limit: asked and nobody came",
  "budget: waited and came",
  "budget: never came",
  "hand-over: while the model was asked",
  "hand-over: released, and went on",
  "retry: of a run that had started",
  "retry: of a run that never started",
  "queue: edited",
  "queue: dropped",
  // Answers.
  "answer: replayed",
  "answer: idempotency_key_reused",
  "answer: already_decided",
  "answer: confirmation_expired",
  "answer: confirmation_stale",
  "answer: digest_mismatch",
  "answer: run_finished",
  "answer: run_active",
  "answer: run_started",
  "answer: not_interrupted",
  "answer: outcome_unknown",
  "answer: handed_over",
  "answer: queue_full",
  "answer: self_approval_forbidden",
  "answer: scope_missing",
  "answer: not_found, to a stranger",
  // Watching.
  "watching: caught up",
  "watching: nothing missed",
  "watching: reset, too far behind",
  "watching: reset, ahead of the head",
  "watching: reset, another generation",
  "watching: a partial text",
  "watching: closed, too slow",
  "watching: closed, no longer a participant",
] as const;
export type Mark = (typeof MARKS)[number];

const BLOWS: Readonly<Record<string, Mark>> = {
  before_handler: "died: before the handler",
  after_write: "died: while writing",
  before_commit: "died: before the commit",
  before_release: "died: before anything left",
  between_releases: "died: between two things that left",
  after_release: "died: after everything had left",
  crash: "died: while waiting",
  evict: "evicted with its sockets",
  zombie_turn: "an old life ran on beside the new one",
  write_refused: "a write was refused",
  alarm_late: "alarm: late",
  alarm_twice: "alarm: twice",
  alarm_early: "alarm: early",
  alarm_lost: "alarm: lost",
  history_before: "history: refused",
  history_after: "history: written and not answered",
  history_stall: "history: stalled",
  history_outage: "history: down for a minute",
  register_lost_before: "register: call lost",
  register_lost_after: "register: answer lost",
};
const DEATHS = [
  "before_handler",
  "after_write",
  "before_commit",
  "before_release",
  "between_releases",
  "after_release",
  "crash",
  "zombie",
];

export function marksOf(seen: Observation): ReadonlySet<Mark> {
  const marks = new Set<Mark>();
  ofBlows(seen, marks);
  ofLog(seen, marks);
  ofAnswers(seen, marks);
  ofWatching(seen, marks);
  return marks;
}

function ofBlows(seen: Observation, marks: Set<Mark>): void {
  for (const { kind } of seen.blows) {
    const mark = BLOWS[kind];
    if (mark) marks.add(mark);
  }
  const deaths = seen.blows.filter(({ kind }) => DEATHS.includes(kind));
  if (deaths.length > 1) marks.add("several deaths");
  if (seen.logged.some(({ event }) => event === "history_parked") && seen.parked === 0) {
    marks.add("history: one row refused, and filled in later");
  }
  const late = seen.tools.some(({ at, arrivedAt }) =>
    deaths.some((death) => at <= death.at && (arrivedAt ?? 0) > death.at),
  );
  if (late) marks.add("a request of an old life landed after its death");
}

interface Known {
  effect: string;
  mode: string;
  life: number;
  state: string;
  approvals: number;
  undecided: boolean;
}

function ofLog(seen: Observation, marks: Set<Mark>): void {
  const calls = new Map<string, Known>();
  const waits = new Map<string, string>();
  const asking = new Set<string>();
  const started = new Set<string>();
  const halted = new Map<string, { readonly at: number; readonly graceUntil: number; readonly asking: boolean }>();
  const budget = new Set<string>();
  const continuing = new Set<string>();
  const superseded = new Set<string>();
  const restarts = seen.blows.filter(({ kind }) => kind === "restart").map(({ head }) => head);
  let life = 0;
  for (const event of seen.log) {
    const { runId = "" } = event;
    const incarnation =
      "incarnation" in event.data && event.type !== "tool_call.late_result" ? event.data.incarnation : life;
    const woke = incarnation > life;
    life = incarnation;
    switch (event.type) {
      case "run.started":
        started.add(runId);
        break;
      case "run.interrupted":
        waits.set(runId, event.data.waitsFor[0] ?? "");
        if (
          restarts.some(
            (head) =>
              head >= event.seq &&
              head < (seen.log.find((next) => next.seq > event.seq && next.runId === runId)?.seq ?? Infinity),
          )
        ) {
          marks.add("woke: a waiting run goes on waiting");
        }
        break;
      case "run.resumed":
        waits.delete(runId);
        break;
      case "run.queued":
        if (event.data.retryOf !== undefined) {
          marks.add(event.data.continues ? "retry: of a run that had started" : "retry: of a run that never started");
        }
        break;
      case "run.input_edited":
        marks.add("queue: edited");
        break;
      case "step.started":
        asking.add(runId);
        if (budget.delete(runId)) marks.add("budget: waited and came");
        if (superseded.delete(runId)) marks.add("hand-over: released, and went on");
        break;
      case "step.superseded": {
        asking.delete(runId);
        const { reason } = event.data;
        if (reason === "interrupted") marks.add("woke: the model is asked anew");
        if (reason === "empty_answer") marks.add("model: empty, asked once more");
        if (reason === "retry") marks.add("model: retried");
        if (reason === "handover") {
          marks.add("hand-over: while the model was asked");
          superseded.add(runId);
        }
        break;
      }
      case "step.finished":
        asking.delete(runId);
        if (event.data.finishReason === "length") {
          const next = seen.log[event.seq];
          marks.add(next?.type === "run.failed" ? "model: truncated text" : "model: truncated calls");
        }
        break;
      case "tool_call.proposed": {
        const { toolCallId, effect } = event.data;
        calls.set(toolCallId, { effect, mode: "", life, state: "proposed", approvals: 0, undecided: false });
        break;
      }
      case "tool_call.started":
        again(calls.get(event.data.toolCallId), event, woke, marks);
        break;
      case "tool_call.became_unknown": {
        const { reason } = event.data;
        if (reason === "interrupted") marks.add("woke: a call that acts once is unknown");
        else marks.add(`unknown: ${reason}`);
        set(calls, event.data.toolCallId, "unknown");
        break;
      }
      case "tool_call.finished":
        finished(calls.get(event.data.toolCallId), event, marks);
        break;
      case "tool_call.late_result":
        marks.add("late result");
        break;
      case "tool_call.resolved": {
        const { outcome, state } = event.data;
        if (outcome === "happened") marks.add("resolved: happened");
        if (outcome === "give_up") marks.add("resolved: give_up");
        if (state === "approved") marks.add("resolved: did_not_happen, and sent anew");
        if (ended(seen.log, runId, event.seq)) marks.add("resolved: of a run that had ended");
        break;
      }
      case "confirmation.decided": {
        const call = calls.get(event.data.toolCallId);
        const { decision, closed, voided } = event.data;
        if (decision === "reject") marks.add("rejected");
        else if (voided) marks.add("edited: to be seen again");
        else if (decision === "edit") marks.add("confirmed: edited");
        else if (closed && call) marks.add(call.approvals > 0 ? "confirmed: a quorum" : "confirmed: one yes");
        if (call && decision === "approve") call.approvals += 1;
        break;
      }
      case "confirmation.expired": {
        const { reason } = event.data;
        if (reason === "undecided") marks.add("expired: undecided");
        if (reason === "not_started") marks.add("expired: approved, not started");
        if (reason === "stale") marks.add("expired: the tool had changed");
        break;
      }
      case "run.cancel_requested":
        stopped(event, { asking: asking.has(runId), waits: waits.get(runId), out: executing(calls, runId) }, marks);
        halted.set(runId, { at: event.seq, graceUntil: Date.parse(event.data.graceUntil), asking: asking.has(runId) });
        asking.delete(runId);
        break;
      case "limit.tripped":
        if (event.data.limit === "maxRunMs") marks.add("deadline: of the run");
        else if (event.data.ask) continuing.add(runId);
        else marks.add("limit: ended");
        break;
      case "limit.continued":
        continuing.delete(runId);
        marks.add(event.data.decision === "continue" ? "limit: asked and continued" : "limit: asked and stopped");
        break;
      case "budget.awaited":
        budget.add(runId);
        break;
      case "message.completed":
        if (event.data.message.status === "incomplete")
          marks.add(halted.has(runId) ? "cancelled: text kept" : "failed: text kept");
        break;
      case "run.completed":
      case "run.failed":
      case "run.cancelled": {
        const { code } = event.data.stop;
        const halt = halted.get(runId);
        if (code === "model_interrupted") marks.add("woke: too often, model_interrupted");
        if (code === "model_timeout") marks.add("deadline: of the model");
        if (code === "model_refused") marks.add("model: refused");
        if (code === "confirmation_expired") marks.add("expired: all of them, the run with it");
        if (code === "replaced") marks.add("replaced");
        if (code === "budget_exhausted") marks.add("budget: never came");
        if (continuing.delete(runId) && !halt && event.by.kind === "system") marks.add("limit: asked and nobody came");
        if (code === "cancelled_by_user" && !started.has(runId)) {
          marks.add(event.data.stop.detail.includes("dropped") ? "queue: dropped" : "cancelled: in the queue");
        }
        if (
          halt &&
          Date.parse(event.at) >= halt.graceUntil &&
          Date.parse(event.at) > Date.parse(seen.log[halt.at - 1]?.at ?? "")
        ) {
          marks.add("cancelled: after the grace");
        }
        if (halt && restarts.some((head) => head >= halt.at && head < event.seq))
          marks.add("woke: a stop that was settling settles");
        asking.delete(runId);
        waits.delete(runId);
        break;
      }
      default:
        break;
    }
  }
  if (seen.models.some(({ aborted }) => aborted) && halted.size > 0) marks.add("cancelled: a request was closed");
}

const set = (calls: Map<string, Known>, id: string, state: string) => {
  const call = calls.get(id);
  if (call) call.state = state;
};
const executing = (calls: ReadonlyMap<string, Known>, runId: string): boolean =>
  [...calls].some(([id, { state }]) => id.startsWith(`${runId}.t`) && state === "executing");
const ended = (log: readonly Event[], runId: string, seq: number): boolean =>
  log.some(
    (event) =>
      event.seq < seq && event.runId === runId && ["run.completed", "run.failed", "run.cancelled"].includes(event.type),
  );

function again(
  call: Known | undefined,
  event: Extract<Event, { type: "tool_call.started" }>,
  woke: boolean,
  marks: Set<Mark>,
): void {
  if (!call) return;
  const { mode, incarnation } = event.data;
  const repeated = call.state === "executing";
  const afterDeath = woke || incarnation > call.life;
  if (repeated && call.effect === "read")
    marks.add(afterDeath ? "woke: a read is repeated" : "doubt: a read is repeated");
  if (repeated && call.effect === "idempotent") {
    marks.add(afterDeath ? "woke: an idempotent call is repeated" : "doubt: an idempotent call is repeated");
  }
  if (mode === "probe" && afterDeath) marks.add("woke: a probeable call is asked about");
  if (mode === "execute" && call.mode === "probe" && repeated)
    marks.add("doubt: a probe finds nothing, and it is sent");
  Object.assign(call, { state: "executing", mode, life: incarnation });
}

function finished(
  call: Known | undefined,
  event: Extract<Event, { type: "tool_call.finished" }>,
  marks: Set<Mark>,
): void {
  if (!call) return;
  const { state, payload } = event.data;
  if (state === "succeeded" && payload.source === "probe") marks.add("doubt: a probe finds it");
  if (state === "failed" && payload.error?.code === "TOOL_CLOSED") marks.add("failed: not sent");
  if (state === "failed" && payload.error?.code === "TOOL_REFUSES") marks.add("failed: proved");
  if (state === "failed" && call.effect === "read" && event.data.attempt === 3)
    marks.add("doubt: a read fails in the end");
  call.state = state;
}

function stopped(
  event: Extract<Event, { type: "run.cancel_requested" }>,
  was: { readonly asking: boolean; readonly waits: string | undefined; readonly out: boolean },
  marks: Set<Mark>,
): void {
  if (event.data.code !== "cancelled_by_user") return;
  if (was.asking) marks.add("cancelled: while the model was asked");
  if (was.out) marks.add("cancelled: while a tool was out");
  if (was.waits === "confirmation") marks.add("cancelled: while waiting for a confirmation");
  if (was.waits === "resolution") marks.add("cancelled: while waiting for a resolution");
}

const ANSWERS: readonly string[] = MARKS.filter((mark) => mark.startsWith("answer: "));

function ofAnswers(seen: Observation, marks: Set<Mark>): void {
  for (const { told, user } of seen.asked) {
    for (const { outcome } of told) {
      if (outcome.kind === "ok" && outcome.replayed) marks.add("answer: replayed");
      if (outcome.kind !== "refused") continue;
      const mark = `answer: ${outcome.rejection.code}`;
      if (ANSWERS.includes(mark)) marks.add(mark as Mark);
      if (user === "mallory" && outcome.rejection.code === "not_found") marks.add("answer: not_found, to a stranger");
    }
  }
}

function ofWatching(seen: Observation, marks: Set<Mark>): void {
  for (const { frames, closed } of seen.connections) {
    for (const { frame } of frames) {
      if (frame.type === "partial") marks.add("watching: a partial text");
      if (frame.type === "events") {
        marks.add((frame["events"] as unknown[]).length === 0 ? "watching: nothing missed" : "watching: caught up");
      }
      if (frame.type === "reset") {
        if (frame["reason"] === "too_far_behind") marks.add("watching: reset, too far behind");
        if (frame["reason"] === "ahead_of_head") marks.add("watching: reset, ahead of the head");
        if (frame["reason"] === "other_generation") marks.add("watching: reset, another generation");
      }
    }
    if (closed?.code === 1013) marks.add("watching: closed, too slow");
    if (closed?.code === 3003) marks.add("watching: closed, no longer a participant");
  }
}
