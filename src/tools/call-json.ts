/**
 * One request to a backend that speaks JSON, and what its answer proves. Whatever leaves it open whether the other side
 * acted (no answer, a 5xx, 408, 425 or 429, a cut, unreadable or overlong body) is thrown as `AmbiguousOutcome`; what returns is
 * a whole answer that the other side gave on purpose. Follows no redirect: a repeated POST would be a second act.
 */
import { AmbiguousOutcome, type ToolFailure } from "./outcome.ts";

export interface JsonCall {
  readonly fetch: typeof fetch;
  readonly url: string | URL;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Of 425, 429 and 503: what this backend says only of a request on which it has not acted. */
  readonly beforeActing?: readonly number[];
}

export interface JsonAnswer {
  readonly status: number;
  /** Undefined: an empty body. */
  readonly body: unknown;
  readonly text: string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Rejects with the abort's reason once `signal` is aborted, else only with `AmbiguousOutcome`. */
export async function callJson(call: JsonCall): Promise<JsonAnswer> {
  const { status, text } = await exchange(call);
  const body = parse(text);
  if (leavesOpen(status) && !call.beforeActing?.includes(status)) {
    throw new AmbiguousOutcome({
      code: codeOf(body) ?? "GATEWAY_UNAVAILABLE",
      message: `The backend failed (HTTP ${status}).`,
      retryable: true,
      layer: "gateway",
      http: { status, body: text },
    });
  }
  if (body === BROKEN) throw badResponse(`The backend's answer (HTTP ${status}) was no JSON.`, { status, body: text });
  return { status, body, text };
}

/**
 * A 408 is the time-out of somebody on the way, who may have passed the request on. "Too early" and "too many requests"
 * ask for the same request again; where a gateway says so for a backend behind it, that may have acted.
 */
const leavesOpen = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

/** The backend answered, and not as agreed: it may have acted all the same. */
export const badResponse = (message: string, http?: ToolFailure["http"]): AmbiguousOutcome =>
  new AmbiguousOutcome({
    code: "GATEWAY_BAD_RESPONSE",
    message,
    retryable: true,
    layer: "gateway",
    ...(http === undefined ? {} : { http }),
  });

/** A backend's own code, passed on verbatim where it is one. */
export function codeOf(body: unknown): string | null {
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" && /^[\w.:-]{1,64}$/.test(code) ? code : null;
}

async function exchange({ fetch, url, method, headers, body, signal }: JsonCall) {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "manual",
      signal,
    });
    return { status: response.status, text: await textOf(response) };
  } catch (error) {
    if (error instanceof AmbiguousOutcome || signal.aborted) throw error;
    throw new AmbiguousOutcome(
      {
        code: "GATEWAY_UNAVAILABLE",
        message: "The backend gave no complete answer.",
        retryable: true,
        layer: "transport",
      },
      error,
    );
  }
}

async function textOf(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BYTES) {
      // Not awaited: the backend may take its time, and what is said of it does not depend on that.
      reader.cancel().catch(() => undefined);
      throw badResponse("The backend's answer was too long.", { status: response.status });
    }
    text += decoder.decode(value, { stream: true });
  }
}

const BROKEN = Symbol("no JSON");

function parse(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return BROKEN;
  }
}
