/** The lists as the edge asks for them: tenant and user by name, places as text. The edge seals and binds its cursors. */
import type { ConversationSummary } from "../protocol/history.ts";
import { ConversationId } from "../protocol/ids.ts";
import { reject, type Result } from "../protocol/problems.ts";
import type { Page } from "../protocol/rpc.ts";
import { historyFor } from "./history-for.ts";
import { readConversations, type ConversationPlace, type ConversationsQuery } from "./read-conversations.ts";
import type { HistoryDatabase } from "./statement.ts";

export interface ConversationLists {
  list(
    tenantId: string,
    userId: string,
    query: Omit<ConversationsQuery, "before"> & { readonly after?: string },
  ): Promise<Result<Page<ConversationSummary>>>;
}

export function conversationLists(db: HistoryDatabase): ConversationLists {
  return {
    async list(tenantId, userId, { after, ...query }) {
      const before = after === undefined ? undefined : placeOf(after);
      if (before === null) return { ok: false, rejection: reject("cursor_invalid", "The cursor is not of this list.") };
      const page = { ...query, ...(before === undefined ? {} : { before }) };
      const { data, next } = await readConversations(historyFor(db, tenantId), { userId }, page);
      return { ok: true, value: { data, nextCursor: next && `${next.createdAt}.${next.id}` } };
    },
  };
}

function placeOf(text: string): ConversationPlace | null {
  const [createdAt = "", id = ""] = text.split(".", 2);
  const known = /^\d{1,15}$/.test(createdAt) && ConversationId.safeParse(id).success;
  return known ? { createdAt: Number(createdAt), id } : null;
}
