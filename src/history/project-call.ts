/** Calls and what of them waits for a person, as statements. The result is the event's payload, unchanged. */
import type { EventOf } from "../protocol/events.ts";
import { numberOf, runOf } from "../protocol/ids.ts";
import { epochOf } from "../protocol/time.ts";
import type { CallStateName, DecisionRecord } from "../protocol/tool-call.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject, type Value } from "./statement.ts";

const PROPOSE = `INSERT INTO tool_calls (tenant_id, conversation_id, generation, run_n, call_n, seq, step, tool, state,
    args_json, reversible, proposed_at, title, effect, args_digest, preview_json, gate_json, scope, undo, result_json)
  SELECT ?1, ?2, ?3, ?5, ?6, ?4, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20 WHERE ${GUARD}
  ON CONFLICT DO NOTHING`;

const OF_CALL = `${OF_CONVERSATION} AND run_n = ?5 AND call_n = ?6 AND seq < ?4 AND ${GUARD}`;
/** Of the call ?5, ?6, unless a later event has written it already. */
const update = (set: string) => `UPDATE tool_calls SET ${set}, seq = ?4 WHERE ${OF_CALL}`;
const REQUEST = update(`state = 'awaiting_confirmation', args_json = ?7, args_digest = ?8, preview_json = ?9,
  gate_json = ?10, expires_at = ?11`);
// An edit makes earlier approvals worthless: they were given to other arguments.
const DECIDE = update(`state = ?7, args_json = coalesce(?8, args_json), args_digest = coalesce(?9, args_digest),
  preview_json = CASE ?11 WHEN 1 THEN ?10 ELSE preview_json END, result_json = coalesce(?12, result_json),
  decisions_json = json_insert(CASE ?13 WHEN 0 THEN decisions_json ELSE (
    SELECT json_group_array(CASE json_extract(value, '$.decision') WHEN 'reject' THEN json(value)
      ELSE json_set(value, '$.voided', json('true')) END) FROM json_each(decisions_json)) END, '$[#]', json(?14))`);
const START = update("state = 'executing', attempt = ?7");
const FINISH = update("state = ?7, result_json = coalesce(?8, result_json)");
const RESOLVE = update(`state = ?7, result_json = coalesce(?8, result_json), resolution_json = ?9,
  expires_at = CASE ?7 WHEN 'approved' THEN NULL ELSE expires_at END`);
const LATE = update("late_result_json = ?7");

const OPEN = `INSERT INTO confirmations (tenant_id, conversation_id, generation, run_n, call_n, seq, kind, open,
    remaining, opened_at, expires_at)
  SELECT ?1, ?2, ?3, ?5, ?6, ?4, ?7, 1, ?8, ?9, ?10 WHERE ${GUARD}
  ON CONFLICT DO UPDATE SET seq = excluded.seq, kind = excluded.kind, open = 1, remaining = excluded.remaining,
    opened_at = excluded.opened_at, expires_at = excluded.expires_at, closed_at = NULL
  WHERE confirmations.seq < excluded.seq`;
const CLOSE = `UPDATE confirmations SET open = 0, remaining = NULL, closed_at = ?7, seq = ?4
  WHERE open = 1 AND ${OF_CALL}`;
const COUNT_DOWN = `UPDATE confirmations SET remaining = ?7, seq = ?4 WHERE open = 1 AND ${OF_CALL}`;
const WAITING = `UPDATE participants SET waiting = 1 - waiting WHERE ${OF_CONVERSATION}
  AND waiting <> EXISTS (SELECT 1 FROM confirmations w
    WHERE w.tenant_id = ?1 AND w.conversation_id = ?2 AND w.generation = ?3 AND w.open = 1)
  AND ${GUARD}`;

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));
/** Of a call's arguments null is a value. */
const argsJson = (value: unknown): string => JSON.stringify(value ?? null);

interface About {
  readonly seq: number;
  readonly data: { readonly toolCallId: string };
}
const onCall = (subject: Subject, { seq, data }: About, sql: string, ...params: Value[]): Statement =>
  guarded(subject, seq, sql, numberOf(runOf(data.toolCallId)), numberOf(data.toolCallId), ...params);
