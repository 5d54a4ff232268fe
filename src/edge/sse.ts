/** The answer of a route that streams: the caller's cursor, the actor's socket, the response around it. */
import { Cursor } from "../protocol/cursor.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { openSocket, type Watching } from "./actor-socket.ts";
import { EVENT_STREAM, eventStream, PACE } from "./event-stream.ts";
import type { StreamFilter } from "./frame-encoder.ts";
import type { Answered, EdgeServices } from "./route.ts";

/** `Last-Event-ID`, which a client that comes back sends by itself, wins over `after`. */
export function cursorOf(request: Request, after?: string): Result<string | undefined> {
  const header = request.headers.get("last-event-id");
  if (header === null || Cursor.safeParse(header).success) return { ok: true, value: header ?? after };
  const detail = "Last-Event-ID is not a cursor of this service.";
  return { ok: false, rejection: reject("cursor_invalid", detail) };
}

export interface Streaming extends Watching {
  readonly filter?: StreamFilter;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function answerStream(edge: EdgeServices, streaming: Streaming): Promise<Answered> {
  const { request, filter = {}, after } = streaming;
  const headers = { "content-type": EVENT_STREAM, "cache-control": "no-store, no-transform", ...streaming.headers };
  // HEAD is answered by this route too; a stream that nobody reads would hold its socket for ever.
  if (request.method === "HEAD") return { ok: true, value: { response: new Response(null, { headers }) } };
  const socket = await openSocket(edge, streaming);
  if (!socket.ok) return socket;
  const from = after === undefined ? { ...filter, fromHead: true } : filter;
  const body = eventStream(socket.value, from, { ...PACE, now: edge.now });
  return { ok: true, value: { response: new Response(body, { headers }) } };
}

/** Nothing will ever come: what makes an `EventSource` stop coming back. */
export const NOTHING_MORE: Answered = { ok: true, value: { status: 204, body: null } };
