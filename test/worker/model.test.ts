/** Asking the model in workerd: its fetch, its byte streams and its aborts are not Node's. */
import { expect, inject, test, vi } from "vitest";
import type { Clock } from "../../src/actor/ports.ts";
import { ModelClocks } from "../../src/effects/model-clocks.ts";
import { modelClient } from "../../src/effects/model-client.ts";
import { readAnswer } from "../../src/effects/model-reader.ts";
import { rehearsalFetch } from "../../src/rehearsal/rehearsal-fetch.ts";

const provider = inject("modelProvider");
const clock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

interface Asking {
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
  readonly onText?: (text: string) => void;
}

async function read(client: ReturnType<typeof modelClient>, content: string, asking: Asking = {}) {
  const { idleMs = 5_000, signal = new AbortController().signal, onText = () => undefined } = asking;
  const clocks = new ModelClocks(clock, { firstByteMs: 5_000, idleMs, deadlineAt: Date.now() + 10_000 }, signal);
  const body = JSON.stringify({ model: client.model, stream: true, messages: [{ role: "user", content }] });
  const shown: string[] = [];
  const reading = await readAnswer({
    client,
    clock,
    clocks,
    body,
    onText: (text) => {
      shown.push(text);
      onText(text);
    },
  });
  clocks.close();
  const answer = reading.kind === "answer" ? reading.answer : null;
  return { reading, shown, answer, text: shown.join("") };
}

const post = (path: string, body: unknown) =>
  fetch(`${provider}${path}`, { method: "POST", body: JSON.stringify(body) });
async function scripted(answer: object) {
  const model = `worker-${crypto.randomUUID()}`;
  await post("/__script", { scope: model, queue: [answer] });
  const client = modelClient(
    { OPENAI_BASE_URL: `${provider}/v1`, OPENAI_MODEL: model },
    { fetch: (input, init) => fetch(input, init), rehearsal: rehearsalFetch() },
  );
  const requests = async () => {
    const response = await fetch(`${provider}/__requests?scope=${model}`);
    return (await response.json()) as { endedBy: string | null; violations: unknown[] }[];
  };
  const closedByUs = () => vi.waitFor(async () => expect(await requests()).toMatchObject([{ endedBy: "client" }]));
  return { client, requests, closedByUs };
}

const rehearsal = (pace: number) =>
  modelClient({}, { fetch: (input, init) => fetch(input, init), rehearsal: rehearsalFetch({ pace }) });

test("the rehearsal streams through the package, the reader and the decoder", async () => {
  const { answer, text, shown } = await read(rehearsal(1), "hello");
  expect(answer).toMatchObject({ finishReason: "stop", sawDone: true, failure: null, model: "rehearsal-1" });
  expect(text).toMatch(/^Hello! I am a rehearsal/);
  expect(shown.length).toBeGreaterThan(3);
});

test("an abort ends the rehearsal in the middle", async () => {
  const controller = new AbortController();
  const { reading, text } = await read(rehearsal(5), "tell me a long story", {
    signal: controller.signal,
    onText: () => controller.abort(),
  });
  expect(reading).toMatchObject({ kind: "answer", ended: "aborted" });
  expect(text).not.toBe("");
});

test("a real provider's stream arrives whole, and ends by itself", async () => {
  const { client, requests } = await scripted({ fixture: "S21" });
  const { text } = await read(client, "hi");
  expect(text).toBe("Zażółć 你好 🚀 fin");
  await vi.waitFor(async () => expect(await requests()).toMatchObject([{ endedBy: "server", violations: [] }]));
});

test("an abort closes the provider's socket", async () => {
  const { client, closedByUs } = await scripted({ fixture: "common_slow_text" });
  const controller = new AbortController();
  const { reading } = await read(client, "hi", {
    signal: controller.signal,
    onText: (text) => text.includes("w05") && controller.abort(),
  });
  expect(reading).toMatchObject({ kind: "answer", ended: "aborted" });
  await closedByUs();
});

test("silence closes the provider's socket at the idle limit", async () => {
  const { client, closedByUs } = await scripted({ fixture: "S27" });
  const { reading, text } = await read(client, "hi", { idleMs: 200 });
  expect(reading).toMatchObject({ kind: "answer", ended: "idle" });
  expect(text).toBe("Thinking about");
  await closedByUs();
});

test("[DONE] with an open connection ends the answer, and the connection", async () => {
  const { client, closedByUs } = await scripted({ fixture: "S18" });
  const { answer, reading } = await read(client, "hi");
  expect(reading).toMatchObject({ ended: null });
  expect(answer).toMatchObject({ text: "Done", sawDone: true });
  await closedByUs();
});

test("a refusal is a value with status, body and wait", async () => {
  const { client } = await scripted({ status: 429, headers: { "retry-after": "3" }, body: { base_resp: { x: 1 } } });
  const { reading } = await read(client, "hi");
  expect(reading).toEqual({ kind: "refused", status: 429, body: '{"base_resp":{"x":1}}', retryAfter: "3" });
});
