/**
 * What the codes of the vendors mean, as data. Each table is one code space: a number of one is never looked up in
 * another, and never compared with an HTTP status (1008 is "no credit", not "a server error because it is over 500").
 *
 * Generic words (`invalid_request_error`, `server_error`, `api_error`) are absent on purpose: with them the HTTP status
 * says more. Sources are the vendors' public error pages as of 2026-11, or observations where it says so.
 */
import type { StopCode } from "../../protocol/stops.ts";

export type ModelStopCode = Extract<
  StopCode,
  | "model_error"
  | "model_rate_limited"
  | "model_overloaded"
  | "model_timeout"
  | "model_protocol_error"
  | "model_unauthorized"
  | "model_quota"
  | "model_refused"
  | "context_too_long"
>;

/** Words in `error.code`, `error.type` or `error.status`, in lower case. */
export const ERROR_WORDS: ReadonlyMap<string, ModelStopCode> = new Map([
  // OpenAI, https://platform.openai.com/docs/guides/error-codes, and whoever copies its words
  ["rate_limit_exceeded", "model_rate_limited"],
  ["rate_limit_error", "model_rate_limited"],
  ["slow_down", "model_overloaded"],
  ["server_is_overloaded", "model_overloaded"],
  ["service_unavailable_error", "model_overloaded"],
  ["insufficient_quota", "model_quota"],
  ["credit_balance_exhausted", "model_quota"],
  ["billing_hard_limit_reached", "model_quota"],
  ["billing_not_active", "model_quota"],
  ["invalid_api_key", "model_unauthorized"],
  ["account_deactivated", "model_unauthorized"],
  ["context_length_exceeded", "context_too_long"],
  ["string_above_max_length", "context_too_long"],
  ["content_policy_violation", "model_refused"],
  ["content_filter", "model_refused"],
  // Anthropic, https://docs.claude.com/en/api/errors (its compatible endpoint and its resellers)
  ["overloaded_error", "model_overloaded"],
  ["authentication_error", "model_unauthorized"],
  ["permission_error", "model_unauthorized"],
  ["billing_error", "model_quota"],
  ["timeout_error", "model_timeout"],
  ["request_too_large", "context_too_long"],
  // OpenRouter, https://openrouter.ai/docs/api/errors
  ["provider_unavailable", "model_overloaded"],
  ["token_limit_exceeded", "context_too_long"],
  // Moonshot, https://platform.kimi.ai/docs/api/errors: three meanings of one HTTP status, 429
  ["rate_limit_reached_error", "model_rate_limited"],
  ["engine_overloaded_error", "model_overloaded"],
  ["exceeded_current_quota_error", "model_quota"],
  ["invalid_authentication_error", "model_unauthorized"],
  ["incorrect_api_key_error", "model_unauthorized"],
  ["permission_denied_error", "model_unauthorized"],
  // Alibaba Model Studio, https://help.aliyun.com/en/model-studio/error-code
  ["throttling", "model_rate_limited"],
  ["throttling.ratequota", "model_rate_limited"],
  ["throttling.burstrate", "model_rate_limited"],
  ["throttling.allocationquota", "model_rate_limited"],
  ["arrearage", "model_quota"],
  ["invalidapikey", "model_unauthorized"],
  ["accessdenied", "model_unauthorized"],
  ["data_inspection_failed", "model_refused"],
  ["datainspectionfailed", "model_refused"],
  // Google, https://ai.google.dev/gemini-api/docs/troubleshooting
  ["resource_exhausted", "model_rate_limited"],
  ["unavailable", "model_overloaded"],
  ["unauthenticated", "model_unauthorized"],
  ["permission_denied", "model_unauthorized"],
  ["deadline_exceeded", "model_timeout"],
  // llama.cpp (tools/server)
  ["exceed_context_size_error", "context_too_long"],
  ["unavailable_error", "model_overloaded"],
]);

/** `base_resp.status_code`, https://platform.minimax.io/docs/api-reference/errorcode */
export const MINIMAX_CODES: ReadonlyMap<number, ModelStopCode> = new Map([
  [1000, "model_error"],
  [1001, "model_timeout"],
  [1002, "model_rate_limited"], // requests a minute
  [1004, "model_unauthorized"],
  [1008, "model_quota"], // balance
  [1024, "model_error"],
  [1026, "model_refused"], // sensitive input
  [1027, "model_refused"], // sensitive output
  [1033, "model_error"], // a service behind
  [1039, "model_rate_limited"], // tokens a minute
  [1041, "model_rate_limited"], // connections
  [2045, "model_rate_limited"], // growth of the rate
  [2049, "model_unauthorized"],
  [2056, "model_quota"], // used up for this window of the plan
  [2061, "model_unauthorized"], // the plan does not have the model; not on the page, see MiniMax-AI/cli
  [2064, "model_overloaded"], // not on the page; observed ("cluster load is high")
]);

/** `error.code` in four digits, https://docs.bigmodel.cn/cn/api/api-code and https://docs.z.ai/api-reference/api-code */
export const ZHIPU_CODES: ReadonlyMap<number, ModelStopCode> = new Map([
  [1000, "model_unauthorized"],
  [1001, "model_unauthorized"],
  [1002, "model_unauthorized"],
  [1003, "model_unauthorized"],
  [1004, "model_unauthorized"],
  [1110, "model_unauthorized"],
  [1111, "model_unauthorized"],
  [1112, "model_unauthorized"],
  [1113, "model_quota"], // arrears
  [1121, "model_unauthorized"],
  [1220, "model_unauthorized"],
  [1261, "context_too_long"],
  [1301, "model_refused"],
  [1302, "model_rate_limited"], // concurrency
  [1303, "model_rate_limited"], // frequency
  [1304, "model_quota"], // calls of the day
  [1305, "model_rate_limited"],
  [1308, "model_quota"],
  [1309, "model_quota"], // the plan ran out
  [1310, "model_quota"],
  [1311, "model_unauthorized"], // the plan does not have the model
  [1312, "model_overloaded"],
  [1313, "model_rate_limited"], // fair use
]);

/**
 * The only place where wording counts. These servers answer a prompt that is too long with a generic code, and taking
 * it for a broken request would send the same prompt again.
 */
export const CONTEXT_TOO_LONG_WORDING: readonly RegExp[] = [
  /maximum context length/i, // vLLM, SGLang, Together, older OpenAI: 400 `BadRequestError` or `invalid_request_error`
  /exceeds? the (available )?context (size|window|length)/i, // llama.cpp of old, LM Studio
  /context window exceeds limit/i, // MiniMax, 2013 "invalid params"
  /exceeded model token limit|input token length too long/i, // Moonshot, `invalid_request_error`
  /range of input length should be/i, // Alibaba, `InvalidParameter`
  /maximum prompt length/i, // xAI
  /prompt is too long/i, // Anthropic, `invalid_request_error`
  /input token count .{0,60}exceeds the maximum/i, // Google, `INVALID_ARGUMENT`
];
