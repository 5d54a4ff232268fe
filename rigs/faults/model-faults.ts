/** What goes wrong upstream: refusals, vendors' codes, streams that break, and silence. */
import type { StopCode } from "../../src/protocol/stops.ts";
import type { Answer } from "../../test/support/answer-script.ts";
import type { Expected, Fault } from "./fault.ts";

const JSON_HEADERS = { "content-type": "application/json" };

const upstream = (name: string, answer: Answer, ends: StopCode, more: Partial<Expected> = {}): Fault => ({
  name,
  answers: [],
  otherwise: answer,
  expected: { ends, requests: 1, booked: "estimated", ...more },
});

/** An answer with an HTTP status: nothing was read, so nothing is paid. */
const refused = (
  name: string,
  status: number,
  ends: StopCode,
  { headers, body, ...more }: Partial<Expected> & { headers?: Record<string, string>; body?: unknown } = {},
): Fault =>
  upstream(name, { status, ...(headers ? { headers } : {}), body: body ?? {} }, ends, {
    booked: "nothing",
    ...more,
    provider: { status, ...more.provider },
  });

const error = (code: string, message = "the vendor's own words") => ({ error: { code, type: "x", message } });
const inBand = (body: object): Answer => ({ raw: JSON.stringify(body), headers: JSON_HEADERS });
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const SSE = { "content-type": "text/event-stream" };
const PATIENCE = { maxFirstByteMs: 2_000, maxIdleMs: 1_000 } as const;
const silent = (name: string, answer: Answer, more: Partial<Expected> = {}): Fault => ({
  ...upstream(name, answer, "model_timeout", more),
  limits: PATIENCE,
});
const inAWhile = () => new Date(Date.now() + 120_000).toUTCString();
const minutes = [60_000, 120_000] as const;

