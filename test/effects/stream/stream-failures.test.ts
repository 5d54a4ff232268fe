import { describe, expect, it } from "vitest";
import { AnswerAccumulator } from "../../../src/effects/stream/answer-accumulator.ts";
import { DEFAULT_STREAM_LIMITS } from "../../../src/effects/stream/stream-decoder.ts";
import { DONE, bytesOf, bytewise, decode, decodeText, delta, event, text } from "./streams.ts";

const STOP = event(delta({}, "stop"));

describe("a failure inside the stream", () => {
  it.each<[what: string, chunk: unknown, failure: object]>([
    [
      "an error object",
      { error: { message: "m", type: "t", code: 502 } },
      { kind: "error_object", code: 502, type: "t", message: "m" },
    ],
    [
      "an error as text",
      { error: "model not found" },
      { kind: "error_object", code: null, type: null, message: "model not found" },
    ],
    [
      "one in a choice",
      { choices: [{ index: 0, error: { code: 429, message: "m" } }] },
      { kind: "error_object", code: 429 },
    ],
    [
      "vLLM's",
      { object: "error", message: "m", type: "BadRequestError", code: 400 },
      { code: 400, type: "BadRequestError" },
    ],
    ["DashScope's", { code: "Arrearage", message: "m", request_id: "r" }, { kind: "error_object", code: "Arrearage" }],
    [
      "Google's",
      { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "m" } },
      { code: 429, type: "RESOURCE_EXHAUSTED" },
    ],
    ["flagged input", { error: { code: 403, message: "m", metadata: { reasons: ["x"] } } }, { type: "content_filter" }],
    ["MiniMax's", { base_resp: { status_code: 2064, status_msg: "m" } }, { kind: "vendor", code: 2064, message: "m" }],
  ])("is %s", (_what, chunk, failure) => {
    const { answer, shown } = decodeText(text("a") + event(chunk) + text("b") + STOP + DONE);
    expect(answer).toMatchObject({ text: "a", failure, finishReason: null });
    expect(shown).toBe("a");
  });

  it("is any event that is named error", () => {
    const { answer } = decodeText('event: error\ndata: {"message":"m","code":"x"}\n\n');
    expect(answer.failure).toEqual({ kind: "error_object", code: "x", type: null, message: "m" });
  });

  it.each([{ error: null }, { error: "" }, { base_resp: { status_code: 0 } }, { base_resp: null }, { message: "m" }])(
    "is not %j",
    (chunk) => {
      expect(decodeText(event({ ...delta({ content: "a" }), ...chunk }) + STOP).answer).toMatchObject({
        failure: null,
        text: "a",
      });
    },
  );

  it.each([
    ["broken JSON", "data: {\n\n"],
    [
      "two events glued on one line",
      `data: {"choices":[{"index":0,"delta":{"content":"lodata: ${JSON.stringify(delta({ content: "x" }))}\n\n`,
    ],
    ["a number", "data: 5\n\n"],
    ["a list", "data: []\n\n"],
    ["choices that are no list", event({ choices: "x" })],
    ["a choice that is no object", event({ choices: ["x"] })],
    ["a delta that is no object", event({ choices: [{ delta: "x" }] })],
    ["content that is a number", event(delta({ content: 5 }))],
    ["a part of unknown type", event(delta({ content: [{ type: "audio" }] }))],
    ["a finish reason that is no text", event({ choices: [{ finish_reason: 1 }] })],
  ])("is a protocol error at %s", (_what, bad) => {
    const { answer } = decodeText(text("a") + bad + text("b") + STOP + DONE);
    expect(answer).toMatchObject({ text: "a", failure: { kind: "protocol_error" }, sawDone: false });
  });
});

describe("a bound", () => {
  const limits = { ...DEFAULT_STREAM_LIMITS, answerChars: 10, lineChars: 400, streamBytes: 2_000, calls: 2 };
  const call = (index: number, args = "") => ({ index, id: `c${index}`, function: { name: "f", arguments: args } });

  it.each([
    ["the text", text("12345") + text("678901"), "12345"],
    ["reasoning and text together", event(delta({ reasoning: "123456" })) + text("12345"), ""],
    ["arguments", event(delta({ tool_calls: [call(0, "1234567890")] })), ""],
    ["calls", event(delta({ tool_calls: [call(0), call(1), call(2)] })), ""],
    ["one line", `: ${"x".repeat(400)}\n\n`, ""],
    ["one event", "data: 1\n".repeat(300), ""],
    ["the stream", `${text("a")}${": x\n\n".repeat(400)}${text("b")}`, "a"],
    ["the stream, by a body that is none", `{"a":"${"x".repeat(2_000)}"}`, ""],
  ])("on %s ends in a protocol error, in any framing", (_what, stream, shown) => {
    const whole = decodeText(stream, { limits });
    expect(whole.answer).toMatchObject({ text: shown, failure: { kind: "protocol_error" } });
    expect(decode(bytewise(bytesOf(stream)), { limits }).answer).toEqual(whole.answer);
  });

  it("does not count what comes after the end", () => {
    const stream = text("a") + STOP + DONE + ": x\n\n".repeat(400);
    expect(decodeText(stream, { limits }).answer).toMatchObject({ text: "a", failure: null, sawDone: true });
  });

  it("that is reached but not passed is fine", () => {
    expect(decodeText(text("1234567890") + STOP, { limits }).answer).toMatchObject({
      text: "1234567890",
      failure: null,
    });
  });
});

describe("an answer that has failed", () => {
  it("does not change any more", () => {
    const answer = new AnswerAccumulator({ answerChars: 100, calls: 1 });
    answer.fold(delta({ content: "a" }));
    answer.protocolError("the first");
    const failed = answer.answer(false);
    const more = { ...delta({ content: "b" }, "stop"), usage: { prompt_tokens: 1, completion_tokens: 1 } };
    expect([answer.fold(more), answer.foldText("c")]).toEqual(["", ""]);
    answer.protocolError("the second");
    expect(answer.answer(false)).toEqual(failed);
  });
});
