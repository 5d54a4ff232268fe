import { describe, expect, it } from "vitest";
import type { DecodedAnswer } from "../../../src/effects/stream/decoded-answer.ts";
import { judgeAnswer } from "../../../src/effects/stream/judge-answer.ts";
import { openFixtures, type Expectation } from "../../support/stream-fixtures.ts";
import { bytewise, cutAt, decode } from "./streams.ts";

const library = openFixtures();

/** Outcome words of the sidecars: what judging makes of them, and with which stop where it fails. */
const OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  ok: ["final", "plan"],
  ok_or_argument_error: ["plan"],
  argument_error: ["plan"],
  truncated: ["truncated_calls"],
  empty: ["empty"],
  incomplete: ["failed model_protocol_error"],
  protocol_error: ["failed model_protocol_error"],
  // What is there of it; the time-out itself is the reader's.
  timeout: ["failed model_protocol_error"],
  retryable_error: ["failed model_overloaded"],
  error_after_output: ["failed model_error"],
  fatal_error: ["failed model_quota"],
};

function expectAnswer(answer: DecodedAnswer, expected: Expectation): void {
  expect(answer.finishReason).toBe(expected.finish_reason);
  const calls = answer.toolCalls.map(({ name, arguments: raw }) => ({ name, raw }));
  expect(calls).toEqual(
    expected.tool_calls.map(({ name, args, raw }) => ({ name, raw: raw ?? sameJson(calls, name, args) })),
  );
  const { usage } = expected;
  expect(answer.usage).toEqual(
    usage === null ? null : { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
  );
  const exact = expected.text ?? expected.text_well_formed ?? expected.text_prefix ?? answer.text;
  expect(answer.text).toBe(exact);
  for (const part of expected.text_contains ?? []) expect(answer.text).toContain(part);
}

/** The raw text among the calls that stands for these arguments; where there is none, the arguments to show in the difference. */
function sameJson(calls: readonly { name: string; raw: string }[], name: string, args: unknown): unknown {
  const wanted = JSON.stringify(args);
  const found = calls.find((call) => call.name === name && JSON.stringify(JSON.parse(call.raw || "{}")) === wanted);
  return found?.raw ?? args;
}

describe.each(library.names())("the decoder on %s", (name) => {
  const { bytes, split_at: splitAt, expect: expected } = library.get(name);

  it.each([
    ["as given", cutAt(bytes, splitAt)],
    ["in one write", [bytes]],
    ["one byte per write", bytewise(bytes)],
  ])("%s", (_framing, writes) => {
    const { answer, shown } = decode(writes);
    expectAnswer(answer, expected);
    expect(answer.text.startsWith(shown)).toBe(true);
    const verdict = judgeAnswer(answer);
    const outcome = verdict.kind === "failed" ? `failed ${verdict.stop.code}` : verdict.kind;
    expect(OUTCOMES[expected.outcome]).toContain(outcome);
    expect(decode(writes, { fastPath: false }).answer).toEqual(answer);
  });
});

describe("the fixtures", () => {
  it("keep the order of calls and every argument text", () => {
    const { answer } = decode([library.get("S05a").bytes]);
    expect(answer.toolCalls.map((call) => call.arguments)).toEqual(['{"order_id":"A-17"}', '{"order_id":"B-22"}']);
    expect(decode([library.get("S06").bytes]).answer.toolCalls[0]?.arguments).toBe("");
  });

  it("give the provider's ids as information", () => {
    const ids = (name: string) => decode([library.get(name).bytes]).answer.toolCalls.map((call) => call.providerId);
    expect(ids("S02a")).toEqual(["call_same", "call_same"]);
    expect(ids("S02b")).toEqual([null, null]);
    expect(ids("S03")).toEqual(["call_r1"]);
  });

  it("end the answer at [DONE], although the body goes on", () => {
    const { bytes } = library.get("S18");
    const { answer } = decode([bytes, new TextEncoder().encode('data: {"error":{"message":"late"}}\n\n')]);
    expect(answer).toMatchObject({ sawDone: true, failure: null, text: "Done" });
  });
});