const waiting = (subject: Subject, { seq }: About): Statement => guarded(subject, seq, WAITING);
const close = (subject: Subject, event: About & { readonly at: string }): Statement[] => [
  onCall(subject, event, CLOSE, epochOf(event.at)),
  waiting(subject, event),
];

export function proposed(subject: Subject, event: EventOf<"tool_call.proposed">): Statement[] {
  const { step, tool, title, effect, args, argsDigest, preview, gate, scope, reversible, undo } = event.data;
  const fixed = [step, tool, "proposed", argsJson(args), Number(reversible), epochOf(event.at)];
  const more = [title, effect, argsDigest, json(preview), json(gate), scope ?? null, undo ?? null, null];
  return [onCall(subject, event, PROPOSE, ...fixed, ...more)];
}

export function refused(subject: Subject, event: EventOf<"tool_call.refused">): Statement[] {
  const { step, tool, modelArgs, payload } = event.data;
  const fixed = [step, tool, "refused", argsJson(modelArgs), 0, epochOf(event.at)];
  const more = [null, null, null, null, null, null, null, JSON.stringify(payload)];
  return [onCall(subject, event, PROPOSE, ...fixed, ...more)];
}

export function requested(subject: Subject, event: EventOf<"confirmation.requested">): Statement[] {
  const { args, argsDigest, preview, gate, expiresAt } = event.data;
  const expires = epochOf(expiresAt);
  return [
    onCall(subject, event, REQUEST, argsJson(args), argsDigest, json(preview), json(gate), expires),
    onCall(subject, event, OPEN, "decision", gate.quorum, epochOf(event.at), expires),
    waiting(subject, event),
  ];
}

export function decided(subject: Subject, event: EventOf<"confirmation.decided">): Statement[] {
  const { by, decision, argsDigest, args, preview, reason, remaining, closed, voided, payload } = event.data;
  const record: DecisionRecord = {
    decision,
    by,
    at: event.at,
    argsDigest,
    ...(reason === undefined ? {} : { reason }),
    ...(voided === undefined ? {} : { voided }),
  };
  const edits = decision === "edit" && args !== undefined;
  const state: CallStateName = !closed ? "awaiting_confirmation" : decision === "reject" ? "rejected" : "approved";
  const shown = edits ? [argsJson(args), argsDigest, json(preview), 1] : [null, null, null, 0];
  const result = [json(payload), Number(decision === "edit"), JSON.stringify(record)];
  return [
    onCall(subject, event, DECIDE, state, ...shown, ...result),
    ...(closed ? close(subject, event) : [onCall(subject, event, COUNT_DOWN, remaining)]),
  ];
}

export const expired = (subject: Subject, event: EventOf<"confirmation.expired">): Statement[] => [
  onCall(subject, event, FINISH, "expired", JSON.stringify(event.data.payload)),
  ...close(subject, event),
];

export const callStarted = (subject: Subject, event: EventOf<"tool_call.started">): Statement[] => [
  onCall(subject, event, START, event.data.attempt),
];

export const finished = (subject: Subject, event: EventOf<"tool_call.finished">): Statement[] => [
  onCall(subject, event, FINISH, event.data.state, JSON.stringify(event.data.payload)),
  ...close(subject, event),
];

export const becameUnknown = (subject: Subject, event: EventOf<"tool_call.became_unknown">): Statement[] => [
  onCall(subject, event, FINISH, "unknown", null),
  onCall(subject, event, OPEN, "resolution", null, epochOf(event.at), null),
  waiting(subject, event),
];

export function resolved(subject: Subject, event: EventOf<"tool_call.resolved">): Statement[] {
  const { outcome, by, state, payload } = event.data;
  const resolution = state === "approved" ? null : JSON.stringify({ outcome, by, at: event.at });
  return [onCall(subject, event, RESOLVE, state, json(payload), resolution), ...close(subject, event)];
}

export const late = (subject: Subject, event: EventOf<"tool_call.late_result">): Statement[] => [
  onCall(subject, event, LATE, JSON.stringify(event.data.payload)),
];
