/**
 * Messages from the history, while their actor cannot answer: with their whole text, and marked as stale. The reader's
 * place in the conversation is part of each statement.
 */
import { messageIdOf, runIdOf } from "../protocol/ids.ts";
import type { Message, MessagePart } from "../protocol/message.ts";
import type { By } from "../protocol/principal.ts";
import type { Role } from "../protocol/roles.ts";
import { judge, pageOf, type Known, type Read, type ReadScope, type TenantHistory } from "./read-outcome.ts";
import { jsonIn, numberIn, numberOrNull, optional, textIn, textOrNull, timeIn, type Row } from "./row.ts";
import { prepared } from "./statement.ts";

export interface MessagesQuery {
  /** The last seen message's `seq`; 0: from the beginning of the order. */
  readonly after: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

export interface StaleMessages {
  readonly data: readonly Message[];
  /** The `after` of the next part; null: this was the last. */
  readonly next: number | null;
  readonly stale: true;
  readonly asOfSeq: number;
  readonly generation: string;
  readonly role: Role;
}

const READER = `FROM participants p CROSS JOIN conversations c
    ON c.tenant_id = p.tenant_id AND c.conversation_id = p.conversation_id AND c.generation = p.generation`;
const MINE = "p.tenant_id = ?1 AND p.user_id = ?2 AND p.conversation_id = ?3";
const HEAD = `SELECT c.generation, c.seq, p.role ${READER} WHERE ${MINE}`;
const page = (comparison: string, direction: string) => `SELECT m.* ${READER} CROSS JOIN messages m
    ON m.tenant_id = c.tenant_id AND m.conversation_id = c.conversation_id AND m.generation = c.generation
  WHERE ${MINE} AND m.seq ${comparison} ?4 ORDER BY m.seq ${direction} LIMIT ?5`;
const PAGE = { asc: page(">", "ASC"), desc: page("<", "DESC") } as const;

export async function readMessages(
  { tenantId, db }: TenantHistory,
  { userId }: ReadScope,
  conversationId: string,
  { after, limit, order }: MessagesQuery,
  known?: Known,
): Promise<Read<StaleMessages>> {
  const mine = [tenantId, userId, conversationId];
  const from = order === "asc" || after > 0 ? after : Number.MAX_SAFE_INTEGER;
  // One batch is one moment: the page is as of the head beside it.
  const [head, rows] = await db.batch([
    prepared(db, { sql: HEAD, params: mine }),
    prepared(db, { sql: PAGE[order], params: [...mine, from, limit + 1] }),
  ]);
  const row = head?.results[0];
  const stands = row ? { generation: textIn(row, "generation"), seq: numberIn(row, "seq") } : null;
  const kind = judge(stands, known);
  if (!row || !stands || kind !== "found") return { kind: kind === "found" ? "lost" : kind };
  const { data, next } = pageOf(rows?.results ?? [], limit, (last) => numberIn(last, "seq"));
  const value: StaleMessages = {
    data: data.map((each) => messageOf(conversationId, each)),
    next,
    stale: true,
    asOfSeq: stands.seq,
    generation: stands.generation,
    role: textIn(row, "role") as Role,
  };
  return { kind, value };
}

function messageOf(conversationId: string, row: Row): Message {
  const run = numberOrNull(row, "run_n");
  return {
    id: messageIdOf(conversationId, numberIn(row, "message_n")),
    ...optional("runId", run === null ? null : runIdOf(conversationId, run)),
    role: textIn(row, "role") as Message["role"],
    by: { kind: textIn(row, "by_kind") as By["kind"], ...optional("id", textOrNull(row, "by_id")) },
    parts: jsonIn<MessagePart[]>(row, "parts_json"),
    status: textIn(row, "status") as Message["status"],
    seq: numberIn(row, "seq"),
    createdAt: timeIn(row, "created_at"),
  };
}
