/**
 * The inbox: all that this person may decide or resolve, over all conversations of the tenant, newest first. The rules
 * are those of the core's `authority.ts`, inside the statement; the core asks them again when the person answers.
 */
import type { InboxItem } from "../protocol/history.ts";
import { numberOf, runOf } from "../protocol/ids.ts";
import { rolesThatMay, SCOPES } from "../protocol/roles.ts";
import { CALL_COLUMNS, callOf } from "./call-row.ts";
import { pageOf, type ListPage, type ReadScope, type TenantHistory } from "./read-outcome.ts";
import { numberIn, numberOrNull, optional, textIn, textOrNull, timeIn, type Row } from "./row.ts";
import { prepared } from "./statement.ts";

export interface InboxScope extends ReadScope {
  /** Of the sign-in. */
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

export interface InboxPlace {
  /** Epoch ms. */
  readonly openedAt: number;
  readonly toolCallId: string;
}

export interface InboxQuery {
  /** Epoch ms: what has expired by then can no longer be decided, whatever the actor has told so far. */
  readonly now: number;
  readonly limit: number;
  readonly before?: InboxPlace;
}

const DECIDERS = rolesThatMay("decide")
  .map((role) => `'${role}'`)
  .join(", ");

// From the reader's waiting conversations, which are few, to what is open in them.
const INBOX = `SELECT ${CALL_COLUMNS}, c.generation, c.seq, c.agent, c.title AS conversation_title, r.started_by,
    o.kind, o.opened_at, o.remaining
  FROM participants p
  CROSS JOIN conversations c ON c.tenant_id = p.tenant_id AND c.conversation_id = p.conversation_id
    AND c.generation = p.generation
  CROSS JOIN confirmations o INDEXED BY confirmations_open ON o.tenant_id = c.tenant_id AND o.conversation_id = c.conversation_id
    AND o.generation = c.generation AND o.open = 1
  CROSS JOIN tool_calls t ON t.tenant_id = o.tenant_id AND t.conversation_id = o.conversation_id
    AND t.generation = o.generation AND t.run_n = o.run_n AND t.call_n = o.call_n
  CROSS JOIN runs r ON r.tenant_id = o.tenant_id AND r.conversation_id = o.conversation_id
    AND r.generation = o.generation AND r.run_n = o.run_n
  WHERE p.tenant_id = ?1 AND p.user_id = ?2 AND p.waiting = 1
    AND (o.kind = 'resolution' OR o.expires_at > ?5)
    AND (p.role IN (${DECIDERS}) OR r.started_by = p.user_id)
    AND EXISTS (SELECT 1 FROM json_each(?4) WHERE value = '${SCOPES.confirmationsDecide}')
    AND (t.scope IS NULL OR t.scope IN (SELECT value FROM json_each(?4)))
    AND (json_extract(t.gate_json, '$.approvers') IS NULL OR EXISTS (
      SELECT 1 FROM json_each(t.gate_json, '$.approvers') a WHERE a.value IN (SELECT value FROM json_each(?3))))
    AND (t.gate_json IS NULL OR r.started_by <> p.user_id OR json_extract(t.gate_json, '$.selfApproval'))
    AND (o.opened_at, o.conversation_id, o.run_n, o.call_n) < (?6, ?7, ?8, ?9)
  ORDER BY o.opened_at DESC, o.conversation_id DESC, o.run_n DESC, o.call_n DESC LIMIT ?10`;

export async function readConfirmations(
  { tenantId, db }: TenantHistory,
  { userId, roles, scopes }: InboxScope,
  { now, limit, before }: InboxQuery,
): Promise<ListPage<InboxItem, InboxPlace>> {
  const place = before
    ? [before.openedAt, before.toolCallId.slice(0, 26), numberOf(runOf(before.toolCallId)), numberOf(before.toolCallId)]
    : [Number.MAX_SAFE_INTEGER, "", 0, 0];
  const params = [tenantId, userId, JSON.stringify(roles), JSON.stringify(scopes), now, ...place, limit + 1];
  const { results } = await prepared(db, { sql: INBOX, params }).all();
  const { data, next } = pageOf(results, limit, (row) => ({
    openedAt: numberIn(row, "opened_at"),
    toolCallId: callOf(row).id,
  }));
  return { data: data.map(itemOf), next };
}

function itemOf(row: Row): InboxItem {
  return {
    ...callOf(row),
    conversationId: textIn(row, "conversation_id"),
    conversationTitle: textOrNull(row, "conversation_title") ?? "",
    agent: textIn(row, "agent"),
    startedBy: { kind: "user", id: textIn(row, "started_by") },
    kind: textIn(row, "kind") as InboxItem["kind"],
    openedAt: timeIn(row, "opened_at"),
    ...optional("remaining", numberOrNull(row, "remaining")),
    asOfSeq: numberIn(row, "seq"),
    generation: textIn(row, "generation"),
  };
}
