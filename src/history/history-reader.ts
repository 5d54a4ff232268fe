/** All that the edge reads here: tenant and reader by name, places as text. The edge seals and binds its cursors. */
import type { InboxItem } from "../protocol/history.ts";
import { ToolCallId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import type { MessageQuery, Page } from "../protocol/rpc.ts";
import type { UsageReport } from "../protocol/usage.ts";
import { conversationLists, type ConversationLists } from "./conversation-lists.ts";
import { historyFor } from "./history-for.ts";
import { readConfirmations, type InboxPlace } from "./read-confirmations.ts";
import { readMessages } from "./read-messages.ts";
import { readUsage, type UsageQuery } from "./read-usage.ts";
import type { HistoryDatabase } from "./statement.ts";

export interface InboxPageQuery {
  /** Epoch ms. */
  readonly now: number;
  readonly limit: number;
  readonly after?: string;
}

export interface StaleMessagePage extends Page<Message> {
  readonly stale: true;
  readonly asOfSeq: number;
}

export interface HistoryReads extends ConversationLists {
  confirmations(reader: Principal, query: InboxPageQuery): Promise<Result<Page<InboxItem>>>;
  /** null: the history knows of nothing here that is this reader's. */
  messages(
    reader: Pick<Principal, "tenantId" | "userId">,
    conversationId: string,
    query: MessageQuery,
  ): Promise<StaleMessagePage | null>;
  usage(tenantId: string, query: UsageQuery): Promise<UsageReport>;
}

export function historyReader(db: HistoryDatabase): HistoryReads {
  return {
    ...conversationLists(db),
    async confirmations(reader, { now, limit, after }) {
      const before = after === undefined ? undefined : placeOf(after);
      if (before === null) return { ok: false, rejection: reject("cursor_invalid", "The cursor is not of this list.") };
      const query = { now, limit, ...(before === undefined ? {} : { before }) };
      const { data, next } = await readConfirmations(historyFor(db, reader.tenantId), reader, query);
      return { ok: true, value: { data, nextCursor: next && `${next.openedAt}.${next.toolCallId}` } };
    },
    async messages({ tenantId, userId }, conversationId, query) {
      const read = await readMessages(historyFor(db, tenantId), { userId }, conversationId, query);
      if (read.kind !== "found") return null;
      const { data, next, stale, asOfSeq } = read.value;
      return { data, nextCursor: next === null ? null : String(next), stale, asOfSeq };
    },
    usage: (tenantId, query) => readUsage(historyFor(db, tenantId), query),
  };
}

function placeOf(text: string): InboxPlace | null {
  const dot = text.indexOf(".");
  const [openedAt, toolCallId] = [text.slice(0, dot), text.slice(dot + 1)];
  const known = /^\d{1,15}$/.test(openedAt) && ToolCallId.safeParse(toolCallId).success;
  return known ? { openedAt: Number(openedAt), toolCallId } : null;
}
