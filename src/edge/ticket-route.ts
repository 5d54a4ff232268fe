/** Asking for a ticket: by a signed-in user, for a conversation that this user may read. */
import * as z from "zod";
import { SCOPES } from "../protocol/roles.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath } from "./paths.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NONE, ok, userRoute, type Route } from "./route.ts";

export const TICKET_ROUTE: Route = userRoute({
  method: "POST",
  path: "/v1/conversations/:id/tickets",
  summary: "A ticket for one socket of a browser: good once, for half a minute, for the page's own origin.",
  scope: SCOPES.conversationsRead,
  params: ConversationPath,
  query: NONE,
  body: z.strictObject({}),
  bodyUse: "optional",
  bodyExample: EXAMPLES.nothing,
  // A ticket is made anew each time, whatever the key: making one changes nothing, and an old one is worth nothing.
  key: "accepted",
  answers: {
    201: {
      description: "The ticket.",
      schema: z.object({ ticket: z.string(), expiresAt: z.string() }),
      example: EXAMPLES.ticket,
    },
  },
  problems: ["not_found", "gone", "payload_too_large"],
  handle: async ({ request, context, params: { id } }, edge) => {
    const asked = { context, conversationId: id, repeatable: true };
    const visible = await callActor(edge, { ...asked, ask: (actor) => actor.snapshot(context, id) });
    if (!visible.ok) return visible;
    const origin = request.headers.get("origin");
    const made = await edge.tickets.make(context, { conversationId: id, origin, now: edge.now() });
    if (!made.ok) return made;
    const { ticket, expiresAt } = made.value;
    return ok(201, { ticket, expiresAt: new Date(expiresAt).toISOString() });
  },
});
