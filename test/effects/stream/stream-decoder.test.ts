import { describe, expect, it } from "vitest";
import { StreamDecoder } from "../../../src/effects/stream/stream-decoder.ts";
import { DONE, bytesOf, bytewise, decode, decodeText, delta, event, text } from "./streams.ts";

const STOP = event(delta({}, "stop"));

describe("the text of an answer", () => {
  it("is shown as it comes", () => {
    const decoder = new StreamDecoder();
    const shown = [text("Hel"), text("lo"), ": wait\n\n", text(" you")].map((part) => decoder.push(bytesOf(part)));
    expect(shown).toEqual(["Hel", "lo", "", " you"]);
    expect(decoder.end()).toMatchObject({ text: "Hello you", model: "fake-1", finishReason: null });
    expect(decoder.push(bytesOf(text("late")))).toBe("");
  });

  it("holds a high surrogate back until the next piece joins it", () => {
    const decoder = new StreamDecoder();
    const escaped = (content: string) =>
      bytesOf(`data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`);
    expect(decoder.push(escaped(String.raw`a\ud83d`))).toBe("a");
    expect(decoder.push(escaped(""))).toBe("");
    expect(decoder.push(escaped(String.raw`\ude80b\ud83d`))).toBe("🚀b");
    expect(decoder.push(escaped("c"))).toBe("\ufffdc");
    expect(decoder.push(escaped(String.raw`\ude80`))).toBe("\ufffd");
    expect(decoder.push(escaped(String.raw`d\ud83d`))).toBe("d");
    expect(decoder.end().text).toBe("a🚀b\ufffdc\ufffdd\ufffd");
  });

  it("keeps NUL, and separators that only some parsers mind", () => {
    expect(decodeText(text("a\0b\u2028c")).answer.text).toBe("a\0b\u2028c");
  });

  it("may come in typed parts, with the thinking apart", () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "So." },
    ];
    const { answer, shown } = decodeText(event(delta({ content: parts })));
    expect(answer).toMatchObject({ text: "So.", reasoning: "hm" });
    expect(shown).toBe("So.");
  });

  it("is not doubled by a last chunk that repeats the whole message", () => {
    const whole = { choices: [{ index: 0, message: { content: "Hello", role: "assistant" }, finish_reason: "stop" }] };
    expect(decodeText(text("Hel") + text("lo") + event(whole)).answer).toMatchObject({
      text: "Hello",
      finishReason: "stop",
    });
    expect(decodeText(event(whole)).answer.text).toBe("Hello");
  });

  it("comes from the choice with index 0 alone", () => {
    const two = {
      choices: [
        { index: 1, delta: { content: "no" } },
        { index: 0, delta: { content: "yes" } },
      ],
    };
    const unnamed = { choices: [{ delta: { content: "!" } }, { delta: { content: "no" } }, null] };
    expect(decodeText(event(two) + event(unnamed)).answer.text).toBe("yes!");
  });

  it("is apart from reasoning, under either name, and from a refusal", () => {
    const stream = [
      { reasoning_content: "a" },
      { reasoning: "b" },
      { reasoning_content: "c", reasoning: "c" },
      { refusal: "I can't" },
    ];
    const { answer, shown } = decodeText(stream.map((value) => event(delta(value))).join(""));
    expect(answer).toMatchObject({ text: "", reasoning: "abc", refusal: "I can't" });
    expect(shown).toBe("");
  });
});

describe("usage", () => {
  it("is the highest level seen, not a sum, wherever it stands", () => {
    const usage = (input: number, output: number, more = {}) => ({
      prompt_tokens: input,
      completion_tokens: output,
      ...more,
    });
    const stream = [
      { ...delta({ content: "a" }), usage: usage(10, 1) },
      { ...delta({ content: "b" }), usage: usage(10, 2, { prompt_tokens_details: { cached_tokens: 4 } }) },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: usage(10, 3) }] },
      { choices: [], usage: usage(0, 0, { completion_tokens_details: { reasoning_tokens: 2 } }) },
      { choices: [], usage: null },
    ];
    expect(decodeText(stream.map(event).join("")).answer.usage).toEqual({
      inputTokens: 10,
      outputTokens: 3,
      cachedInputTokens: 4,
      reasoningTokens: 2,
    });
  });

  it("is null where nothing usable was sent", () => {
    const stream = event({ choices: [], usage: { prompt_tokens: -1, completion_tokens: "7" } });
    expect(decodeText(stream).answer.usage).toBeNull();
  });
});

