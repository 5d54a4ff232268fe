import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { judgeAnswer } from "../../../src/effects/stream/judge-answer.ts";
import { openFixtures } from "../../support/stream-fixtures.ts";
import { dialect, meant, runs, sayings, write } from "./generated.ts";
import { bytesOf, bytewise, cutAt, decode, decodeText, delta, event } from "./streams.ts";

vi.setConfig({ testTimeout: runs(60_000) });

const library = openFixtures();
const places = fc.array(fc.nat(20_000), { maxLength: 40 });

describe("any division into reads gives the same answer", () => {
  it.each(library.names())("of %s", (name) => {
    const { bytes } = library.get(name);
    const whole = decode([bytes]);
    fc.assert(
      fc.property(places, (cuts) => {
        expect(decode(cutAt(bytes, cuts))).toEqual(whole);
      }),
      { numRuns: runs(60) },
    );
  });

  it("of generated streams, which say what was meant, with and without the fast path", () => {
    fc.assert(
      fc.property(sayings, dialect, places, (said, how, cuts) => {
        const bytes = bytesOf(write(said, how));
        const { answer, shown, progressed } = decode([bytes]);
        const { text, reasoning, calls } = meant(said);
        expect(answer).toMatchObject({ text, reasoning, finishReason: "stop", failure: null, sawDone: true });
        expect(answer.toolCalls.map((call) => call.arguments)).toEqual(calls);
        expect(text.startsWith(shown)).toBe(true);
        for (const writes of [cutAt(bytes, cuts), bytewise(bytes)]) {
          for (const fastPath of [true, false]) {
            expect(decode(writes, { fastPath })).toEqual({ answer, shown, progressed });
          }
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it("of generated streams with damaged bytes", () => {
    const damage = fc.array(fc.tuple(fc.nat(20_000), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sayings, dialect, places, damage, (said, how, cuts, damages) => {
        const bytes = bytesOf(write(said, how));
        for (const [at, byte] of damages) bytes[at % bytes.length] = byte;
        const whole = decode([bytes]);
        expect(decode(cutAt(bytes, cuts))).toEqual(whole);
        expect(decode(bytewise(bytes), { fastPath: false })).toEqual(whole);
      }),
      { numRuns: runs(400) },
    );
  });
});

describe("the fast path never differs from parsing", () => {
  /** Values that try to be taken for a plain delta, or to make one mean something else. */
  const part = fc.constantFrom(
    '"content":"a"',
    '"content":"b c"',
    '"content": "d"',
    '"content":""',
    '"content":"§mark§"',
    '"content":null',
    '"content":"a\\n"',
    '"content":"\\u00a7mark\\u00a7"',
    '"reasoning_content":"r"',
    '"role":"assistant"',
    '"refusal":null',
    '"refusal":"no"',
    '"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]',
    '"__proto__":{"content":"p"}',
    '"x":{"content":"a"}',
    '"x":"\\"content\\":\\"a\\""',
  );
  const outside = fc.constantFrom(
    "",
    '"content":"a",',
    '"usage":{"prompt_tokens":3,"completion_tokens":1},',
    '"usage":null,',
    '"error":null,',
    '"error":{"message":"content"},',
    '"model":"m-2",',
    '"x":[{"delta":{"content":"a"}}],',
  );
  const choice = fc.constantFrom(
    "",
    ',"finish_reason":null',
    ',"finish_reason":"stop"',
    ',"index":0',
    ',"index":1',
    ',"message":{"content":"whole"}',
    ',"logprobs":{"content":"a"}',
    ',"delta":{"content":"z"}',
  );
  const line = fc
    .tuple(outside, fc.array(part, { maxLength: 3 }), choice)
    .map(([before, parts, after]) => `data: {${before}"choices":[{"delta":{${parts.join(",")}}${after}}]}\n\n`);
  /** Each line several times over, since a shape is learned from repetition; then its text varied. */
  const repeated = fc
    .tuple(
      line,
      fc.array(fc.constantFrom("a", "zzz", "", "\ud83d\ude80", "q", "§mark§", "data: x"), {
        minLength: 2,
        maxLength: 5,
      }),
    )
    .map(([one, texts]) => texts.map((text) => one.replace('"content":"a"', () => `"content":"${text}"`)).join(""));

  it("on lines that look alike", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(line, repeated), { maxLength: 12 }), (lines) => {
        const bytes = bytesOf(lines.join(""));
        expect(decode([bytes])).toEqual(decode([bytes], { fastPath: false }));
        expect(decode(bytewise(bytes))).toEqual(decode([bytes], { fastPath: false }));
      }),
      { numRuns: runs(800) },
    );
  });

  /** `@` stands for a text that differs from line to line. */
  it.each([
    [
      "another member named content, with the mark in both",
      '{"x":{"content":"@"},"choices":[{"delta":{"content":"§mark§"}}]}',
    ],
    ["another member named content, behind", '{"choices":[{"delta":{"content":"a"}}],"x":{"content":"@"}}'],
    ["two contents, of which the last counts", '{"choices":[{"delta":{"content":"@","content":"a"}}]}'],
    ["an escaped key", '{"choices":[{"delta":{"content":"@","\\u0063ontent":"a"}}]}'],
    ["reasoning besides", '{"choices":[{"delta":{"reasoning":"r","content":"@"}}]}'],
    ["a refusal besides", '{"choices":[{"delta":{"refusal":"r","content":"@"}}]}'],
    [
      "a tool call besides",
      '{"choices":[{"delta":{"content":"@","tool_calls":[{"index":0,"function":{"name":"f","arguments":"1"}}]}}]}',
    ],
    ["a message besides", '{"choices":[{"delta":{"content":"@"},"message":{"content":"w","refusal":"r"}}]}'],
    ["two choices", '{"choices":[{"index":0,"delta":{"content":"@"}},{"index":0,"delta":{"content":"a"}}]}'],
    ["a choice that does not count", '{"choices":[{"index":1,"delta":{"content":"@"}}]}'],
    ["the text in parts", '{"choices":[{"delta":{"content":[{"type":"text","text":"@"}]}}]}'],
    ["the mark, escaped", '{"choices":[{"delta":{"content":"@","x":"\\u00a7mark\\u00a7"}}]}'],
    ["overlapping ends", '{"choices":[{"delta":{"content":"@"}}],"aa":"aa"}'],
  ])("on %s", (_what, line) => {
    for (const texts of [
      ["a", "b", "c", "d"],
      ["§mark§", "§mark§", "x", "y"],
      ["a", "a", "a", "§mark§"],
      ["a", "b", "", "c"],
    ]) {
      const bytes = bytesOf(texts.map((one) => `data: ${line.replace("@", () => one)}\n\n`).join(""));
      expect(decode([bytes])).toEqual(decode([bytes], { fastPath: false }));
    }
  });

  it("on an event that looks like a delta but is named error", () => {
    const deltas = ["a", "b", "c"].map((content) => event(delta({ content }))).join("");
    const { answer } = decodeText(`${deltas}event: error\n${event(delta({ content: "d" }))}`);
    expect(answer).toMatchObject({ text: "abc", failure: { kind: "error_object" } });
  });

  it("on text with any characters inside one learned shape", () => {
    const raw = fc.string({
      unit: fc.oneof(
        fc.constantFrom('"', "\\", "\n", "\r", "\0", "\t", "}", ","),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
      ),
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(raw, { maxLength: 8 }), (texts) => {
        const learned = event(delta({ content: "one" })) + event(delta({ content: "two" }));
        // Put in as it is, quotes and all: half of these lines are no JSON.
        const unsafe = texts.map((text) => event(delta({ content: "@" })).replace("@", () => text)).join("");
        const bytes = bytesOf(learned + unsafe);
        expect(decode([bytes])).toEqual(decode([bytes], { fastPath: false }));
      }),
      { numRuns: runs(600) },
    );
  });
});

describe("whatever the bytes", () => {
  const token = fc.constantFrom(
    "data: ",
    "data:",
    "\n",
    "\r",
    "\n\n",
    "{",
    "}",
    "[",
    "]",
    '"',
    ":",
    ",",
    '"choices"',
    '"delta"',
    '"content"',
    '"index":0',
    '"tool_calls"',
    '"function"',
    '"arguments"',
    '"error"',
    '"base_resp"',
    '"status_code"',
    '"message"',
    '"usage"',
    '"toString"',
    '"valueOf"',
    "null",
    "true",
    "1e999",
    "-0",
    '"a"',
    "[DONE]",
    "\ufeff",
    "event: error\n",
    '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
    '{"choices":[{"index":{"toString":1,"valueOf":1},"delta":{}}]}',
    '{"base_resp":{"status_code":{"valueOf":1}}}',
    '{"error":{"code":{"toString":null},"type":[],"message":{}}}',
    '{"choices":[{"delta":{"tool_calls":[{"id":{},"function":{"name":[],"arguments":{}}}]}}]}',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(token, { maxLength: 40 }).map((tokens) => bytesOf(tokens.join(""))),
    fc
      .array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 5 })
      .map((values) => bytesOf(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""))),
  );

  it("nothing throws, the text is well-formed, and division does not matter", () => {
    fc.assert(
      fc.property(bytes, places, (given, cuts) => {
        const whole = decode([given]);
        expect(decode(cutAt(given, cuts))).toEqual(whole);
        const { answer } = whole;
        const strings = [answer.text, answer.reasoning, answer.refusal, answer.model ?? "", answer.finishReason ?? ""];
        for (const call of answer.toolCalls) strings.push(call.name, call.arguments, call.providerId ?? "");
        expect(strings.every((text) => text.isWellFormed())).toBe(true);
        expect(judgeAnswer(answer).text).toBe(answer.text);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("a stream that is cut anywhere before its finish reason never becomes a plan", () => {
    const { bytes: proposal } = library.get("common_propose_two_transfers");
    const finish = Buffer.from(proposal).indexOf('"finish_reason":"tool_calls"');
    for (let length = 0; length <= finish + 20; length++) {
      expect(judgeAnswer(decode([proposal.subarray(0, length)]).answer).kind).toBe("failed");
    }
  });

  it.each([
    ["nesting 200 000 deep", `data: {"choices":${"[".repeat(200_000)}\n\n`],
    [
      "arguments nested 60 000 deep",
      `data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}}}]}}]}\n\n`,
    ],
    ["a single line of 10 MB", `data: ${"x".repeat(10_000_000)}\n\n`],
  ])("%s is a protocol error", (_what, stream) => {
    expect(decodeText(stream).answer.failure?.kind).toBe("protocol_error");
  });
});
