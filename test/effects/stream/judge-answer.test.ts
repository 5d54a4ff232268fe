import { describe, expect, it } from "vitest";
import type { DecodedAnswer } from "../../../src/effects/stream/decoded-answer.ts";
import { judgeAnswer } from "../../../src/effects/stream/judge-answer.ts";

const CALL = { providerId: "a", name: "f", arguments: "{}" };
const ANSWER: DecodedAnswer = {
  text: "",
  reasoning: "",
  refusal: "",
  toolCalls: [],
  finishReason: "stop",
  usage: null,
  model: "m",
  failure: null,
  sawDone: true,
};

function judged(answer: Partial<DecodedAnswer>): string {
  const verdict = judgeAnswer({ ...ANSWER, ...answer });
  return verdict.kind === "failed" ? verdict.stop.code : verdict.kind;
}

describe("a model answer ends", () => {
  it.each<[verdict: string, what: string, answer: Partial<DecodedAnswer>]>([
    [
      "model_protocol_error",
      "broken",
      { failure: { kind: "protocol_error", detail: "x" }, text: "a", toolCalls: [CALL] },
    ],
    [
      "model_quota",
      "by an error",
      { failure: { kind: "vendor", code: 1008, message: "" }, finishReason: "stop", text: "a" },
    ],
    ["model_protocol_error", "without finish reason", { finishReason: null, text: "a", toolCalls: [CALL] }],
    ["model_protocol_error", "without finish reason but with [DONE]", { finishReason: null, sawDone: true }],
    ["model_error", "with the label of an error", { finishReason: "error", text: "a", toolCalls: [CALL] }],
    ["model_overloaded", "for want of resources", { finishReason: "insufficient_system_resource", text: "a" }],
    ["refused", "filtered, with calls", { finishReason: "content_filter", text: "a", toolCalls: [CALL] }],
    ["refused", "filtered, in another word", { finishReason: "sensitive" }],
    ["refused", "with a refusal, whatever the label", { refusal: "no", toolCalls: [CALL], finishReason: "tool_calls" }],
    ["truncated_calls", "cut in calls", { finishReason: "length", text: "a", toolCalls: [CALL] }],
    ["truncated_calls", "cut, in another word", { finishReason: "max_tokens", toolCalls: [CALL] }],
    ["plan", "with calls", { finishReason: "tool_calls", toolCalls: [CALL] }],
    ["plan", "with calls labelled stop", { finishReason: "stop", text: "Let me see.", toolCalls: [CALL] }],
    ["plan", "with calls under an unknown label", { finishReason: "eos", toolCalls: [CALL] }],
    ["truncated_text", "cut in text", { finishReason: "length", text: "a" }],
    ["final", "with text", { text: "a" }],
    ["final", "with text under an unknown label", { finishReason: "eos", text: "a" }],
    ["empty", "with nothing", {}],
    ["empty", "with blanks", { text: " \n" }],
    ["empty", "with nothing but reasoning", { reasoning: "hm" }],
    ["empty", "cut before any text", { finishReason: "length" }],
    ["empty", "promising calls without one", { finishReason: "tool_calls" }],
    ["empty", "promising calls without one, with text", { finishReason: "tool_calls", text: "Let me see." }],
  ])("as %s: %s", (verdict, _what, answer) => {
    expect(judged(answer)).toBe(verdict);
  });

  it("with text and usage, however it ends", () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    for (const finishReason of ["stop", "length", "content_filter", "error", null]) {
      expect(judgeAnswer({ ...ANSWER, text: "a", usage, finishReason })).toMatchObject({ text: "a", usage });
    }
  });

  it("and the refusal is in the model's own words where it has some", () => {
    expect(judgeAnswer({ ...ANSWER, refusal: "I won't." })).toMatchObject({ kind: "refused", detail: "I won't." });
    expect(judgeAnswer({ ...ANSWER, finishReason: "content_filter" })).toMatchObject({ detail: "content_filter" });
  });
});