describe("progress", () => {
  it.each([
    ["comments", ": hi\n\n"],
    ["keep-alives sent as data", "data: : keepalive\n\ndata:\n\ndata: ping\n\n"],
    ["unknown events", 'event: ping\ndata: {"type":"ping"}\n\n'],
    ["an empty delta", event(delta({ role: "assistant", content: "" }))],
    ["a chunk without choices", event({ id: "c1", service_tier: "default" })],
    ["an empty usage", event({ choices: [], usage: null })],
    [
      "a tool-call fragment that says nothing",
      event(delta({ tool_calls: [{ index: 0, function: { arguments: "" } }] })),
    ],
  ])("is not made by %s", (_what, stream) => {
    const decoder = new StreamDecoder();
    decoder.push(bytesOf(stream));
    expect(decoder.progressed).toBe(0);
    expect(decoder.done).toBe(false);
  });

  it.each([
    ["text", text("a")],
    ["reasoning", event(delta({ reasoning: "a" }))],
    ["a tool call", event(delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] }))],
    ["a finish reason", STOP],
    ["usage", event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ["bytes of a body that is no stream", '{"id":"x"'],
  ])("is made by %s", (_what, stream) => {
    const decoder = new StreamDecoder();
    decoder.push(bytesOf(stream));
    expect(decoder.progressed).toBeGreaterThan(0);
  });

  it("is made by text once, and by a repeated usage or finish reason once", () => {
    const usage = event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    expect(decodeText(text("a") + usage + usage + STOP + STOP).progressed).toBe(3);
  });
});

describe("the end", () => {
  it("is [DONE], after which nothing counts", () => {
    const decoder = new StreamDecoder();
    decoder.push(bytesOf(text("a") + STOP + DONE + text("b") + "data: garbage\n\n"));
    expect(decoder.done).toBe(true);
    expect(decoder.push(bytesOf(text("c")))).toBe("");
    expect(decoder.end()).toMatchObject({ text: "a", sawDone: true, failure: null });
    expect(decoder.end()).toBe(decoder.end());
  });

  it("may come without [DONE] and without a last line end", () => {
    expect(decodeText(text("a") + STOP.trimEnd()).answer).toMatchObject({
      finishReason: "stop",
      sawDone: false,
      failure: null,
    });
  });

  it("inside an event is a protocol error, even behind a finish reason", () => {
    const { answer } = decodeText(`${text("a")}${STOP}data: {"choices":[],"usa`);
    expect(answer.failure).toEqual({ kind: "protocol_error", detail: "event 3 is not JSON" });
  });
});

describe("a body that is no stream", () => {
  const completion = {
    id: "x",
    object: "chat.completion",
    model: "m-1",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Hi",
          reasoning_content: "hm",
          tool_calls: [
            { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
            { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, prompt_cache_hit_tokens: 1 },
  };

  it.each(["", "\ufeff", " \r\n\t"])("is understood as a whole completion (before it: %j)", (before) => {
    const body = before + JSON.stringify(completion, null, 1);
    const { answer, shown } = decode(bytewise(bytesOf(body)));
    expect(shown).toBe("");
    expect(answer).toEqual({
      text: "Hi",
      reasoning: "hm",
      refusal: "",
      toolCalls: [
        { providerId: "a", name: "f", arguments: "{}" },
        { providerId: "a", name: "f", arguments: "{}" },
      ],
      finishReason: "tool_calls",
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 1 },
      model: "m-1",
      failure: null,
      sawDone: false,
    });
  });

  it.each([
    ["cut", '{"id":"x","choices":[{'],
    ["followed by something", '{"id":"x"}{"id":"y"}'],
  ])("is a protocol error where it is %s", (_what, body) => {
    expect(decodeText(body).answer.failure?.kind).toBe("protocol_error");
  });

  it.each([
    ["HTML", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>"],
    ["nothing", ""],
    ["blanks", " \n\n"],
  ])("but %s has no finish reason, so it is no answer", (_what, body) => {
    expect(decodeText(body).answer).toMatchObject({ finishReason: null, text: "", toolCalls: [] });
  });
});
