/**
 * An actor's socket, opened for a caller who has been checked. The object gets a request made anew, with the verified
 * context and nothing that the client sent; what it refuses with becomes a refusal of ours.
 */
import type { RequestContext } from "../protocol/principal.ts";
import { handshakeUrl } from "./handshake.ts";
import { Problem, reject, type Rejection, type Result } from "../protocol/problems.ts";
import { CONTEXT_HEADER } from "../protocol/rpc.ts";
import { callActor } from "./call-actor.ts";
import type { EdgePorts } from "./ports.ts";
import { INTERNAL } from "./problems.ts";
import type { TicketUse } from "./tickets.ts";

export interface Watching {
  readonly context: RequestContext;
  readonly conversationId: string;
  /** A cursor; absent: from the head. */
  readonly after: string | undefined;
  /** The client's own request, for its origin. */
  readonly request: Request;
  readonly ticket?: TicketUse;
}

export function openSocket(ports: EdgePorts, watching: Watching): Promise<Result<WebSocket>> {
  const { context, conversationId } = watching;
  return callActor(ports, {
    context,
    conversationId,
    // Nothing has happened yet where a handshake fails.
    repeatable: true,
    ask: async (actor) => {
      const answer = await actor.fetch(handshake(watching));
      const { status, webSocket } = answer;
      if (status === 101 && webSocket) return { ok: true, value: webSocket };
      return { ok: false, rejection: await rejectionOf(answer) };
    },
  });
}

function handshake({ context, conversationId, after, request, ticket }: Watching): Request {
  const url = handshakeUrl({
    conversation: conversationId,
    after,
    origin: request.headers.get("origin") ?? undefined,
    nonce: ticket?.nonce,
    nonceUntil: ticket?.exp,
  });
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
