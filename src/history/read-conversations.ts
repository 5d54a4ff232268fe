/**
 * Lists of conversations: mine and shared with me, newest first, and the search over them. One walk over one index of
 * the reader's own, whatever the tenant holds; the reader's token is inside the match. Must not rank or show anything
 * that the reader does not take part in.
 */
import type { ConversationSummary } from "../protocol/history.ts";
import { runIdOf } from "../protocol/ids.ts";
import type { Role } from "../protocol/roles.ts";
import type { HandoverState } from "../protocol/conversation.ts";
import {
  judge,
  pageOf,
  type Known,
  type ListPage,
  type Read,
  type ReadScope,
  type TenantHistory,
} from "./read-outcome.ts";
import { flagIn, numberIn, numberOrNull, optional, textIn, textOrNull, timeIn, type Row } from "./row.ts";
import { phaseIn, statusIn, WAITS_COLUMNS } from "./run-waits.ts";
import { matchOf, readerOf } from "./search-tokens.ts";
import { prepared, type Value } from "./statement.ts";

/** A place in the order of creation; what a page cursor stands for. */
export interface ConversationPlace {
  /** Epoch ms. */
  readonly createdAt: number;
  readonly id: string;
}

export interface ConversationsQuery {
  /** Words, in any language; all of them must occur in one message or in the title. */
  readonly q?: string;
  readonly agent?: string;
  readonly limit: number;
  /** Newest first is `desc`, the default. */
  readonly order?: "asc" | "desc";
  /** The page after this place, in the order asked for. */
  readonly before?: ConversationPlace;
}

// CROSS JOIN keeps the order of the tables: from the reader's index to the rows.
const ROWS = `SELECT p.conversation_id, p.role, c.generation, c.seq, c.agent, c.title, c.archived, c.created_at,
    c.updated_at, r.run_n, ${WAITS_COLUMNS},
    EXISTS (SELECT 1 FROM confirmations o WHERE o.tenant_id = p.tenant_id AND o.conversation_id = p.conversation_id
      AND o.generation = p.generation AND o.kind = 'decision' AND o.open = 1) AS needs_confirmation
  FROM participants p
  CROSS JOIN conversations c ON c.tenant_id = p.tenant_id AND c.conversation_id = p.conversation_id
    AND c.generation = p.generation
  LEFT JOIN runs r ON r.tenant_id = c.tenant_id AND r.conversation_id = c.conversation_id
    AND r.generation = c.generation AND r.run_n = c.active_run_n
  WHERE p.tenant_id = ?1 AND p.user_id = ?2`;

const OF_AGENT = " AND p.agent = ?6";
const MATCHING = ` AND p.conversation_id IN (SELECT d.conversation_id FROM search CROSS JOIN search_docs d
    ON d.doc = search.rowid AND d.tenant_id = ?1 WHERE search MATCH ?7)`;
const ordered = (direction: "DESC" | "ASC") => ` AND (p.conversation_created_at, p.conversation_id)
    ${direction === "DESC" ? "<" : ">"} (?3, ?4)
  ORDER BY p.conversation_created_at ${direction}, p.conversation_id ${direction} LIMIT ?5`;

const ONE = `${ROWS} AND p.conversation_id = ?3`;

/** The beginning of either order. */
const BEGINNING = {
  desc: { createdAt: Number.MAX_SAFE_INTEGER, id: "" },
  asc: { createdAt: -1, id: "" },
} as const;

export async function readConversations(
  { tenantId, db }: TenantHistory,
  { userId }: ReadScope,
  query: ConversationsQuery,
): Promise<ListPage<ConversationSummary, ConversationPlace>> {
  const { q, agent, limit, order = "desc" } = query;
  const match = q === undefined ? undefined : matchOf(q, readerOf(tenantId, userId));
  if (match === null) return { data: [], next: null };
  const from = query.before ?? BEGINNING[order];
  const sql = [
    ROWS,
    agent === undefined ? "" : OF_AGENT,
    match === undefined ? "" : MATCHING,
    ordered(order === "desc" ? "DESC" : "ASC"),
  ].join("");
  const params: Value[] = [tenantId, userId, from.createdAt, from.id, limit + 1];
  if (agent !== undefined || match !== undefined) params.push(agent ?? null);
  if (match !== undefined) params.push(match);
  const { results } = await prepared(db, { sql, params }).all();
  const page = pageOf(results, limit, (row) => ({
    createdAt: numberIn(row, "created_at"),
    id: textIn(row, "conversation_id"),
  }));
  return { data: page.data.map(summaryOf), next: page.next };
}

export async function readConversation(
  { tenantId, db }: TenantHistory,
  { userId }: ReadScope,
  conversationId: string,
  known?: Known,
): Promise<Read<ConversationSummary>> {
  const { results } = await prepared(db, { sql: ONE, params: [tenantId, userId, conversationId] }).all();
  const [row] = results;
  const kind = judge(row ? { generation: textIn(row, "generation"), seq: numberIn(row, "seq") } : null, known);
  return kind === "found" && row ? { kind, value: summaryOf(row) } : { kind: kind === "found" ? "lost" : kind };
}

function summaryOf(row: Row): ConversationSummary {
  const id = textIn(row, "conversation_id");
  const run = numberOrNull(row, "run_n");
  return {
    id,
    agent: textIn(row, "agent"),
    title: textOrNull(row, "title") ?? "",
    role: textIn(row, "role") as Role,
    createdAt: timeIn(row, "created_at"),
    updatedAt: timeIn(row, "updated_at"),
    archived: flagIn(row, "archived"),
    asOfSeq: numberIn(row, "seq"),
    generation: textIn(row, "generation"),
    activeRun:
      run === null ? null : { id: runIdOf(id, run), status: statusIn(row), ...optional("phase", phaseIn(row)) },
    needsConfirmation: flagIn(row, "needs_confirmation"),
    handover: { state: textIn(row, "handover_state") as HandoverState },
  };
}
