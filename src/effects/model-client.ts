/**
 * Sends one request to an OpenAI-compatible endpoint: exactly one, without repeats, redirects or a timeout of its own.
 * The answer is the raw body, because reading it is `model-reader.ts`; a refusal is a value with status and body.
 *
 * The body is a string that was encoded before, and must stay byte for byte what was digested: the package passes a
 * string on as it is when a content type is given.
 */
import OpenAI, { APIError } from "openai";

export type ModelResponse =
  | { readonly kind: "answer"; readonly body: ReadableStream<Uint8Array> | null }
  | { readonly kind: "refused"; readonly status: number; readonly body: string; readonly retryAfter: string | null };

export interface ModelClient {
  /** The model asked where a conversation names none. */
  readonly model: string;
  /** True for the rehearsal model: what it says is written, not thought, and is labelled so. */
  readonly scripted: boolean;
  /** @throws when there is no answer: no connection, or an abort */
  send(body: string, signal: AbortSignal): Promise<ModelResponse>;
}

export interface ModelVariables {
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_MODEL?: string | undefined;
}

const DEFAULT_MODEL = "gpt-5-mini";
const REHEARSAL_MODEL = "rehearsal-1";
/** Never reached: `.invalid` has no hosts, and the rehearsal takes every request of its client. */
const REHEARSAL_URL = "http://rehearsal.invalid/v1";
/** Enough for every error body; a proxy's HTML page may be longer and means nothing. */
const REFUSAL_BYTES = 64 * 1024;
/** The package's own timeout covers the headers only. It stands beyond our clocks, which count all of it. */
const PACKAGE_TIMEOUT_MS = 3_600_000;

/** A real model where a key or an address is set, else the rehearsal: through the same package, reader and decoder. */
export function modelClient(
  variables: ModelVariables,
  { fetch, rehearsal }: { readonly fetch: typeof globalThis.fetch; readonly rehearsal: typeof globalThis.fetch },
): ModelClient {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model } = variables;
  if (!apiKey && !baseURL) {
    const send = sender({ apiKey: undefined, baseURL: REHEARSAL_URL, fetch: rehearsal });
    return { model: REHEARSAL_MODEL, scripted: true, send };
  }
  return { model: model || DEFAULT_MODEL, scripted: false, send: sender({ apiKey, baseURL, fetch }) };
}

interface Endpoint {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

function sender({ apiKey, baseURL, fetch }: Endpoint): ModelClient["send"] {
  const openai = new OpenAI({
    apiKey: apiKey || "none",
    ...(baseURL ? { baseURL } : {}),
    // A local server without keys is not sent an invented one.
    ...(apiKey ? {} : { defaultHeaders: { authorization: null } }),
    maxRetries: 0,
    timeout: PACKAGE_TIMEOUT_MS,
    logLevel: "off",
    fetch: async (input, init) => {
      // Followed, a redirect would be a second request, and would bring the conversation to another host.
      const response = await fetch(input, { ...init, redirect: "manual" });
      return response.ok ? response : enveloped(response);
    },
  });
  return async (body, signal) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    try {
      const request = { body, headers, signal, stream: true } as const;
      const response = await openai.post("/chat/completions", request).asResponse();
      return { kind: "answer", body: response.body };
    } catch (error) {
      if (!(error instanceof APIError) || error.status === undefined) throw error;
      return {
        kind: "refused",
        status: error.status,
        body: error.error instanceof Object && "body" in error.error ? String(error.error.body) : "",
        retryAfter: error.headers ? waitIn(error.headers) : null,
      };
    }
  };
}

/**
 * An error response whose `error` member is the whole body: the package keeps only that member, and MiniMax, vLLM and
 * Google put theirs elsewhere. It also reads without bound, so the body is cut here.
 */
async function enveloped(response: Response): Promise<Response> {
  const body = await beginning(response.body);
  const headers = new Headers({ "content-type": "application/json" });
  const retryAfter = waitIn(response.headers);
  if (retryAfter !== null) headers.set("retry-after", retryAfter);
  // The constructor takes no status outside of these, and no body with 304; the status is told in any case.
  const status = response.status >= 400 && response.status < 600 ? response.status : 502;
  return new Response(JSON.stringify({ error: { body } }), { status, headers });
}

/** OpenAI and Azure also say it in milliseconds, which is then the more exact one. */
function waitIn(headers: Headers): string | null {
  const ms = headers.get("retry-after-ms")?.trim() ?? "";
  return /^\d{1,15}(\.\d{1,9})?$/.test(ms) ? String(Number(ms) / 1_000) : headers.get("retry-after");
}

async function beginning(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (let bytes = 0; bytes < REFUSAL_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // Cut: the status says enough.
  }
  void reader.cancel().catch(() => undefined);
  return text;
}
