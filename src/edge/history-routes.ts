/**
 * Lists over all conversations. A projection answers them, never an actor: rows may lag, and each says to which event
 * it has come. While it cannot be read these are 503, and nothing else is. Absent where there is no history.
 */
import * as z from "zod";
import { ConversationSummary, InboxItem } from "../protocol/history.ts";
import { principalOf } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import type { Page } from "../protocol/rpc.ts";
import { pageOf } from "./paths.ts";
import type { HistoryReader } from "./ports.ts";
import { Limit, PageCursorText } from "./query.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, userRoute, type Answered, type EdgeServices, type Route } from "./route.ts";
import type { Trace } from "./trace.ts";

const common = {
  method: "GET",
  params: NONE,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
  problems: ["cursor_invalid", "history_unavailable"],
} as const;

export const historyRoutes = (history: HistoryReader): readonly Route[] => [
  userRoute({
    ...common,
    path: "/v1/conversations",
    summary: "My conversations and those shared with me, newest first. q searches titles and messages in any language.",
    scope: SCOPES.conversationsRead,
    query: z.object({
      q: z.string().min(1).max(256).optional(),
      agent: z.string().min(1).max(64).optional(),
      limit: Limit,
      order: z.enum(["asc", "desc"]).default("desc"),
      cursor: PageCursorText,
    }),
    answers: { 200: { description: "A page.", schema: pageOf(ConversationSummary), example: EXAMPLES.conversations } },
    handle: ({ context, trace, query: { q, agent, limit, order, cursor } }, edge) =>
      sealedPage(edge, trace, {
        binding: ["conversations", context.tenantId, context.userId, order, q ?? "", agent ?? ""],
        cursor,
        read: (after) =>
          history.list(context.tenantId, context.userId, {
            limit,
            order,
            ...(q === undefined ? {} : { q }),
            ...(agent === undefined ? {} : { agent }),
            ...(after === undefined ? {} : { after }),
          }),
      }),
  }),
  userRoute({
    ...common,
    path: "/v1/confirmations",
    summary: "All that I may decide or resolve, over all conversations, newest first.",
    scope: SCOPES.confirmationsDecide,
    query: z.object({ limit: Limit, order: z.literal("desc").optional(), cursor: PageCursorText }),
    answers: { 200: { description: "A page.", schema: pageOf(InboxItem), example: EXAMPLES.confirmations } },
    handle: ({ context, trace, query: { limit, cursor } }, edge) =>
      sealedPage(edge, trace, {
        binding: ["confirmations", context.tenantId, context.userId],
        cursor,
        read: (after) => {
          const page = { now: edge.now(), limit, ...(after === undefined ? {} : { after }) };
          return history.confirmations(principalOf(context), page);
        },
      }),
  }),
];

interface SealedList<T> {
  readonly binding: readonly string[];
  readonly cursor: string | undefined;
  readonly read: (after: string | undefined) => Promise<Result<Page<T>>>;
}

async function sealedPage<T>(edge: EdgeServices, trace: Trace, list: SealedList<T>): Promise<Answered> {
  const { binding, cursor } = list;
  const after = cursor === undefined ? null : await edge.cursors.open(cursor, binding);
  if (after?.ok === false) return after;
  try {
    const page = await list.read(after?.value);
    if (!page.ok) return page;
    const { data, nextCursor } = page.value;
    return ok(200, { data, nextCursor: nextCursor === null ? null : await edge.cursors.seal(nextCursor, binding) });
  } catch (error) {
    edge.log.error("history_unreadable", error, { requestId: trace.requestId });
    const detail = "Lists cannot be read now; conversations themselves can.";
    return { ok: false, rejection: reject("history_unavailable", detail, { retryAfterMs: 5_000 }) };
  }
}
