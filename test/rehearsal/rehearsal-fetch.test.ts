import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { rehearsalFetch, REHEARSAL_MODEL } from "../../src/rehearsal/rehearsal-fetch.ts";
import { inspectChatRequest } from "../support/chat-rules.ts";
import { Rehearsal } from "./rehearse.ts";

const URL = "http://rehearsal.invalid/v1/chat/completions";
const post = (body: string, init: RequestInit = {}, options = {}) =>
  rehearsalFetch(options)(URL, { method: "POST", body, ...init });
const request = (content: string, more = {}) =>
  JSON.stringify({ model: REHEARSAL_MODEL, stream: true, messages: [{ role: "user", content }], ...more });

test("the same request gives the same bytes, at any pace", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.constantFrom("hello", "讲一个长故事", "你好")), async (said) => {
      const body = request(said);
      const [first, second] = await Promise.all([post(body), post(body)].map(async (one) => (await one).text()));
      expect(first).toBe(second);
    }),
    { numRuns: 50 },
  );
  const body = request("hello");
  expect(await (await post(body, {}, { pace: 1 })).text()).toBe(await (await post(body)).text());
});

test("another request gives other bounds of the same words", async () => {
  const texts = await Promise.all(["a", "b", "c"].map(async (user) => (await post(request("hello", { user }))).text()));
  expect(new Set(texts.map((text) => text.split("\n\n").length)).size).toBeGreaterThan(1);
});

test("its body is a byte stream that is read with the reader's own buffer", async () => {
  const { body } = await post(request("hello"));
  if (!body) throw new Error("no body");
  const reader = body.getReader({ mode: "byob" });
  let bytes = 0;
  for (let read = await reader.read(new Uint8Array(64)); !read.done;) {
    bytes += read.value.byteLength;
    read = await reader.read(new Uint8Array(read.value.buffer));
  }
  expect(bytes).toBeGreaterThan(500);
});

const call = (id: string, args = "{}") => ({ id, type: "function", function: { name: "list_plans", arguments: args } });
const asked = (...calls: object[]) => ({ role: "assistant", content: null, tool_calls: calls });
const told = (id: string) => ({ role: "tool", tool_call_id: id, content: "{}" });
const user = { role: "user", content: "hi" };

test.each([
  ["no JSON", "{"],
  ["half a surrogate pair", String.raw`{"model":"rehearsal-1","messages":[{"role":"user","content":"\ud800"}]}`],
  ["no messages", request("", { messages: [] })],
  ["an unknown role", request("", { messages: [{ role: "robot", content: "x" }] })],
  ["a call without its result", request("", { messages: [user, asked(call("a")), user] })],
  ["a result without its call", request("", { messages: [user, told("a")] })],
  ["a call answered twice", request("", { messages: [user, asked(call("a")), told("a"), told("a")] })],
  ["an id used twice", request("", { messages: [user, asked(call("a"), call("a")), told("a")] })],
  ["an empty id", request("", { messages: [user, asked(call("")), told("")] })],
  ["arguments that are no object", request("", { messages: [user, asked(call("a", "[1]")), told("a")] })],
  ["a message without content", request("", { messages: [{ role: "user" }] })],
])("it refuses %s, as a strict provider does", async (_, body) => {
  expect(inspectChatRequest(new TextEncoder().encode(body)).violations.length).toBeGreaterThan(0);
  const response = await post(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
});

test("it refuses an unknown model, an unknown route, and a history that ends in its own words", async () => {
  expect((await post(request("hi", { model: "gpt-5" }))).status).toBe(404);
  expect(
    (await rehearsalFetch()("http://rehearsal.invalid/v1/embeddings", { method: "POST", body: "{}" })).status,
  ).toBe(404);
  const own = request("", { messages: [user, { role: "assistant", content: "yes" }] });
  expect((await post(own)).status).toBe(400);
});

test("it says that it is scripted wherever a model says who it is", async () => {
  const models = await (await rehearsalFetch()("http://rehearsal.invalid/v1/models")).json();
  expect(models).toMatchObject({ data: [{ id: "rehearsal-1", owned_by: expect.stringContaining("scripted") }] });
  const whole = await (await post(request("hello", { stream: false }))).json();
  expect(whole).toMatchObject({ system_fingerprint: "scripted", model: "rehearsal-1" });
  expect(await (await post(request("hello"))).text()).toContain('"system_fingerprint":"scripted"');
});

test("an abort ends the stream at once, in the middle of a pause", async () => {
  const rehearsal = new Rehearsal({ pace: 5 });
  rehearsal.story.start("tell me a long story");
  const controller = new AbortController();
  const began = Date.now();
  const { result, text } = await rehearsal.ask({
    signal: controller.signal,
    onText: (piece) => piece !== "" && controller.abort(),
  });
  expect(result).toMatchObject({ kind: "aborted", text: { text } });
  expect(text).not.toBe("");
  expect(Date.now() - began).toBeLessThan(1_000);
});

test("an abort before it answers is an abort", async () => {
  await expect(post(request("hi"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
});

test("a reader that goes away stops the play", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { body } = await post(request("hello"), {}, { pace: 1_000 });
    const reader = body?.getReader();
    const pending = reader?.read();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await reader?.cancel();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
