/**
 * The rehearsal model: a scripted, OpenAI-compatible `fetch`. Without a key the whole production path runs on it (the
 * package, the reader, the decoder, the usage, the errors), and nothing leaves the isolate.
 *
 * It is a script and says so. It must not know more than a model would: it answers from the transcript alone. Strict as
 * a real provider, and deterministic: the same request gives the same bytes.
 */
import { checkRequest } from "./check-request.ts";
import { readFault, type Fault } from "./faults.ts";
import { isObject } from "./json.ts";
import { playStream } from "./play.ts";
import { renderStream, renderWhole } from "./render.ts";
import { chooseMove } from "./scripts/choose-move.ts";
import { readTurn } from "./turn.ts";

export const REHEARSAL_MODEL = "rehearsal-1";

export interface RehearsalOptions {
  /** Milliseconds between chunks: about 15 for people, 0 for tests. */
  readonly pace?: number;
  /** Whether `[[fault:…]]` in a user's text is obeyed: in development only. */
  readonly faults?: boolean;
}

/** What takes its time takes this many delays. */
const SLOW = 8;
const SSE = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

export function rehearsalFetch({ pace = 0, faults = false }: RehearsalOptions = {}): typeof fetch {
  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const signal = init?.signal ?? request.signal;
    signal?.throwIfAborted();
    const route = `${request.method} ${new URL(request.url).pathname}`;
    if (route.endsWith("GET /v1/models")) return Response.json({ object: "list", data: [MODEL] });
    if (!route.startsWith("POST ") || !route.endsWith("/chat/completions")) {
      return problem(404, "not_found", "There is no such route.");
    }
    const text = await request.text();
    signal?.throwIfAborted();
    const checked = checkRequest(text, REHEARSAL_MODEL);
    if (!checked.ok) return problem(checked.status, checked.code, checked.message, checked.param);

    const { body } = checked;
    const turn = readTurn(body);
    const { said, fault } = faults ? readFault(turn.said, turn.rounds.length) : { said: turn.said, fault: null };
    if (fault === "429" || fault === "500") return refusal(fault);
    const move = chooseMove({ ...turn, said });
    const options = isObject(body["stream_options"]) ? body["stream_options"] : {};
    const rendering = { model: REHEARSAL_MODEL, request: text, includeUsage: options["include_usage"] === true, fault };
    if (body["stream"] !== true) return Response.json(renderWhole(move, rendering));
    const silent = fault === "silent";
    const chunks = silent ? [] : renderStream(move, rendering);
    const delayMs = move.slow ? pace * SLOW : pace;
    return new Response(playStream(chunks, { delayMs, signal: signal ?? undefined, silent }), { headers: SSE });
  };
}

const MODEL = { id: REHEARSAL_MODEL, object: "model", created: 0, owned_by: "holdpoint (scripted)" };

function refusal(fault: Extract<Fault, "429" | "500">): Response {
  if (fault === "500") return problem(500, "server_error", "The rehearsal was told to fail.");
  const response = problem(429, "rate_limit_exceeded", "The rehearsal was told to be busy.");
  response.headers.set("retry-after", "3");
  return response;
}

function problem(status: number, code: string, message: string, param: string | null = null): Response {
  const type = status >= 500 ? "server_error" : status === 429 ? "rate_limit_error" : "invalid_request_error";
  return Response.json({ error: { message, type, param, code } }, { status });
}
