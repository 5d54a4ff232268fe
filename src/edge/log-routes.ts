/** What a conversation holds, read in pages: messages and runs. */
import * as z from "zod";
import { Message } from "../protocol/message.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import type { Page } from "../protocol/rpc.ts";
import { Run } from "../protocol/run.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath, pageOf } from "./paths.ts";
import type { Actor } from "./ports.ts";
import { Limit, PageCursorText } from "./query.ts";
import { NO_BODY, ok, userRoute, type Answered, type EdgeServices, type Route } from "./route.ts";

const common = {
  method: "GET",
  scope: SCOPES.conversationsRead,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
  problems: ["not_found", "gone", "cursor_invalid"],
} as const;

export const LOG_ROUTES: readonly Route[] = [
  userRoute({
    ...common,
    path: "/v1/conversations/:id/messages",
    summary: "What people read, oldest first.",
    params: ConversationPath,
    query: z.object({ limit: Limit, order: z.enum(["asc", "desc"]).default("asc"), cursor: PageCursorText }),
    answers: { 200: { description: "A page.", schema: pageOf(Message) } },
    handle: ({ context, params: { id }, query: { limit, order, cursor } }, edge) =>
      pageByNumber(edge, context, {
        conversationId: id,
        list: `messages:${order}`,
        cursor,
        // Descending pages go down from the end, which is beyond every number.
        first: order === "asc" ? 0 : Number.MAX_SAFE_INTEGER,
        ask: (actor, after) => actor.messages(context, id, { after, limit, order }),
      }),
  }),
  userRoute({
    ...common,
    path: "/v1/conversations/:id/runs",
    summary: "Runs, newest first.",
    params: ConversationPath,
    query: z.object({ limit: Limit, order: z.literal("desc").optional(), cursor: PageCursorText }),
    answers: { 200: { description: "A page.", schema: pageOf(Run) } },
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
  const asked = { context, conversationId, repeatable: true };
  const page = await callActor(edge, { ...asked, ask: (actor) => list.ask(actor, position) });
  if (!page.ok) return page;
  const { data, nextCursor } = page.value;
  return ok(200, { data, nextCursor: nextCursor === null ? null : await edge.cursors.seal(nextCursor, binding) });
}
