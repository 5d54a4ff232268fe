/**
 * An event that was left out, brought in after all, whatever came after it: what it has a part in (a run, a call, the
 * title, one participant, the hand-over) is written anew from all its events, in one transaction. Pure.
 *
 * In that transaction those events are holes like the one that is filled, so that the statements of the projection hold
 * for them; nobody sees them there. Once the history stands elsewhere than at `Past.until` it closes no hole, and once
 * the hole is gone it changes nothing: a batch of an old life that lands late does no harm.
 */
import type { Event, Timing } from "../protocol/events.ts";
import { runOf, numberOf } from "../protocol/ids.ts";
import { defaultTitle } from "../run/evolve.ts";
import { addUsage } from "../run/evolve-run.ts";
import { NO_USAGE } from "../run/state.ts";
import { effectsOf, type Payloads } from "./project.ts";
import { titled } from "./project-conversation.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject, type Value } from "./statement.ts";

/** The log as the history has it. */
export interface Past {
  /** Where the history stands. */
  readonly until: number;
  /** Other events that it lacks. */
  readonly lacks: ReadonlySet<number>;
  ofRun(runId: string): Iterable<Event>;
  ofTypes(types: readonly Event["type"][]): Iterable<Event>;
}

// ?4 is the hole's seq, ?5 where the history must stand.
const HOLDS = `EXISTS (SELECT 1 FROM holes WHERE ${OF_CONVERSATION} AND seq = ?4)
  AND EXISTS (SELECT 1 FROM conversations WHERE ${OF_CONVERSATION} AND seq = ?5)`;
const OPEN = `INSERT INTO holes (tenant_id, conversation_id, generation, seq)
  SELECT ?1, ?2, ?3, value FROM json_each(?6) WHERE ${HOLDS} ON CONFLICT DO NOTHING`;
const FORGET_RUN = `DELETE FROM runs WHERE ${OF_CONVERSATION} AND run_n = ?6 AND ${HOLDS}`;
const FORGET_CALL = `DELETE FROM tool_calls WHERE ${OF_CONVERSATION} AND run_n = ?6 AND call_n = ?7 AND ${HOLDS}`;
const FORGET_CONFIRMATION = `DELETE FROM confirmations
  WHERE ${OF_CONVERSATION} AND run_n = ?6 AND call_n = ?7 AND ${HOLDS}`;
// The events of one run cannot tell which of all runs is the active one.
const ACTIVE = `UPDATE conversations SET active_run_n = (
    SELECT max(run_n) FROM runs WHERE ${OF_CONVERSATION} AND status IN ('running', 'interrupted'))
  WHERE ${OF_CONVERSATION} AND ${GUARD}`;
const CLOSE = `DELETE FROM holes WHERE ${OF_CONVERSATION} AND seq IN (SELECT value FROM json_each(?6))
  AND EXISTS (SELECT 1 FROM conversations WHERE ${OF_CONVERSATION} AND seq = ?5)`;

interface Anew {
  readonly events: readonly Event[];
  readonly before?: readonly Statement[];
  readonly after?: readonly Statement[];
}

export function fillHole(subject: Subject, hole: Event, past: Past, payloads: Payloads): Statement[] {
  const known = (event: Event) => event.seq <= past.until && !past.lacks.has(event.seq);
  const { events, before = [], after = [] } = anew(subject, hole, past, known);
  const opened = JSON.stringify([...new Set([hole.seq, ...events.map(({ seq }) => seq)])]);
  const during = (sql: string, ...params: readonly Value[]) => guarded(subject, hole.seq, sql, past.until, ...params);
  return [
    during(OPEN, opened),
    ...before,
    ...events.flatMap((event) => effectsOf(subject, event, payloads)),
    ...after,
    during(CLOSE, opened),
  ];
}

