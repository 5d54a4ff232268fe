/**
 * Spans of model requests and tool calls, by the names of OpenTelemetry's GenAI conventions (1.41). They carry names, ids,
 * figures and codes; never a message, an argument or a result.
 */
import type { ModelResult, ToolAnswer } from "../run/inputs.ts";
import type { ModelEffect, ToolEffect } from "../run/outstanding.ts";
import type { State } from "../run/state.ts";

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  set(attributes: Attributes): void;
  /** @param code one of our codes, or a gateway's */
  fail(code: string): void;
}

/** The platform's tracing, or none. */
export interface Spans {
  /** The span is the active one while `run` is under way, and ends with it. */
  within<T>(name: string, attributes: Attributes, run: (span: Span) => Promise<T>): Promise<T>;
}

const NO_SPAN: Span = { set: () => undefined, fail: () => undefined };
export const NO_SPANS: Spans = { within: (_name, _attributes, run) => run(NO_SPAN) };

const of = ({ identity }: State, run: { readonly id: string }): Attributes => ({
  "gen_ai.agent.name": identity?.agent,
  "gen_ai.conversation.id": identity?.conversationId,
  "holdpoint.tenant.id": identity?.tenantId,
  "holdpoint.run.id": run.id,
});

export const chat = (state: State, { run, attempt, id }: ModelEffect, model: string): [string, Attributes] => [
  `chat ${model}`,
  {
    "gen_ai.operation.name": "chat",
    // Whoever answers speaks OpenAI's protocol; the address tells who it is.
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": model,
    "gen_ai.request.stream": true,
    ...of(state, run),
    "holdpoint.step": id,
    "holdpoint.attempt": attempt,
  },
];

export function chatEnded(span: Span, result: ModelResult): void {
  if (result.kind === "no_budget") return span.fail("no_budget");
  const { usage, timing } = result;
  const first = timing?.firstByteMs ?? null;
  span.set({
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
    "gen_ai.response.time_to_first_chunk": first === null ? undefined : first / 1_000,
    "gen_ai.response.finish_reasons": "finishReason" in result ? (result.finishReason ?? undefined) : undefined,
    "holdpoint.cost.micro_usd": usage.costMicroUsd ?? undefined,
    "holdpoint.usage.estimated": usage.estimated,
  });
  if (result.kind === "aborted") span.fail("aborted");
  if (result.kind !== "failed") return;
  const { provider } = result.stop;
  span.set({ "http.response.status_code": provider?.status, "holdpoint.provider.code": provider?.code });
  span.fail(result.stop.code);
}

export const executeTool = (state: State, { call, run, attempt, mode }: ToolEffect): [string, Attributes] => [
  `execute_tool ${call.tool}`,
  {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": call.tool,
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": call.id,
    ...of(state, run),
    "holdpoint.effect": call.effect,
    "holdpoint.mode": mode,
    "holdpoint.attempt": attempt,
  },
];

export function toolEnded(span: Span, answer: ToolAnswer): void {
  if (answer.kind === "ok" || answer.kind === "absent") return;
  const { error } = answer.payload;
  span.set({ "holdpoint.outcome": answer.kind, "http.response.status_code": error?.http?.status });
  span.fail(error?.code ?? answer.kind);
}
