import { describe, expect, it } from "vitest";
import { calls, decodeText, fragment, bytewise, bytesOf, decode } from "./streams.ts";

const A = '{"order_id":"A-17"}';
const B = '{"order_id":"B-22"}';

/** Name and argument text of each call, in order. */
function assembled(...fragments: unknown[][]): [string, string][] {
  const stream = calls(...fragments);
  const { answer } = decodeText(stream);
  expect(answer.failure).toBeNull();
  expect(decode(bytewise(bytesOf(stream))).answer).toEqual(answer);
  return answer.toolCalls.map((call) => [call.name, call.arguments]);
}

describe("tool-call fragments", () => {
  it.each<[what: string, fragments: unknown[][], expected: [string, string][]]>([
    [
      "complete calls without index in one chunk",
      [[fragment({ id: "a" }, "f", A), fragment({ id: "b" }, "f", B)]],
      [
        ["f", A],
        ["f", B],
      ],
    ],
    [
      "without index, with one id for all, different arguments",
      [[fragment({ id: "a" }, "f", A)], [fragment({ id: "a" }, "f", B)]],
      [
        ["f", A],
        ["f", B],
      ],
    ],
    [
      "without index and id, complete",
      [[fragment({}, "f", A)], [fragment({}, "f", B)]],
      [
        ["f", A],
        ["f", B],
      ],
    ],
    [
      "without index and id, in pieces",
      [
        [fragment({}, "f", "")],
        [fragment({}, undefined, '{"a"')],
        [fragment({}, undefined, ":1}")],
        [fragment({}, "g", "{}")],
      ],
      [
        ["f", '{"a":1}'],
        ["g", "{}"],
      ],
    ],
    [
      "all with index 0 but with ids of their own (Gemini)",
      [[fragment({ index: 0, id: "a" }, "f", A)], [fragment({ index: 0, id: "b" }, "f", B)]],
      [
        ["f", A],
        ["f", B],
      ],
    ],
    [
      "all with index 0, without arguments",
      [[fragment({ index: 0, id: "a" }, "ping", "")], [fragment({ index: 0, id: "b" }, "now", "")]],
      [
        ["ping", ""],
        ["now", ""],
      ],
    ],
    [
      "a new id with each fragment (vLLM of old)",
      [
        [fragment({ index: 0, id: "a" }, "f", "")],
        [fragment({ index: 0, id: "b" }, undefined, '{"a"')],
        [fragment({ index: 0, id: "c" }, undefined, ":1}")],
      ],
      [["f", '{"a":1}']],
    ],
    [
      "id, name and type repeated, without index",
      [[fragment({ id: "a" }, "f", "")], [fragment({ id: "a" }, "f", '{"a"')], [fragment({ id: "a" }, "f", ":1}")]],
      [["f", '{"a":1}']],
    ],
    [
      "the index only later",
      [
        [fragment({ id: "a" }, "f", "")],
        [fragment({ index: 0 }, undefined, '{"a"')],
        [fragment({ index: 0 }, undefined, ":1}")],
      ],
      [["f", '{"a":1}']],
    ],
    ["the id only later", [[fragment({}, "f", "")], [fragment({ id: "a" }, undefined, "{}")]], [["f", "{}"]]],
    [
      "an index as text",
      [[fragment({ index: "0" }, "f", '{"a"')], [fragment({ index: 0 }, undefined, ":1}")]],
      [["f", '{"a":1}']],
    ],
    [
      "gaps in the index, and a later one first",
      [[fragment({ index: 7 }, "g", B)], [fragment({ index: 2 }, "f", A)]],
      [
        ["f", A],
        ["g", B],
      ],
    ],
    [
      "a name in two parts",
      [[fragment({ index: 0, id: "a" }, "lookup_", "")], [fragment({ index: 0 }, "order", A)]],
      [["lookup_order", A]],
    ],
    [
      "an empty name, before and after",
      [[fragment({ index: 0, id: "a" }, "", "")], [fragment({ index: 0 }, "f", A)], [fragment({ index: 0 }, "", "")]],
      [["f", A]],
    ],
    [
      "the whole call once more at the end",
      [
        [fragment({ index: 0, id: "a" }, "f", A)],
        [fragment({ index: 0, id: "a" }, "f", A)],
        [fragment({ id: "a" }, "f", A)],
      ],
      [["f", A]],
    ],
    [
      "200 fragments",
      [
        [fragment({ index: 0, id: "a" }, "f", "")],
        ...Array.from({ length: 200 }, (_, i) => [
          fragment({ index: 0 }, undefined, i === 0 ? "[" : i === 199 ? "1]" : "1,"),
        ]),
      ],
      [["f", `[${"1,".repeat(198)}1]`]],
    ],
    ["an object in place of its text (Ollama)", [[fragment({ id: "a" }, "f", { order_id: "A-17" })]], [["f", A]]],
    ["null in place of arguments", [[fragment({ index: 0, id: "a" }, "f", null)]], [["f", ""]]],
    ["fragments that say nothing", [[{ index: 0 }], [fragment({ index: 1, id: "" }, "", "")]], []],
    ["only an id", [[{ index: 0, id: "a" }]], [["", ""]]],
    [
      "braces in strings",
      [[fragment({ index: 0, id: "a" }, "f", '{"a":"}\\"}')], [fragment({ index: 0, id: "b" }, "f", '"}')]],
      [["f", '{"a":"}\\"}"}']],
    ],
    [
      "names of inherited properties",
      [[fragment({ id: "a" }, "__proto__", "{}")], [fragment({ id: "b" }, "constructor", "{}")]],
      [
        ["__proto__", "{}"],
        ["constructor", "{}"],
      ],
    ],
  ])("%s", (_what, fragments, expected) => {
    expect(assembled(...fragments)).toEqual(expected);
  });

  it.each([
    ["the same call goes on", fragment({ index: 0, id: "a" }, undefined, B)],
    ["it is named again", fragment({ index: 0, id: "a" }, "f", B)],
    ["it is named again, without its id", fragment({ index: 0 }, "f", B)],
  ])("make one invalid call of two complete texts where %s", (_what, second) => {
    const twice = assembled([fragment({ index: 0, id: "a" }, "f", A)], [second]);
    expect(twice).toEqual([["f", A + B]]);
    expect(() => JSON.parse(A + B)).toThrow(SyntaxError);
  });

  it("join a surrogate pair that is divided over two fragments", () => {
    const half = [fragment({ index: 0, id: "a" }, "f", '{"a":"\ud83d')];
    expect(assembled(half, [fragment({ index: 0 }, undefined, '\ude80"}')])).toEqual([["f", '{"a":"🚀"}']]);
    expect(assembled(half)).toEqual([["f", '{"a":"\ufffd']]);
  });

  it.each([
    ["no list", { tool_calls: { 0: {} } }],
    ["an entry that is no object", { tool_calls: ["f"] }],
    ["a function that is none", { tool_calls: [{ index: 0, function: "f" }] }],
    ["arguments that are a number", { tool_calls: [fragment({ index: 0 }, "f", 5)] }],
    ["arguments that are a list", { tool_calls: [fragment({ index: 0 }, "f", [1])] }],
  ])("of an unknown shape (%s) fail the answer instead of leaving a hole", (_what, value) => {
    const chunk = { choices: [{ index: 0, delta: value }] };
    expect(decodeText(`data: ${JSON.stringify(chunk)}\n\n`).answer.failure?.kind).toBe("protocol_error");
  });
});
