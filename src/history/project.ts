/**
 * An event of the log as statements for D1: pure, the same for every try. Must decide nothing about a run (**I9**).
 *
 * Every statement holds for the next event of its generation only (`GUARD`), and the last one of each event moves the
 * conversation's cursor on. So a log may be brought over twice, cut anywhere, or by two at once: the rows are the same.
 */
import type { Event } from "../protocol/events.ts";
import { epochOf } from "../protocol/time.ts";
import * as call from "./project-call.ts";
import * as conversation from "./project-conversation.ts";
import { said } from "./project-message.ts";
import * as run from "./project-run.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject } from "./statement.ts";

/** The whole of an excerpted text, by its digest; null: it is gone. */
export type Payloads = (digest: string) => string | null;

// From anywhere in a stretch of events that only its first one has rows for.
const MOVE = `UPDATE conversations SET seq = ?4, updated_at = ?5
  WHERE ${OF_CONVERSATION} AND seq >= ?6 - 1 AND seq < ?4`;
const LEAVE_OUT = `INSERT INTO holes (tenant_id, conversation_id, generation, seq)
  SELECT ?1, ?2, ?3, ?4 WHERE ${GUARD} ON CONFLICT DO NOTHING`;
const NO_HOLE = `DELETE FROM holes WHERE ${OF_CONVERSATION} AND seq = ?4`;

/** These events, which follow each other, with the cursor moved beyond them. */
export const project = (subject: Subject, events: readonly Event[], payloads: Payloads): Statement[] =>
  joined(
    subject,
    events.map((event) => ({ event, effects: effectsOf(subject, event, payloads) })),
  );

/** An event with what it changes. */
export interface Projected {
  readonly event: Event;
  readonly effects: readonly Statement[];
}

/** What each of them changes, with the cursor moved before each that changes anything, and beyond the last. */
export function joined(subject: Subject, events: readonly Projected[]): Statement[] {
  const statements: Statement[] = [];
  let from = events[0]?.event.seq ?? 0;
  events.forEach(({ event, effects }, at) => {
    const before = events[at - 1];
    if (effects.length > 0 && before) {
      statements.push(move(subject, from, before.event));
      from = event.seq;
    }
    statements.push(...effects);
  });
  const last = events.at(-1);
  if (last) statements.push(move(subject, from, last.event));
  return statements;
}

/** Goes on without this event: it leaves a hole, which shows and which can be filled later. */
export const leaveOut = (subject: Subject, event: Event): Statement[] => [
  guarded(subject, event.seq, LEAVE_OUT),
  move(subject, event.seq, event),
];

/** Of an event that the history now has, whether it was left out before or not. */
export const noHole = (subject: Subject, seq: number): Statement => guarded(subject, seq, NO_HOLE);

const move = (subject: Subject, from: number, { seq, at }: Event): Statement =>
  guarded(subject, seq, MOVE, epochOf(at), from);

/** What an event changes, without the cursor. */
export function effectsOf(subject: Subject, event: Event, payloads: Payloads): Statement[] {
  switch (event.type) {
    case "conversation.created":
      return conversation.created(subject, event);
    case "conversation.updated":
      return conversation.updated(subject, event);
    case "conversation.deleted":
      return conversation.erased(subject, event);
    case "participant.added":
    case "participant.role_changed":
      return conversation.admitted(subject, event);
    case "participant.removed":
      return conversation.dismissed(subject, event);
    case "handover.requested":
      return conversation.handedOver(subject, event.seq, "requested", null);
    case "handover.accepted":
      return conversation.handedOver(subject, event.seq, "active", event.data.operator);
    case "handover.released":
      return conversation.handedOver(subject, event.seq, "none", null);
    case "message.created":
    case "message.completed":
      return said(subject, event, payloads);
    case "run.queued":
      return run.queued(subject, event);
    case "run.input_edited":
      return run.edited(subject, event);
    case "run.started":
      return run.started(subject, event);
    case "run.interrupted":
      return run.interrupted(subject, event);
    case "run.resumed":
      return run.resumed(subject, event);
    case "run.cancel_requested":
      return run.cancelRequested(subject, event);
    case "run.completed":
      return run.ended(subject, event, "completed");
    case "run.failed":
      return run.ended(subject, event, "failed");
    case "run.cancelled":
      return run.ended(subject, event, "cancelled");
    case "step.started":
      return run.stepStarted(subject, event);
    case "step.superseded":
      return event.data.usage ? run.spent(subject, event, event.data.usage) : [];
    case "step.finished":
      return run.spent(subject, event, event.data.usage, event.data.timing);
    case "limit.tripped":
      return event.data.ask && event.data.expiresAt !== undefined ? run.awaitsContinuation(subject, event, true) : [];
    case "limit.continued":
      return run.awaitsContinuation(subject, event, false);
    case "budget.awaited":
      return run.awaitsBudget(subject, event);
    case "tool_call.proposed":
      return call.proposed(subject, event);
    case "tool_call.refused":
      return call.refused(subject, event);
    case "confirmation.requested":
      return call.requested(subject, event);
    case "confirmation.decided":
      return call.decided(subject, event);
    case "confirmation.expired":
      return call.expired(subject, event);
    case "tool_call.started":
      return call.callStarted(subject, event);
    case "tool_call.finished":
      return call.finished(subject, event);
    case "tool_call.became_unknown":
      return call.becameUnknown(subject, event);
    case "tool_call.resolved":
      return call.resolved(subject, event);
    case "tool_call.late_result":
      return call.late(subject, event);
    case "tenant.paused":
      return conversation.paused(subject, event.seq, true);
    case "tenant.resumed":
      return conversation.paused(subject, event.seq, false);
    case "budget.warned":
    case "context.trimmed":
      return [];
  }
}
