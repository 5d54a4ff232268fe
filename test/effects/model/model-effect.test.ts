import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { PrepareCalls } from "../../../src/effects/model-effect.ts";
import type { Answer } from "../../support/answer-script.ts";
import { startFakeProvider, type FakeProvider } from "../../support/fake-provider.ts";
import { ask, askFor, clientOf, type Asking } from "./ask.ts";
import { read, Story } from "./story.ts";

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider({ timeScale: 0.1 });
});
afterAll(() => provider.close());

const asked = (answer: Answer, asking?: Asking) => askFor(provider, answer, asking);

test("a text is shown as it comes and answered whole, with the provider's usage", async () => {
  const { result, text, request } = await asked({ fixture: "common_text" });
  expect(text).toBe("Hello world");
  expect(result).toMatchObject({
    kind: "answered",
    verdict: "final",
    text: { text: "Hello world" },
    calls: [],
    usage: { inputTokens: 12, outputTokens: 3, estimated: false, costMicroUsd: null },
  });
  expect(request.violations).toEqual([]);
  expect(request.headers.authorization).toMatch(/^Bearer/);
});

test("the body that is sent is the one that was digested, with the transcript as it was encoded", async () => {
  const story = new Story();
  story.start('look "it" up \u2028 你好 🚀');
  story.plans([read({ args: { order_id: "A-17" } })], "Let me see.");
  story.works({ status: "shipped" });
  const { result, request } = await asked({ fixture: "common_text" }, { story });
  if (result.kind !== "answered") throw new Error(result.kind);
  expect(result.request.digest).toBe(Buffer.from(request.bodySha256 ?? "", "hex").toString("base64url"));
  expect(request.violations).toEqual([]);
  expect(request.body).toMatchObject({ messages: [{ role: "system" }, ...story.messages()] });
  expect(request.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(request.headers["content-type"]).toBe("application/json");
});

test("only tools within the user's scopes are offered, and the prompt takes only what it asks for", async () => {
  const { request, result } = await asked({ fixture: "common_text" }, { principal: { locale: "zh-CN" } });
  expect(request.body).toMatchObject({
    messages: [{ role: "system", content: "You are a test. Locale: zh-CN." }, { role: "user" }],
  });
  expect(request.body).toHaveProperty("tools", [
    {
      type: "function",
      function: {
        name: "lookup_order",
        description: "does lookup_order",
        parameters: {
          type: "object",
          properties: { order_id: { type: "string", description: "which" } },
          required: ["order_id"],
          additionalProperties: false,
        },
      },
    },
  ]);
  expect(JSON.stringify(request.body)).not.toMatch(/alice|t1/);
  expect(result).toMatchObject({ request: { parameters: { tools: ["lookup_order"] } } });
  const more = await asked({ fixture: "common_text" }, { principal: { scopes: ["lab:secret"] } });
  expect(JSON.stringify(more.request.body)).toContain("secret_tool");
});

test("calls are prepared and make a plan", async () => {
  const { result } = await asked({ fixture: "S11" });
  expect(result).toMatchObject({
    kind: "answered",
    verdict: "plan",
    text: { text: "Let me check. " },
    calls: [{ kind: "ready", tool: "lookup_order" }],
  });
});

test.each([
  ["S08", { kind: "answered", verdict: "plan" }],
  ["S10", { kind: "answered", verdict: "truncated_calls" }],
  ["S12", { kind: "answered", verdict: "empty" }],
  ["S13", { kind: "answered", verdict: "final", usage: { inputTokens: 12, outputTokens: 3 } }],
  ["S17", { kind: "answered", verdict: "final" }],
  ["S19", { kind: "answered", verdict: "final", text: { text: "one two" } }],
  ["S20", { kind: "answered", verdict: "final", text: { text: "alpha beta" } }],
  ["S21", { kind: "answered", verdict: "final", text: { text: "Zażółć 你好 🚀 fin" } }],
  ["S22", { kind: "answered", verdict: "final", text: { text: "ok \ufffd end" } }],
  ["S09", { kind: "failed", stop: { code: "model_protocol_error" } }],
  ["S14", { kind: "failed" }],
  ["S15", { kind: "failed", text: { text: "The answer is about to" } }],
  ["S16a", { kind: "failed", stop: { code: "model_overloaded", retryable: true } }],
  ["S16b", { kind: "failed", stop: { code: "model_quota", retryable: false } }],
  ["S24", { kind: "failed", stop: { code: "model_protocol_error" }, text: { text: "head " } }],
])("%s comes out as it should, after one request", async (fixture, expected) => {
  const { result, text, said } = await asked({ fixture });
  expect(result).toMatchObject(expected);
  expect(said).toBe(text);
});

test("no call of a cut answer is prepared", async () => {
  const prepareCalls = vi.fn<PrepareCalls>();
  const { result } = await asked({ fixture: "S10" }, { deps: { prepareCalls } });
  expect(prepareCalls).not.toHaveBeenCalled();
  if (result.kind !== "answered") throw new Error(result.kind);
  expect(result.calls.map(({ kind, tool }) => [kind, tool])).toEqual([
    ["refused", "transfer"],
    ["refused", "transfer"],
  ]);
});

test("a body that is no stream is understood, and shown", async () => {
  const whole = { choices: [{ index: 0, message: { role: "assistant", content: "Whole." }, finish_reason: "stop" }] };
  const { result, text } = await asked({
    raw: JSON.stringify(whole),
    headers: { "content-type": "application/json" },
  });
  expect(result).toMatchObject({ kind: "answered", verdict: "final", text: { text: "Whole." } });
  expect(text).toBe("Whole.");
});

const event = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

test("after reasoning, the text is the second part of the message", async () => {
  const raw = event({ reasoning_content: "Hmm." }) + event({ content: "Yes." }, "stop") + "data: [DONE]\n\n";
  const { result, shown } = await asked({ raw });
  expect(result).toMatchObject({ reasoning: "Hmm.", text: { text: "Yes." } });
  expect(shown.every(({ part }) => part === 1)).toBe(true);
});

test("reasoning that comes after text was shown does not move the text", async () => {
  const first = event({ content: "Yes" });
  const raw = first + event({ reasoning_content: "Hmm." }) + event({ content: "." }, "stop") + "data: [DONE]\n\n";
  const { result, shown } = await asked({ raw, splitAt: [first.length], delaysMs: [0, 200] });
  expect(shown).toEqual([
    { text: "Yes", part: 0 },
    { text: ".", part: 0 },
  ]);
  expect(result).not.toHaveProperty("reasoning");
});

test("a model's own words of refusal are kept as its text", async () => {
  const raw = event({ refusal: "I will not." }, "stop") + "data: [DONE]\n\n";
  expect((await asked({ raw })).result).toMatchObject({ verdict: "refused", text: { text: "I will not." } });
  const filtered = event({}, "content_filter") + "data: [DONE]\n\n";
  expect((await asked({ raw: filtered })).result).toMatchObject({ verdict: "refused", text: { text: "" } });
});

test("usage that the provider does not send is estimated from what went over the wire", async () => {
  const { result, request } = await asked({ text: "four words are here", usage: false });
  if (result.kind !== "answered") throw new Error(result.kind);
  expect(result.usage).toMatchObject({ estimated: true, outputTokens: 5 });
  expect(result.usage.inputTokens).toBe(Math.ceil((request.bodyBytes ?? 0) / 4));
});

test("a long text stands in a payload, with an excerpt in its place", async () => {
  const long = "长".repeat(6_000);
  const { result, payloads } = await asked({ text: long, chunks: 20 });
  if (result.kind !== "answered") throw new Error(result.kind);
  expect(result.text.text).toBe(long.slice(0, 2_048));
  expect(payloads).toEqual([{ digest: result.text.excerptOf?.digest, body: long }]);
  expect(result.text.excerptOf).toEqual({
    digest: createHash("sha256").update(long).digest("base64url"),
    bytes: 18_000,
  });
});

test("text is shown once per network read, not once per event", async () => {
  const raw = Array.from({ length: 100 }, (_, i) => event({ content: `${i} ` })).join("") + event({}, "stop");
  const { shown, result } = await asked({ raw: `${raw}data: [DONE]\n\n`, writes: "single" });
  expect(result).toMatchObject({ verdict: "final" });
  expect(shown.length).toBeLessThanOrEqual(3);
});

test("without a key no credential is sent", async () => {
  const scope = "keyless";
  provider.script({ scope, queue: [{ text: "ok" }] });
  await ask(clientOf(provider.baseUrl, scope));
  expect(provider.requests(scope)[0]?.headers).not.toHaveProperty("authorization");
});
