import { describe, expect, it } from "vitest";
import { classifyFailure, classifyHttpFailure, timedOut } from "../../../src/effects/stream/classify-failure.ts";
import { CONTEXT_TOO_LONG_WORDING } from "../../../src/effects/stream/vendor-codes.ts";
import { Stop } from "../../../src/protocol/stops.ts";

const NOW = Date.UTC(2026, 10, 29);

function http(status: number, error?: unknown, retryAfter?: string) {
  const body = typeof error === "string" ? error : JSON.stringify({ error });
  const stop = classifyHttpFailure({ status, body, now: NOW, ...(retryAfter === undefined ? {} : { retryAfter }) });
  expect(Stop.parse(stop)).toEqual(stop);
  return stop;
}

const inStream = (code: string | number | null, type: string | null = null, message = "") =>
  classifyFailure({ kind: "error_object", code, type, message });
const vendor = (code: number, message = "") => classifyFailure({ kind: "vendor", code, message });

describe("an HTTP status without a word", () => {
  it.each([
    [400, "model_error"],
    [401, "model_unauthorized"],
    [402, "model_quota"],
    [403, "model_unauthorized"],
    [404, "model_error"],
    [408, "model_timeout"],
    [413, "context_too_long"],
    [429, "model_rate_limited"],
    [500, "model_error"],
    [502, "model_error"],
    [503, "model_overloaded"],
    [504, "model_timeout"],
    [524, "model_timeout"],
    [529, "model_overloaded"],
    [302, "model_error"],
  ])("%i is %s", (status, code) => {
    expect(http(status, "<html>nginx</html>")).toMatchObject({ code, provider: { status } });
    expect(http(status, "")).toMatchObject({ code });
    expect(http(status, {})).toMatchObject({ code });
    expect(http(status, { type: "server_error", code: null })).toMatchObject({ code });
  });
});

describe("an error body", () => {
  it.each<[what: string, status: number, error: unknown, code: string, named: string | undefined]>([
    [
      "OpenAI: out of quota",
      429,
      { code: "insufficient_quota", type: "insufficient_quota" },
      "model_quota",
      "insufficient_quota",
    ],
    [
      "OpenAI: too many tokens a minute",
      429,
      { code: "rate_limit_exceeded", type: "tokens" },
      "model_rate_limited",
      "rate_limit_exceeded",
    ],
    [
      "OpenAI: slow down",
      503,
      { code: "slow_down", type: "service_unavailable_error" },
      "model_overloaded",
      "slow_down",
    ],
    [
      "OpenAI: too long",
      400,
      { code: "context_length_exceeded", type: "invalid_request_error" },
      "context_too_long",
      "context_length_exceeded",
    ],
    [
      "OpenAI: bad key",
      401,
      { code: "invalid_api_key", type: "invalid_request_error" },
      "model_unauthorized",
      "invalid_api_key",
    ],
    ["OpenAI: bad request", 400, { code: null, type: "invalid_request_error" }, "model_error", "invalid_request_error"],
    ["Azure: filtered", 400, { code: "content_filter", innererror: {} }, "model_refused", "content_filter"],
    [
      "Moonshot: out of quota",
      429,
      { type: "exceeded_current_quota_error" },
      "model_quota",
      "exceeded_current_quota_error",
    ],
    ["Moonshot: overloaded", 429, { type: "engine_overloaded_error" }, "model_overloaded", "engine_overloaded_error"],
    ["Zhipu: arrears", 429, { code: "1113" }, "model_quota", "1113"],
    ["Zhipu: sensitive", 400, { code: "1301" }, "model_refused", "1301"],
    ["Alibaba: arrears", 400, { code: "Arrearage", type: "Arrearage" }, "model_quota", "Arrearage"],
    ["OpenRouter: flagged", 403, { code: 403, metadata: { reasons: ["violence"] } }, "model_refused", "403"],
    ["llama.cpp: too long", 400, { code: 400, type: "exceed_context_size_error" }, "context_too_long", "400"],
    ["Ollama: a sentence", 404, "model 'x' not found", "model_error", undefined],
  ])("%s", (_what, status, error, code, named) => {
    const stop = http(status, typeof error === "string" ? JSON.stringify({ error }) : error);
    expect([stop.code, stop.provider?.code]).toEqual([code, named]);
  });

  it("counts in vLLM's, DashScope's, MiniMax's and Google's envelope too", () => {
    const code = (status: number, body: unknown) =>
      classifyHttpFailure({ status, body: JSON.stringify(body), now: NOW }).code;
    expect(
      code(400, { object: "error", message: "This model's maximum context length is 4096 tokens.", code: 400 }),
    ).toBe("context_too_long");
    expect(code(429, { code: "Throttling.RateQuota", message: "m", request_id: "r" })).toBe("model_rate_limited");
    expect(code(401, { base_resp: { status_code: 1008 } })).toBe("model_quota");
    expect(code(429, [{ error: { code: 429, status: "RESOURCE_EXHAUSTED" } }])).toBe("model_rate_limited");
    expect(code(500, [])).toBe("model_error");
  });

  it("is not taken for too long by its wording where the status says something else", () => {
    const wording = { message: "This model's maximum context length is 4096 tokens." };
    expect(http(400, wording).code).toBe("context_too_long");
    expect(http(429, wording).code).toBe("model_rate_limited");
    expect(http(500, wording).code).toBe("model_error");
  });

  it("never passes the vendor's sentence or an odd code on", () => {
    const stop = http(500, { message: "key sk-123 at 10.0.0.1", code: "a code with blanks", type: "sk-123 at" });
    expect(JSON.stringify(stop)).not.toContain("sk-123");
    expect(stop.provider).toEqual({ status: 500 });
  });
});

