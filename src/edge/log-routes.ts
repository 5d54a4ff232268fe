/**
 * What a conversation holds, read in pages: messages and runs. The actor answers; while it cannot, the history does for
 * messages, and says that it may lag.
 */
import * as z from "zod";
import { Message } from "../protocol/message.ts";
import { principalOf, type RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { renderMessage } from "../protocol/render-message.ts";
import type { MessageQuery, Page } from "../protocol/rpc.ts";
import { Run } from "../protocol/run.ts";
import { callActor } from "./call-actor.ts";
import { langFor } from "./language.ts";
import { ConversationPath, pageOf } from "./paths.ts";
import type { Actor, StalePage } from "./ports.ts";
import { Limit, PageCursorText } from "./query.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, ok, userRoute, type Answered, type EdgeServices, type Route } from "./route.ts";

const common = {
  method: "GET",
  scope: SCOPES.conversationsRead,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
  problems: ["not_found", "gone", "cursor_invalid"],
} as const;

const MessagePage = pageOf(Message).extend({
  stale: z.literal(true).optional(),
  asOfSeq: z.int().nonnegative().optional(),
});

export const LOG_ROUTES: readonly Route[] = [
  userRoute({
    ...common,
    path: "/v1/conversations/:id/messages",
    summary: "What people read, oldest first.",
    params: ConversationPath,
    query: z.object({ limit: Limit, order: z.enum(["asc", "desc"]).default("asc"), cursor: PageCursorText }),
    answers: {
      200: {
        description: "A page. stale: from the history, up to asOfSeq.",
        schema: MessagePage,
        example: EXAMPLES.messages,
      },
    },
    handle: ({ request, context, params: { id }, query: { limit, order, cursor } }, edge) =>
      pageByNumber(edge, context, {
        conversationId: id,
        list: `messages:${order}`,
        cursor,
        // Descending pages go down from the end, which is beyond every number.
        first: order === "asc" ? 0 : Number.MAX_SAFE_INTEGER,
        ask: (actor, after) => actor.messages(context, id, { after, limit, order }),
        otherwise: (after) => staleMessages(edge, context, id, { after, limit, order }),
        show: (message) => renderMessage(message, langFor(request, context.locale)),
      }),
  }),
  userRoute({
    ...common,
    path: "/v1/conversations/:id/runs",
    summary: "Runs, newest first.",
    params: ConversationPath,
    query: z.object({ limit: Limit, order: z.literal("desc").optional(), cursor: PageCursorText }),
    answers: { 200: { description: "A page.", schema: pageOf(Run), example: EXAMPLES.runs } },
    handle: ({ context, params: { id }, query: { limit, cursor } }, edge) =>
      pageByNumber(edge, context, {
        conversationId: id,
        list: "runs",
        cursor,
        first: Number.MAX_SAFE_INTEGER,
        ask: (actor, before) => actor.runs(context, id, { before, limit }),
      }),
  }),
];

interface NumberedList<T> {
  readonly conversationId: string;
  readonly list: string;
  readonly cursor: string | undefined;
  readonly first: number;
  readonly ask: (actor: Actor, position: number) => Promise<Result<Page<T>>>;
  /** While the actor cannot answer; null: nothing is known here either. */
  readonly otherwise?: (position: number) => Promise<StalePage<T> | null>;
  /** For this reader; absent: as it is. */
  readonly show?: (row: T) => T;
}

/** The actor pages by number; outside, the number travels sealed. */
async function pageByNumber<T>(edge: EdgeServices, context: RequestContext, list: NumberedList<T>): Promise<Answered> {
  const { conversationId, cursor } = list;
  const binding = [list.list, context.tenantId, conversationId];
  let position = list.first;
  if (cursor !== undefined) {
    const opened = await edge.cursors.open(cursor, binding);
    if (!opened.ok) return opened;
    position = Number(opened.value);
    if (!Number.isSafeInteger(position)) {
      return { ok: false, rejection: reject("cursor_invalid", "The cursor is not one of this list.") };
    }
  }
  const shown = async ({ nextCursor, ...rest }: Page<T>) =>
    ok(200, {
      ...rest,
      data: list.show ? rest.data.map(list.show) : rest.data,
      nextCursor: nextCursor === null ? null : await edge.cursors.seal(nextCursor, binding),
    });
  const asked = { context, conversationId, repeatable: true };
  const page = await callActor(edge, { ...asked, ask: (actor) => list.ask(actor, position) });
  if (page.ok) return shown(page.value);
  const known = page.rejection.code === "overloaded" ? await list.otherwise?.(position) : null;
  return known ? shown(known) : page;
}

/** null: the history cannot be read either, and the actor's own refusal stands. */
async function staleMessages(
  edge: EdgeServices,
  context: RequestContext,
  conversationId: string,
  query: MessageQuery,
): Promise<StalePage<Message> | null> {
  try {
    return (await edge.history?.messages(principalOf(context), conversationId, query)) ?? null;
  } catch (error) {
    edge.log.error("history_unreadable", error, { requestId: context.requestId });
    return null;
  }
}
