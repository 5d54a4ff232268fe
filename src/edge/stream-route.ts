/**
 * The door to a conversation's socket. Everything about the caller is checked here, before the object is woken; the
 * object gets a request made anew, with the verified context and nothing that the client sent.
 */
import * as z from "zod";
import { Cursor } from "../protocol/cursor.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { Problem, reject, type Rejection } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { CONTEXT_HEADER } from "../protocol/rpc.ts";
import { SUBPROTOCOL } from "../protocol/version.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath } from "./paths.ts";
import { INTERNAL } from "./problems.ts";
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
  answers: { 101: { description: "The socket.", schema: null } },
  problems: ["not_found", "gone", "not_acceptable", "cursor_invalid", "origin_forbidden", "too_many_sockets"],
  handle: async ({ request, context, params: { id }, query: { after } }, edge) => {
    const refused = checkHandshake(request);
    if (refused) return { ok: false, rejection: refused };
    return callActor(edge, {
      context,
      conversationId: id,
      // Nothing has happened yet where a handshake fails.
      repeatable: true,
      ask: async (actor) => {
        const answer = await actor.fetch(handshake(context, id, after));
        // The object chose the subprotocol; nothing else that it says goes to the client.
        if (answer.status === 101) {
          const { webSocket } = answer;
          const headers = { "sec-websocket-protocol": SUBPROTOCOL };
          return { ok: true, value: { response: new Response(null, { status: 101, webSocket, headers }) } };
        }
        return { ok: false, rejection: await rejectionOf(answer) };
      },
    });
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

function handshake(context: RequestContext, conversationId: string, after: string | undefined): Request {
  const url = new URL("https://conversation/stream");
  url.searchParams.set("conversation", conversationId);
  if (after !== undefined) url.searchParams.set("after", after);
  // The request's deadline is not the socket's.
  const { deadlineAt: _, ...lasting } = context;
  return new Request(url, { headers: { upgrade: "websocket", [CONTEXT_HEADER]: headerJson(lasting) } });
}

/** JSON in the bytes that a header may have: a name in Chinese would be refused as it is. */
const headerJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The object refuses with a problem, as everybody here does. */
async function rejectionOf(answer: Response): Promise<Rejection> {
  const text = await answer.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return INTERNAL;
  }
  const problem = Problem.safeParse(body);
  if (!problem.success) return INTERNAL;
  const { code, detail, retryAfterMs } = problem.data;
  return reject(code, detail, retryAfterMs === undefined ? {} : { retryAfterMs });
}