export const modelFaults = (): Fault[] => [
  refused("429 without a word", 429, "model_rate_limited"),
  refused("429, Retry-After in seconds", 429, "model_rate_limited", {
    headers: { "retry-after": "7" },
    retryAfterMs: 7_000,
  }),
  refused("429, Retry-After of a day", 429, "model_rate_limited", {
    headers: { "retry-after": "86400" },
    retryAfterMs: 3_600_000,
  }),
  refused("429, Retry-After as a date", 429, "model_rate_limited", {
    headers: { "retry-after": inAWhile() },
    retryAfterMs: minutes,
  }),
  refused("429, Retry-After in milliseconds", 429, "model_rate_limited", {
    headers: { "retry-after-ms": "1500" },
    retryAfterMs: 1_500,
  }),
  refused("429, Retry-After in the past", 429, "model_rate_limited", { headers: { "retry-after": "-5" } }),
  refused("429, Retry-After that is garbage", 429, "model_rate_limited", { headers: { "retry-after": "abc" } }),
  refused("429, the wait in Google's body", 429, "model_rate_limited", {
    body: [{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "x", details: [{ retryDelay: "34s" }] } }],
    retryAfterMs: 34_000,
    provider: { code: "429" },
  }),
  refused("429 that means the quota", 429, "model_quota", {
    body: error("insufficient_quota"),
    headers: { "retry-after": "3" },
    provider: { code: "insufficient_quota" },
  }),
  refused("429 that means overload", 429, "model_overloaded", {
    body: { error: { type: "engine_overloaded_error", message: "x" } },
    provider: { code: "engine_overloaded_error" },
  }),
  refused("500 with a page", 500, "model_error", { body: "<html>oops</html>" }),
  refused("502", 502, "model_error"),
  refused("503 with a wait", 503, "model_overloaded", { headers: { "retry-after": "3" }, retryAfterMs: 3_000 }),
  refused("504", 504, "model_timeout"),
  refused("529", 529, "model_overloaded"),
  refused("401", 401, "model_unauthorized", { body: error("invalid_api_key"), provider: { code: "invalid_api_key" } }),
  refused("402", 402, "model_quota"),
  refused("403", 403, "model_unauthorized"),
  refused("404: no such model", 404, "model_error", {
    body: error("model_not_found"),
    provider: { code: "model_not_found" },
  }),
  refused("413", 413, "context_too_long"),
  refused("400: context_length_exceeded", 400, "context_too_long", {
    body: error("context_length_exceeded"),
    provider: { code: "context_length_exceeded" },
  }),
  refused("400: too long, in words alone", 400, "context_too_long", {
    body: { error: { type: "BadRequestError", message: "This model's maximum context length is 8192 tokens" } },
    provider: { code: "BadRequestError" },
  }),
  refused("400 for anything else", 400, "model_error", {
    body: error("invalid_value"),
    provider: { code: "invalid_value" },
  }),
  refused("400: flagged input", 400, "model_refused", {
    body: error("content_policy_violation"),
    provider: { code: "content_policy_violation" },
  }),
  refused("a redirect to somebody else", 307, "model_error", {
    headers: { location: "http://127.0.0.1:1/" },
    provider: { status: 502 },
  }),
  upstream("2064 under HTTP 200", { fixture: "S16a" }, "model_overloaded", { provider: { code: "2064" } }),
  upstream("1008 under HTTP 200", { fixture: "S16b" }, "model_quota", { provider: { code: "1008" } }),
  upstream(
    "1002 in a whole body",
    inBand({ base_resp: { status_code: 1002, status_msg: "x" } }),
    "model_rate_limited",
    {
      provider: { code: "1002" },
    },
  ),
  upstream("1027: sensitive output", inBand({ base_resp: { status_code: 1027, status_msg: "x" } }), "model_refused", {
    provider: { code: "1027" },
  }),
  upstream("1113 of another vendor: arrears", inBand({ error: { code: "1113", message: "x" } }), "model_quota", {
    provider: { code: "1113" },
  }),
  upstream("an error as the first event", { fixture: "S14" }, "model_overloaded", { provider: { code: "502" } }),
  upstream("an error after text", { fixture: "S15" }, "model_error", {
    text: "The answer is about to",
    provider: { code: "server_error" },
  }),
  upstream("an error as a bare string", inBand({ error: "the vendor's own words" }), "model_error"),
  upstream("the stream ends inside a call", { fixture: "S09" }, "model_protocol_error"),
  upstream(
    "the socket is cut inside the text",
    { fixture: "common_text", destroyAfterWrites: 2 },
    "model_protocol_error",
    {
      text: "Hello",
    },
  ),
  upstream("the socket is cut before a head", { hang: true, ms: 200 }, "model_error", { booked: "nothing" }),
  upstream("two events on one line", { fixture: "S24" }, "model_protocol_error", { text: "head " }),
  upstream(
    "a page with status 200",
    { raw: "<html>maintenance</html>", headers: { "content-type": "text/html" } },
    "model_protocol_error",
  ),
  upstream("an empty body with status 200", { raw: "", headers: SSE }, "model_protocol_error"),
  upstream(
    "no finish reason, but [DONE]",
    { raw: `${chunk({ content: "so far" })}data: [DONE]\n\n`, headers: SSE },
    "model_protocol_error",
    {
      text: "so far",
    },
  ),
  upstream(
    "a content filter",
    { raw: `${chunk({ content: "I would" })}${chunk({}, "content_filter")}data: [DONE]\n\n`, headers: SSE },
    "model_refused",
    {
      text: "I would",
    },
  ),
  upstream(
    "a refusal in words",
    { raw: `${chunk({ refusal: "I will not." })}${chunk({}, "stop")}data: [DONE]\n\n`, headers: SSE },
    "model_refused",
    {
      text: "I will not.",
    },
  ),
  upstream("text cut at its length", { text: "Once upon a", finishReason: "length" }, "output_truncated", {
    text: "Once upon a",
    booked: "told",
  }),
  upstream("calls cut at their length, twice", { fixture: "S10" }, "output_truncated", {
    requests: 2,
    calls: Array<string>(4).fill("output_truncated"),
    booked: "told",
  }),
  upstream("nothing, twice", { fixture: "S12" }, "model_protocol_error", { requests: 2, booked: "told" }),
  upstream(
    "an end that says error",
    { raw: `${chunk({ content: "a" })}${chunk({}, "error")}data: [DONE]\n\n`, headers: SSE },
    "model_error",
    { text: "a" },
  ),
  upstream(
    "an end that says overload",
    { raw: `${chunk({}, "insufficient_system_resource")}data: [DONE]\n\n`, headers: SSE },
    "model_overloaded",
  ),
  upstream(
    "an end that says too long",
    { raw: `${chunk({}, "model_context_window_exceeded")}data: [DONE]\n\n`, headers: SSE },
    "context_too_long",
  ),
  silent("no head", { hang: true }, {}),
  silent("a head and no body", { hang: "headers" }, {}),
  silent("silence after text", { fixture: "S27" }, { text: "Thinking about" }),
  silent("keep-alives for ever", {
    raw: ": hello\n\n",
    headers: SSE,
    end: { mode: "hold", ms: 60_000, heartbeat: { text: ": ping\n\n", every_ms: 1_000 } },
  }),
  upstream("[DONE], and a connection that stays open", { fixture: "S18" }, "final_answer", {
    text: "Done",
    booked: "told",
  }),
];
