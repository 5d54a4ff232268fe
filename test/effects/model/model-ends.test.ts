/** How an answer ends otherwise: clocks, aborts, refusals, cuts. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer } from "../../support/answer-script.ts";
import { startFakeProvider, type FakeProvider } from "../../support/fake-provider.ts";
import { ask, askFor, clientOf, type Asking } from "./ask.ts";

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider({ timeScale: 0.1 });
});
afterAll(() => provider.close());

const asked = (answer: Answer, asking?: Asking) => askFor(provider, answer, asking);
const closedByUs = (scope: string) =>
  vi.waitFor(() => expect(provider.requests(scope)[0]?.endedBy).toBe("client"), { timeout: 2_000, interval: 5 });

test("[DONE] ends the answer although the connection stays open, which is then closed", async () => {
  const began = Date.now();
  const { result, scope } = await asked({ fixture: "S18" });
  expect(result).toMatchObject({ kind: "answered", verdict: "final", text: { text: "Done" } });
  expect(Date.now() - began).toBeLessThan(1_000);
  await closedByUs(scope);
});

test("an answer that ended by itself is not cut off by us", async () => {
  const { scope } = await asked({ fixture: "common_text" });
  await vi.waitFor(() => expect(provider.requests(scope)[0]?.endedBy).toBe("server"));
});

test("silence after text ends at the idle limit: text kept, socket closed, cost estimated", async () => {
  const { result, scope } = await asked({ fixture: "S27" }, { limits: { maxIdleMs: 150 } });
  expect(result).toMatchObject({
    kind: "failed",
    stop: { code: "model_timeout", retryable: true },
    text: { text: "Thinking about" },
    usage: { estimated: true, outputTokens: 4 },
  });
  await closedByUs(scope);
});

test.each([true, "headers"] as const)("no first byte (hang: %s) ends at its limit", async (hang) => {
  const { result, scope } = await asked({ hang }, { limits: { maxFirstByteMs: 150 } });
  expect(result).toMatchObject({ kind: "failed", stop: { code: "model_timeout" }, text: { text: "" } });
  await closedByUs(scope);
});

test("keep-alives are no progress", async () => {
  const end = { mode: "hold", ms: 60_000, heartbeat: { text: ": ping\n\n", every_ms: 200 } } as const;
  const { result } = await asked({ raw: ": hello\n\n", end }, { limits: { maxIdleMs: 200 } });
  expect(result).toMatchObject({ kind: "failed", stop: { code: "model_timeout" } });
});

test("a slow answer that goes on is not idle, but has a total", async () => {
  const slow = { text: Array.from({ length: 40 }, (_, i) => `w${i}`).join(" "), delayMs: 200 } as const;
  const whole = await asked(slow, { limits: { maxIdleMs: 300, maxFirstByteMs: 300 } });
  expect(whole.result).toMatchObject({ kind: "answered", verdict: "final" });
  const cut = await asked({ ...slow, delayMs: 1_000 }, { limits: { maxIdleMs: 1_000 }, deadlineMs: 1_500 });
  expect(cut.result).toMatchObject({ kind: "failed", stop: { code: "model_timeout" } });
  expect(cut.text.length).toBeGreaterThan(0);
});

test("an answer that is complete but for its end is taken when the clock runs out", async () => {
  const chunk = (delta: unknown, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const raw = chunk({ content: "All said." }, null) + chunk({}, "stop");
  const { result } = await asked({ raw, end: { mode: "hold", ms: 600_000 } }, { limits: { maxIdleMs: 150 } });
  expect(result).toMatchObject({ kind: "answered", verdict: "final", text: { text: "All said." } });
});

test("an abort in the middle resolves at once with what was shown, and closes the provider's socket", async () => {
  const controller = new AbortController();
  const { result, scope, text, said } = await asked(
    { fixture: "common_slow_text" },
    { signal: controller.signal, onText: (piece) => piece.includes("w05") && controller.abort() },
  );
  expect(result).toMatchObject({ kind: "aborted", text: { text: expect.stringMatching(/^w00 .*w05 $/) } });
  expect(result).toMatchObject({ usage: { estimated: true } });
  expect(said).toBe(text);
  await closedByUs(scope);
});

test("an abort before the headers resolves, and one from before asking sends nothing", async () => {
  const scope = "abort-early";
  provider.script({ scope, default: { hang: true } });
  const controller = new AbortController();
  const pending = ask(clientOf(provider.baseUrl, scope), { signal: controller.signal });
  await vi.waitFor(() => expect(provider.requests(scope).length).toBe(1));
  controller.abort();
  expect((await pending).result).toMatchObject({ kind: "aborted", text: { text: "" }, usage: { estimated: true } });
  const before = await ask(clientOf(provider.baseUrl, scope), { signal: AbortSignal.abort() });
  expect(before.result).toMatchObject({ kind: "aborted", usage: { inputTokens: 0, outputTokens: 0 } });
  expect(provider.requests(scope).length).toBe(1);
});

test("an abort while calls are prepared is an abort, and keeps the text", async () => {
  const controller = new AbortController();
  const { result } = await asked(
    { fixture: "S11" },
    {
      signal: controller.signal,
      deps: {
        prepareCalls: (_effect, { signal }) => {
          controller.abort();
          expect(signal.aborted).toBe(true);
          return new Promise(() => undefined);
        },
      },
    },
  );
  expect(result).toMatchObject({ kind: "aborted", text: { text: "Let me check. " } });
});

test.each([
  [{ status: 429, headers: { "retry-after": "3" } }, "model_rate_limited", 3_000],
  [{ status: 429, headers: { "retry-after": "abc" } }, "model_rate_limited", undefined],
  [{ status: 429, headers: { "retry-after-ms": "1500", "retry-after": "2" } }, "model_rate_limited", 1_500],
  [{ status: 429, headers: { "retry-after-ms": "-1", "retry-after": "2" } }, "model_rate_limited", 2_000],
  [{ status: 503 }, "model_overloaded", undefined],
  [{ status: 500, body: "<html>oops</html>" }, "model_error", undefined],
  [{ status: 401 }, "model_unauthorized", undefined],
  [
    { status: 400, body: { error: { message: "too long", code: "context_length_exceeded" } } },
    "context_too_long",
    undefined,
  ],
  [{ status: 429, body: { base_resp: { status_code: 1008, status_msg: "no balance" } } }, "model_quota", undefined],
  [{ status: 400, body: [{ error: { code: 400, status: "UNAUTHENTICATED" } }] }, "model_unauthorized", undefined],
] as const)("%o is a refusal: %s", async (scripted, code, retryAfterMs) => {
  const { result, stop } = await asked(scripted);
  expect(result).toMatchObject({ kind: "failed", stop: { code }, usage: { inputTokens: 0, estimated: false } });
  expect(stop?.retryAfterMs).toBe(retryAfterMs);
  expect(JSON.stringify(result)).not.toMatch(/oops|no balance/);
});

test("a redirect is not followed: it would be a second request, and perhaps to somebody else", async () => {
  const headers = { location: `${provider.baseUrl}/chat/completions` };
  const { stop } = await asked({ status: 307, headers });
  expect(stop).toMatchObject({ code: "model_error" });
});

test("a socket that is cut in the middle keeps the text and fails as incomplete", async () => {
  const { result, said } = await asked({ fixture: "common_slow_text", destroyAfterWrites: 10 });
  expect(result).toMatchObject({ kind: "failed", stop: { code: "model_protocol_error" }, usage: { estimated: true } });
  expect(said).toMatch(/^w00 /);
});

test("a provider that is not there is a model error, and the address is not told", async () => {
  const { result, errors } = await ask(clientOf("http://127.0.0.1:9/v1", "nobody"));
  expect(result).toMatchObject({ kind: "failed", stop: { code: "model_error", retryable: true } });
  expect(JSON.stringify(result)).not.toContain("127.0.0.1");
  expect(errors.length).toBe(1);
});

test("a bug of ours is an internal failure with the text that people saw, and a line in the log", async () => {
  const broken = { prepareCalls: () => Promise.reject(new Error("bug")) };
  const { result, errors } = await asked({ fixture: "S11" }, { deps: broken });
  expect(result).toMatchObject({ kind: "failed", stop: { code: "internal" }, text: { text: "Let me check. " } });
  expect(errors).toEqual([new Error("bug")]);
  const gone = await ask(clientOf(provider.baseUrl, "gone"), { deps: { agentOf: () => undefined } });
  expect(gone.result).toMatchObject({ kind: "failed", stop: { code: "internal" } });
});
