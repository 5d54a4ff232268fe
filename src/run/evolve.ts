/**
 * The fold: `evolve(state, event) → state`, total and without decisions. Whatever the log says has happened.
 *
 * Keeps **I2**: nothing else makes a state. An event about a run or call that the fold does not know changes only
 * `seq`, so a log with a hole is seen by the dense-`seq` check and not by a crash here.
 */
import type { Event } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import { cutText } from "../protocol/text.ts";
import { epochOf } from "../protocol/time.ts";
import { evolveCall } from "./evolve-call.ts";
import { evolveRun, queuedRun } from "./evolve-run.ts";
import type { CallState, EndedRun, RunState, State } from "./state.ts";

export function evolve(state: State, event: Event): State {
  const at = epochOf(event.at);
  const next: State = { ...state, seq: event.seq, updatedAt: at };
  switch (event.type) {
    case "conversation.created": {
      const { title, owner, ...identity } = event.data;
      return {
        ...next,
        identity: { ...identity, owner },
        title: title ?? null,
        createdAt: at,
        participants: [{ userId: owner, role: "owner" }],
      };
    }
    case "conversation.updated":
      return { ...next, title: event.data.title ?? state.title, archived: event.data.archived ?? state.archived };
    case "conversation.deleted":
      return { ...next, deleted: true };
    case "participant.added":
    case "participant.role_changed": {
      const { userId, role } = event.data;
      return { ...next, participants: [...without(state, userId), { userId, role }] };
    }
    case "participant.removed":
      return { ...next, participants: without(state, event.data.userId) };
    case "message.created":
    case "message.completed":
      return { ...next, messageCount: Math.max(state.messageCount, numberOf(event.data.message.id)) };
    case "run.queued": {
      const run = queuedRun(event, at);
      const queue = [...state.queue];
      queue.splice(event.data.position - 1, 0, run);
      const title = state.title ?? defaultTitle(run.input.text);
      return { ...next, title, queue, runCount: Math.max(state.runCount, run.n) };
    }
    case "run.input_edited":
      return { ...next, queue: state.queue.map((run) => (run.id === event.runId ? evolveRun(run, event, at) : run)) };
    case "run.started": {
      const run = state.queue.find(({ id }) => id === event.runId);
      if (!run) return next;
      return { ...next, queue: state.queue.filter(({ id }) => id !== run.id), active: evolveRun(run, event, at) };
    }
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return ended(next, event, at);
    case "tenant.paused":
      return { ...next, paused: true };
    case "tenant.resumed":
      return { ...next, paused: false };
    case "handover.requested":
      return { ...next, handover: { state: "requested", operator: null } };
    case "handover.accepted":
      return { ...next, handover: { state: "active", operator: event.data.operator } };
    case "handover.released":
      return { ...next, handover: { state: "none", operator: null } };
    case "tool_call.resolved":
    case "tool_call.late_result":
      return onAnyCall(next, event, at);
    case "step.started":
      return onActive(
        {
          ...next,
          messageCount: Math.max(state.messageCount, numberOf(event.data.messageId)),
          incarnation: Math.max(state.incarnation, event.data.incarnation),
        },
        event,
        at,
      );
    case "step.finished": {
      const { inputTokens, outputTokens } = event.data.usage;
      return onActive({ ...next, tokens: state.tokens + inputTokens + outputTokens }, event, at);
    }
    case "step.superseded": {
      const { usage, incarnation } = event.data;
      const tokens = state.tokens + (usage ? usage.inputTokens + usage.outputTokens : 0);
      return onActive({ ...next, tokens, incarnation: Math.max(state.incarnation, incarnation) }, event, at);
    }
    case "tool_call.started":
    case "tool_call.became_unknown":
      return onActive({ ...next, incarnation: Math.max(state.incarnation, event.data.incarnation) }, event, at);
    default:
      return onActive(next, event, at);
  }
}

/** A conversation without a title is called by the beginning of its first message. */
export const defaultTitle = (text: string) => cutText(text.trim().replaceAll(/\s+/g, " "), 80);

const without = (state: State, userId: string) => state.participants.filter((one) => one.userId !== userId);

function onActive(state: State, event: Event, at: number): State {
  if (!state.active || state.active.id !== event.runId) return state;
  return { ...state, active: evolveRun(state.active, event, at) };
}

/** A call of the active run, of the latest, or one that is still unknown in a run long ended. */
function onAnyCall(state: State, event: Event, at: number): State {
  if (state.active?.id === event.runId) return onActive(state, event, at);
  const { latest } = state;
  if (latest && latest.id === event.runId) return { ...state, latest: evolveRun(latest, event, at) };
  const ended = state.ended.map((run) =>
    event.runId !== undefined && numberOf(event.runId) === run.n
      ? { ...run, unknown: run.unknown.map((call) => evolveCall(call, event, at)) }
      : run,
  );
  return { ...state, ended };
}

function ended(state: State, event: Event, at: number): State {
  const held = state.active ? [state.active, ...state.queue] : state.queue;
  const run = held.find(({ id }) => id === event.runId);
  if (!run) return state;
  return {
    ...state,
    active: state.active === run ? null : state.active,
    queue: state.queue.filter((queued) => queued !== run),
    latest: evolveRun(run, event, at),
    ended: state.latest ? [...state.ended, reduced(state.latest)] : state.ended,
  };
}

const everUnknown = (call: CallState) => call.state === "unknown" || call.resolution !== null;

function reduced(run: RunState): EndedRun {
  return {
    n: run.n,
    by: run.principal.userId,
    stop: run.stop?.code ?? "internal",
    calls: run.callCount,
    unknown: run.calls.filter(everUnknown),
  };
}
