/** The door to a conversation's socket. Everything about the caller is checked here, before the object is woken. */
import * as z from "zod";
import { Cursor } from "../protocol/cursor.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { SUBPROTOCOL } from "../protocol/version.ts";
import { openSocket } from "./actor-socket.ts";
import { ConversationPath } from "./paths.ts";
import { NO_BODY, userRoute, type Route } from "./route.ts";

export const STREAM_ROUTE: Route = userRoute({
  method: "GET",
  path: "/v1/conversations/:id/stream",
  summary: `WebSocket, subprotocol ${SUBPROTOCOL}: a snapshot, what came after the cursor, then what happens.`,
  scope: SCOPES.conversationsRead,
  params: ConversationPath,
  query: z.object({ after: Cursor.optional() }),
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
  takesTicket: true,
  answers: { 101: { description: "The socket.", schema: null } },
  problems: [
    "not_found",
    "gone",
    "not_acceptable",
    "cursor_invalid",
    "origin_forbidden",
    "too_many_sockets",
    "ticket_invalid",
  ],
  handle: async ({ request, context, params: { id }, query: { after }, ticket }, edge) => {
    const refused = checkHandshake(request);
    if (refused) return { ok: false, rejection: refused };
    const socket = await openSocket(edge, {
      request,
      context,
      conversationId: id,
      after,
      ...(ticket ? { ticket } : {}),
    });
    if (!socket.ok) return socket;
    // The object chose the subprotocol; nothing else that it says goes to the client.
    const headers = { "sec-websocket-protocol": SUBPROTOCOL };
    return { ok: true, value: { response: new Response(null, { status: 101, webSocket: socket.value, headers }) } };
  },
});

function checkHandshake({ method, headers }: Request): Rejection | null {
  if (method !== "GET" || headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return reject("not_acceptable", "This path is a WebSocket: send Upgrade: websocket.");
  }
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  if (offered.includes(SUBPROTOCOL)) return null;
  return reject("invalid_request", `Offer the subprotocol ${SUBPROTOCOL}.`, {
    errors: [{ pointer: "/Sec-WebSocket-Protocol", detail: `must offer ${SUBPROTOCOL}` }],
  });
}
