/** Which marks one schedule hit: read from the log, the answers, the frames and the list of what was done to the object. */
import type { Event } from "../src/protocol/events.ts";
import type { Observation } from "./observation.ts";
import type { Mark } from "./marks.ts";
import { ofAnswers, ofBlows, ofWatching } from "./marks-around.ts";

export function marksOf(seen: Observation): ReadonlySet<Mark> {
  const marks = new Set<Mark>();
  ofBlows(seen, marks);
  ofLog(seen, marks);
  ofAnswers(seen, marks);
  ofWatching(seen, marks);
  return marks;
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
  const waiting = was.waits === undefined ? undefined : CANCELLED_WAITING[was.waits];
  if (waiting) marks.add(waiting);
}

const CANCELLED_WAITING: Partial<Record<string, Mark>> = {
  confirmation: "cancelled: while waiting for a confirmation",
  resolution: "cancelled: while waiting for a resolution",
  continuation: "cancelled: while waiting for a continuation",
  budget: "cancelled: while waiting for a budget",
  handover: "cancelled: while handed over",
};
