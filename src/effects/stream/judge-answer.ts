/**
 * What a decoded answer means for the run: the order of "Model ends" in the design, as one pure function.
 *
 * It must not look at what the calls ask for (that is preparation) and it retries nothing. Invariant: an answer that is
 * incomplete, failed, filtered or cut never becomes a plan, whatever calls it holds.
 */
import { classifyFailure, modelStop, type ModelStop } from "./classify-failure.ts";
import type { DecodedAnswer, DecodedToolCall, DecodedUsage } from "./decoded-answer.ts";
import type { ModelStopCode } from "./vendor-codes.ts";

/** `text` is what was shown of the answer, in every case; `usage` is null where the provider sent none. */
export type AnswerVerdict = { readonly text: string; readonly usage: DecodedUsage | null } & (
  | { readonly kind: "plan"; readonly calls: readonly DecodedToolCall[] }
  | { readonly kind: "final" }
  /** The token limit was hit in a batch of calls: none of them may run, complete or not. */
  | { readonly kind: "truncated_calls"; readonly calls: readonly DecodedToolCall[] }
  | { readonly kind: "truncated_text" }
  /** `detail`: the model's own words of refusal, or the finish reason of the filter. */
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "empty" }
  | { readonly kind: "failed"; readonly stop: ModelStop }
);

/** OpenAI; Zhipu; Google. */
const FILTERED: ReadonlySet<string> = new Set(["content_filter", "sensitive", "safety"]);
/** OpenAI; Mistral; Anthropic's compatible endpoint. */
const CUT: ReadonlySet<string> = new Set(["length", "model_length", "max_tokens"]);
/** Labels that promise calls. */
const CALLS: ReadonlySet<string> = new Set(["tool_calls", "function_call", "tool_use"]);
/** Labels of an end that is a failure although no error object was sent. */
const FAILED: ReadonlyMap<string, ModelStopCode> = new Map([
  ["error", "model_error"], // OpenRouter
  ["abort", "model_error"], // vLLM, SGLang
  ["network_error", "model_error"], // Zhipu
  ["insufficient_system_resource", "model_overloaded"], // DeepSeek
  ["model_context_window_exceeded", "context_too_long"], // Zhipu
]);

export function judgeAnswer(answer: DecodedAnswer): AnswerVerdict {
  const { text, usage, toolCalls: calls, finishReason, failure } = answer;
  const shown = { text, usage };
  if (failure !== null) return { ...shown, kind: "failed", stop: classifyFailure(failure) };
  if (finishReason === null) {
    const stop = modelStop("model_protocol_error", "The model provider's answer broke off: it has no finish reason.");
    return { ...shown, kind: "failed", stop };
  }
  const label = finishReason.toLowerCase();
  const failed = FAILED.get(label);
  if (failed !== undefined) return { ...shown, kind: "failed", stop: modelStop(failed) };

  if (FILTERED.has(label) || answer.refusal !== "") {
    return { ...shown, kind: "refused", detail: answer.refusal || finishReason };
  }
  if (CUT.has(label) && calls.length > 0) return { ...shown, kind: "truncated_calls", calls };
  if (calls.length > 0) return { ...shown, kind: "plan", calls };
  const isEmpty = text.trim() === "" || CALLS.has(label);
  if (isEmpty) return { ...shown, kind: "empty" };
  return { ...shown, kind: CUT.has(label) ? "truncated_text" : "final" };
}
