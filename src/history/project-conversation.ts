/** The events of the conversation itself, as statements. */
import type { EventOf } from "../protocol/events.ts";
import { epochOf } from "../protocol/time.ts";
import { indexTitle, readmit } from "./project-search.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject } from "./statement.ts";
import { CONVERSATION_TABLES } from "./tables.ts";

// A younger generation of the same conversation takes the row over; an erased one never comes back.
const CREATE = `INSERT INTO conversations (tenant_id, conversation_id, generation, seq, agent, title, archived,
    metadata_json, handover_state, created_at, updated_at)
  SELECT ?1, ?2, ?3, ?4 - 1, ?5, ?6, 0, ?7, 'none', ?8, ?8
  WHERE NOT EXISTS (SELECT 1 FROM tombstones WHERE tenant_id = ?1 AND conversation_id = ?2)
  ON CONFLICT (tenant_id, conversation_id) DO UPDATE SET generation = excluded.generation, seq = excluded.seq,
    agent = excluded.agent, title = excluded.title, archived = 0, metadata_json = excluded.metadata_json,
    handover_state = 'none', operator_id = NULL, paused = 0, active_run_n = NULL, created_at = excluded.created_at
  WHERE conversations.generation <> excluded.generation AND conversations.created_at < excluded.created_at`;
const ADMIT = `INSERT INTO participants (tenant_id, conversation_id, generation, user_id, seq, role, agent,
    conversation_created_at, waiting)
  SELECT ?1, ?2, ?3, ?5, ?4, ?6, c.agent, c.created_at, EXISTS (SELECT 1 FROM confirmations w
    WHERE w.tenant_id = ?1 AND w.conversation_id = ?2 AND w.generation = ?3 AND w.open = 1)
  FROM conversations c WHERE c.tenant_id = ?1 AND c.conversation_id = ?2 AND c.generation = ?3 AND ${GUARD}
  ON CONFLICT DO UPDATE SET role = excluded.role, seq = excluded.seq`;
const DISMISS = `DELETE FROM participants WHERE ${OF_CONVERSATION} AND user_id = ?5 AND ${GUARD}`;
const CHANGE = `UPDATE conversations SET title = coalesce(?5, title), archived = coalesce(?6, archived)
  WHERE ${OF_CONVERSATION} AND ${GUARD}`;
const RENAME = `UPDATE conversations SET title = ?5, archived = ?6 WHERE ${OF_CONVERSATION} AND ${GUARD}`;
const PAUSE = `UPDATE conversations SET paused = ?5 WHERE ${OF_CONVERSATION} AND ${GUARD}`;
const HAND_OVER = `UPDATE conversations SET handover_state = ?5, operator_id = ?6 WHERE ${OF_CONVERSATION} AND ${GUARD}`;

const ENTOMB = `INSERT INTO tombstones (tenant_id, conversation_id, generation, deleted_at)
  SELECT ?1, ?2, ?3, ?5 WHERE ${GUARD} ON CONFLICT DO NOTHING`;
const ENTOMBED = `EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant_id = ?1 AND t.conversation_id = ?2)`;
const UNINDEX = `DELETE FROM search WHERE rowid IN
  (SELECT doc FROM search_docs WHERE tenant_id = ?1 AND conversation_id = ?2) AND ${ENTOMBED}`;
const ERASE = [
  UNINDEX,
  ...CONVERSATION_TABLES.map(
    (table) => `DELETE FROM ${table} WHERE tenant_id = ?1 AND conversation_id = ?2 AND ${ENTOMBED}`,
  ),
];

export function created(subject: Subject, { seq, at, data }: EventOf<"conversation.created">): Statement[] {
  const { agent, title, metadata, owner } = data;
  return [
    guarded(subject, seq, CREATE, agent, title ?? null, JSON.stringify(metadata), epochOf(at)),
    guarded(subject, seq, ADMIT, owner, "owner"),
    ...(title === undefined ? [] : indexTitle(subject, seq, title)),
  ];
}

export function updated(subject: Subject, { seq, data }: EventOf<"conversation.updated">): Statement[] {
  const { title, archived } = data;
  return [
    guarded(subject, seq, CHANGE, title ?? null, archived === undefined ? null : Number(archived)),
    ...(title === undefined ? [] : indexTitle(subject, seq, title)),
  ];
}

/** Whatever it was called before. */
export const titled = (subject: Subject, seq: number, title: string | null, archived: boolean): Statement[] => [
  guarded(subject, seq, RENAME, title, Number(archived)),
  ...(title === null ? [] : indexTitle(subject, seq, title)),
];

/** Everything of it goes, in one transaction with the tombstone that keeps it away. */
export function erased(subject: Subject, { seq, at }: EventOf<"conversation.deleted">): Statement[] {
  const { tenantId, conversationId } = subject;
  return [
    guarded(subject, seq, ENTOMB, epochOf(at)),
    ...ERASE.map((sql) => ({ sql, params: [tenantId, conversationId] })),
  ];
}

export function admitted(
  subject: Subject,
  { seq, data }: EventOf<"participant.added" | "participant.role_changed">,
): Statement[] {
  return [guarded(subject, seq, ADMIT, data.userId, data.role), readmit(subject, seq)];
}

export function dismissed(subject: Subject, { seq, data }: EventOf<"participant.removed">): Statement[] {
  return [guarded(subject, seq, DISMISS, data.userId), readmit(subject, seq)];
}

export const paused = (subject: Subject, seq: number, is: boolean): Statement[] => [
  guarded(subject, seq, PAUSE, Number(is)),
];

export const handedOver = (subject: Subject, seq: number, state: string, operator: string | null): Statement[] => [
  guarded(subject, seq, HAND_OVER, state, operator),
];