describe("the wait", () => {
  it("is told where another try may help, and only there", () => {
    expect(http(429, {}, "3")).toMatchObject({ retryable: true, retryAfterMs: 3_000 });
    expect(http(503, {}, "86400")).toMatchObject({ retryable: true, retryAfterMs: 3_600_000 });
    expect(http(429, {}, "-5")).not.toHaveProperty("retryAfterMs");
    const google = {
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "x/google.rpc.RetryInfo", retryDelay: "34.5s" }],
    };
    expect(http(429, google)).toMatchObject({ code: "model_rate_limited", retryAfterMs: 34_500 });
    expect(http(429, { details: [{ retryDelay: "soon" }, 7] })).not.toHaveProperty("retryAfterMs");
    expect(http(429, { code: "insufficient_quota" }, "3")).not.toHaveProperty("retryAfterMs");
  });
});

describe("a failure inside a stream", () => {
  it.each([
    [inStream(502, "provider_unavailable"), "model_overloaded", "502"],
    [inStream(null, "server_error"), "model_error", "server_error"],
    [inStream(429), "model_rate_limited", "429"],
    [inStream("429"), "model_rate_limited", "429"],
    [inStream(503), "model_overloaded", "503"],
    [inStream("1302"), "model_rate_limited", "1302"],
    [inStream(null, null, "the prompt is too long"), "context_too_long", undefined],
    [inStream(null), "model_error", undefined],
    [vendor(1000), "model_error", "1000"],
    [vendor(1002), "model_rate_limited", "1002"],
    [vendor(1004), "model_unauthorized", "1004"],
    [vendor(1008), "model_quota", "1008"],
    [vendor(1027), "model_refused", "1027"],
    [vendor(2013, "invalid params, context window exceeds limit (2013)"), "context_too_long", "2013"],
    [vendor(2013, "invalid params"), "model_error", "2013"],
    [vendor(2064), "model_overloaded", "2064"],
    // Not an HTTP status, although it would be one.
    [vendor(429), "model_error", "429"],
  ])("%j", (stop, code, named) => {
    expect([stop.code, stop.provider?.code]).toEqual([code, named]);
    expect(Stop.parse(stop)).toEqual(stop);
  });

  it("that is no answer at all is a protocol error, which may be tried again", () => {
    const stop = classifyFailure({ kind: "protocol_error", detail: "event 3 is not JSON" });
    expect(stop).toMatchObject({ code: "model_protocol_error", retryable: true });
    expect(stop.detail).toContain("event 3 is not JSON");
  });

  it("or a clock that ran out is a time-out", () => {
    const stops = (["first_byte", "idle", "total"] as const).map(timedOut);
    expect(stops.every((stop) => stop.code === "model_timeout" && stop.retryable)).toBe(true);
    expect(new Set(stops.map((stop) => stop.detail)).size).toBe(3);
  });
});

describe("the table of wordings", () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
    "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens",
    "request (4476 tokens) exceeds the available context size (4096 tokens)",
    "Your input exceeds the context window of this model.",
    "Your request exceeded model token limit : 8192",
    "Input token length too long",
    "Range of input length should be [1, 30720]",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  ])("knows %j", (message) => {
    expect(CONTEXT_TOO_LONG_WORDING.some((wording) => wording.test(message))).toBe(true);
  });

  it("is fast on a hostile message", () => {
    const message = "input token count ".repeat(20_000);
    const started = performance.now();
    expect(CONTEXT_TOO_LONG_WORDING.some((wording) => wording.test(message))).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
