/** The durable events of a conversation or of one run: a page of them as JSON, or all that follow as a stream. */
import * as z from "zod";
import { Cursor } from "../protocol/cursor.ts";
import { EventEnvelope } from "../protocol/events.ts";
import { conversationOf } from "../protocol/ids.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { SCOPES } from "../protocol/roles.ts";
import type { EventQuery } from "../protocol/rpc.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath, pageOf, RunPath } from "./paths.ts";
import { Limit } from "./query.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, ok, userRoute, type EdgeServices, type Route } from "./route.ts";
import { answerStream, cursorOf, NOTHING_MORE } from "./sse.ts";

const EventsQuery = z.object({ after: Cursor.optional(), limit: Limit });
const common = {
  method: "GET",
  scope: SCOPES.conversationsRead,
  query: EventsQuery,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
  types: ["application/json", "text/event-stream"],
  problems: ["not_found", "gone", "cursor_invalid", "too_many_sockets"],
} as const;
const PAGE_OR_STREAM = {
  description: "A page, whose nextCursor goes into after; or the stream, from the cursor or from now on.",
  schema: pageOf(EventEnvelope),
  example: EXAMPLES.events,
  types: common.types,
} as const;

export const EVENT_ROUTES: readonly Route[] = [
  userRoute({
    ...common,
    path: "/v1/conversations/:id/events",
    summary:
      "The durable events after a cursor, oldest first; as a stream, with previews of text, for as long as it is read.",
    params: ConversationPath,
    answers: { 200: PAGE_OR_STREAM },
    handle: async ({ request, context, params: { id }, query, type }, edge) => {
      if (type === "text/event-stream") {
        const after = cursorOf(request, query.after);
        if (!after.ok) return after;
        return answerStream(edge, { request, context, conversationId: id, after: after.value });
      }
      const page = await readEvents(edge, context, id, eventQuery(query));
      return page.ok ? ok(200, page.value) : page;
    },
  }),
  userRoute({
    ...common,
    path: "/v1/runs/:id/events",
    summary: "The events of one run, a filter of its conversation's; as a stream, until the run has ended.",
    params: RunPath,
    answers: {
      200: PAGE_OR_STREAM,
      204: { description: "As a stream: the run has ended, and nothing follows the cursor.", schema: null },
    },
    handle: async ({ request, context, params: { id }, query, type }, edge) => {
      const conversationId = conversationOf(id);
      const asked = { context, conversationId, repeatable: true };
      const askRun = () => callActor(edge, { ...asked, ask: (actor) => actor.run(context, id) });
      if (type === "text/event-stream") {
        const after = cursorOf(request, query.after);
        if (!after.ok) return after;
        const run = await askRun();
        if (!run.ok) return run;
        if (run.value.stop !== undefined && !(await hasMore(edge, context, id, after.value))) return NOTHING_MORE;
        return answerStream(edge, { request, context, conversationId, after: after.value, filter: { runId: id } });
      }
      const page = await readEvents(edge, context, conversationId, { ...eventQuery(query), runId: id });
      if (!page.ok) return page;
      if (page.value.data.length > 0) return ok(200, page.value);
      // Nothing new, or no such run? An empty page must not stand for a run that is not there.
      const run = await askRun();
      return run.ok ? ok(200, page.value) : run;
    },
  }),
];

/** Whether a run that has ended still has something after the cursor. A cursor that cannot be read gets its `reset`. */
async function hasMore(edge: EdgeServices, context: RequestContext, runId: string, after: string | undefined) {
  if (after === undefined) return false;
  const page = await readEvents(edge, context, conversationOf(runId), { after, limit: 1, runId });
  return !page.ok || page.value.data.length > 0;
}

const eventQuery = ({ after, limit }: z.infer<typeof EventsQuery>): EventQuery => ({
  limit,
  ...(after === undefined ? {} : { after }),
});

export const readEvents = (edge: EdgeServices, context: RequestContext, conversationId: string, query: EventQuery) =>
  callActor(edge, {
    context,
    conversationId,
    repeatable: true,
    ask: (actor) => actor.events(context, conversationId, query),
  });
