/** What stands in a conversation's log, read in pages: messages, events, runs. */
import * as z from "zod";
import { Cursor } from "../protocol/cursor.ts";
import { EventEnvelope } from "../protocol/events.ts";
import { conversationOf } from "../protocol/ids.ts";
import { Message } from "../protocol/message.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { renderMessage } from "../protocol/render-message.ts";
import type { EventQuery, Page } from "../protocol/rpc.ts";
import { Run } from "../protocol/run.ts";
import { callActor } from "./call-actor.ts";
import { langFor } from "./language.ts";
import { ConversationPath, pageOf, RunPath } from "./paths.ts";
import type { Actor } from "./ports.ts";
import { Limit, PageCursorText } from "./query.ts";
import { NO_BODY, ok, userRoute, type Answered, type EdgeServices, type Route } from "./route.ts";

const EventsQuery = z.object({ after: Cursor.optional(), limit: Limit });
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
    handle: ({ request, context, params: { id }, query: { limit, order, cursor } }, edge) =>
      pageByNumber(edge, context, {
        conversationId: id,
        list: `messages:${order}`,
        cursor,
        // Descending pages go down from the end, which is beyond every number.
        first: order === "asc" ? 0 : Number.MAX_SAFE_INTEGER,
        ask: (actor, after) => actor.messages(context, id, { after, limit, order }),
        show: (message) => renderMessage(message, langFor(request, context.locale)),
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
  userRoute({
    ...common,
    path: "/v1/conversations/:id/events",
    summary: "The durable events after a cursor, oldest first.",
    params: ConversationPath,
    query: EventsQuery,
    answers: { 200: { description: "A page; nextCursor goes into after.", schema: pageOf(EventEnvelope) } },
    handle: async ({ context, params: { id }, query }, edge) => {
      const page = await readEvents(edge, context, id, eventQuery(query));
      return page.ok ? ok(200, page.value) : page;
    },
  }),
  userRoute({
    ...common,
    path: "/v1/runs/:id/events",
    summary: "The events of one run: a filter of its conversation's.",
    params: RunPath,
    query: EventsQuery,
    answers: { 200: { description: "A page; nextCursor goes into after.", schema: pageOf(EventEnvelope) } },
    handle: async ({ context, params: { id }, query }, edge) => {
      const conversationId = conversationOf(id);
      const page = await readEvents(edge, context, conversationId, { ...eventQuery(query), runId: id });
      if (!page.ok) return page;
      if (page.value.data.length > 0) return ok(200, page.value);
      // Nothing new, or no such run? An empty page must not stand for a run that is not there.
      const asked = { context, conversationId, repeatable: true };
      const run = await callActor(edge, { ...asked, ask: (actor) => actor.run(context, id) });
      return run.ok ? ok(200, page.value) : run;
    },
  }),
];

const eventQuery = ({ after, limit }: z.infer<typeof EventsQuery>): EventQuery => ({
  limit,
  ...(after === undefined ? {} : { after }),
});

const readEvents = (edge: EdgeServices, context: RequestContext, conversationId: string, query: EventQuery) =>
  callActor(edge, {
    context,
    conversationId,
    repeatable: true,
    ask: (actor) => actor.events(context, conversationId, query),
  });

interface NumberedList<T> {
  readonly conversationId: string;
  readonly list: string;
  readonly cursor: string | undefined;
  readonly first: number;
  readonly ask: (actor: Actor, position: number) => Promise<Result<Page<T>>>;
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
  const asked = { context, conversationId, repeatable: true };
  const page = await callActor(edge, { ...asked, ask: (actor) => list.ask(actor, position) });
  if (!page.ok) return page;
  const { nextCursor } = page.value;
  const data = list.show ? page.value.data.map(list.show) : page.value.data;
  return ok(200, { data, nextCursor: nextCursor === null ? null : await edge.cursors.seal(nextCursor, binding) });
}