function anew(subject: Subject, hole: Event, past: Past, known: (event: Event) => boolean): Anew {
  const { seq, runId, type } = hole;
  const forget = (sql: string, ...params: readonly Value[]) => guarded(subject, seq, sql, past.until, ...params);
  if (type.startsWith("message.") || type.startsWith("conversation.")) {
    if (type === "conversation.updated") return { events: [], after: named(subject, hole, past, known) };
    return { events: [hole] };
  }
  if (type.startsWith("participant.")) {
    const same = [...past.ofTypes(PARTICIPANT)].filter((event) => known(event) && userOf(event) === userOf(hole));
    return { events: same.slice(-1) };
  }
  if (type.startsWith("handover.")) return { events: [...past.ofTypes(HANDOVER)].filter(known).slice(-1) };
  if (type.startsWith("tenant.")) return { events: [...past.ofTypes(PAUSE)].filter(known).slice(-1) };
  if (runId === undefined) return { events: [] };
  const ofRun = [...past.ofRun(runId)].filter(known);
  const callId = callOf(hole);
  if (callId !== null) {
    const call = [numberOf(runOf(callId)), numberOf(callId)] as const;
    return {
      events: ofRun.filter((event) => callOf(event) === callId),
      before: [forget(FORGET_CALL, ...call), forget(FORGET_CONFIRMATION, ...call)],
    };
  }
  const title = type === "run.queued" ? named(subject, hole, past, known) : [];
  return {
    events: lastWords(ofRun),
    before: [forget(FORGET_RUN, numberOf(runId))],
    after: [guarded(subject, seq, ACTIVE), ...title],
  };
}

const PARTICIPANT = ["participant.added", "participant.role_changed", "participant.removed"] as const;
const HANDOVER = ["handover.requested", "handover.accepted", "handover.released"] as const;
const PAUSE = ["tenant.paused", "tenant.resumed"] as const;
const NAMING = ["conversation.created", "conversation.updated", "run.queued"] as const;

const userOf = (event: Event): string | null => ("userId" in event.data ? event.data.userId : null);
const callOf = (event: Event): string | null => ("toolCallId" in event.data ? event.data.toolCallId : null);

/** Title and archive, as all that was said of them makes them. */
function named(subject: Subject, hole: Event, past: Past, known: (event: Event) => boolean): Statement[] {
  let title: string | null = null;
  let archived = false;
  for (const event of past.ofTypes(NAMING)) {
    if (!known(event)) continue;
    if (event.type === "conversation.created") title = event.data.title ?? null;
    else if (event.type === "run.queued") title ??= defaultTitle(event.data.input.text);
    else if (event.type === "conversation.updated") {
      title = event.data.title ?? title;
      archived = event.data.archived ?? archived;
    }
  }
  return titled(subject, hole.seq, title, archived);
}

/** Of a run, what nothing later takes back, so that a long one fits into a transaction: its usage in one event. */
function lastWords(events: readonly Event[]): Event[] {
  const last = new Map<string, Event>();
  let usage = NO_USAGE;
  let timing: Timing | undefined;
  for (const event of events) {
    if (!/^(run|step|limit|budget)\./.test(event.type)) continue;
    // It changes nothing, and must not stand for one that does.
    if (event.type === "limit.tripped" && !event.data.ask) continue;
    let said = event;
    if (event.type === "step.finished" || (event.type === "step.superseded" && event.data.usage)) {
      usage = addUsage(usage, event.data.usage ?? NO_USAGE);
      if (event.type === "step.finished") timing = addTiming(timing, event.data.timing);
      const data = { n: 1, attempt: 1, finishReason: null, usage, ...(timing ? { timing } : {}) };
      said = { ...event, type: "step.finished", data };
    }
    const kind = KIND[said.type] ?? said.type;
    last.delete(kind);
    last.set(kind, said);
  }
  return [...last.values()];
}

const addTiming = (sum: Timing | undefined, more: Timing | undefined): Timing | undefined =>
  sum && more
    ? {
        ms: sum.ms + more.ms,
        firstByteMs: sum.firstByteMs ?? more.firstByteMs,
        requestBytes: Math.max(sum.requestBytes, more.requestBytes),
      }
    : (sum ?? more);

const KIND: Partial<Record<Event["type"], string>> = {
  "run.resumed": "run.interrupted",
  "limit.continued": "limit.tripped",
};
