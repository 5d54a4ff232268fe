/** The lab's backend: what its tools call, and what its answers prove. */
import type * as z from "zod";
import { badResponse, callJson, codeOf, type JsonAnswer } from "../../tools/call-json.ts";
import type { ToolContext } from "../../tools/define-tool.ts";
import { ok, refused, type ToolOutcome } from "../../tools/outcome.ts";

export interface LabDeps {
  readonly fetch: typeof fetch;
  readonly url: string;
}

export interface LabCall {
  readonly ctx: Pick<ToolContext, "userId">;
  readonly deps: LabDeps;
  readonly signal: AbortSignal;
  /** Of a side effect only. */
  readonly idempotencyKey?: string;
}

export async function ask(method: "GET" | "POST", path: string, call: LabCall, body?: unknown): Promise<JsonAnswer> {
  const { ctx, deps, signal, idempotencyKey } = call;
  return callJson({
    fetch: deps.fetch,
    url: new URL(path, deps.url),
    method,
    headers: {
      "x-user-id": headerText(ctx.userId),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    body,
    signal,
  });
}

/** A header carries Latin-1 at most; a user id may be any text. */
const headerText = (text: string): string => (/^[\x21-\x7e]+$/.test(text) ? text : encodeURIComponent(text));

/** An answer as it was agreed, or the other side's refusal; anything else proves nothing. */
export function outcomeOf<S extends z.ZodType>(schema: S, { status, body, text }: JsonAnswer): ToolOutcome<z.infer<S>> {
  const http = { status, body: text };
  if (status >= 300) {
    const code = codeOf(body) ?? `HTTP_${status}`;
    const layer = code.startsWith("GATEWAY_") ? "gateway" : "tool";
    const message = `The backend refused (HTTP ${status}).`;
    return refused(code, message, { layer, http });
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return ok(parsed.data);
  throw badResponse("The backend's answer was not what was agreed.", http);
}
