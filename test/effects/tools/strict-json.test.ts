import { expect, test } from "vitest";
import { ARGS_BYTES, parseArgs } from "../../../src/effects/strict-json.ts";

const detail = (text: string) => {
  const parsed = parseArgs(text);
  return parsed.ok ? parsed.value : parsed.detail;
};

test.each(["", "  ", "{}"])("%j is an empty object", (text) => {
  expect(parseArgs(text)).toEqual({ ok: true, value: {} });
});

test("complete JSON of an object comes out as it was written", () => {
  const text = '{"a":[1,-0.5,1e3,9007199254740991],"b":{"c":"}{\\"n\\":99999999999999999999"},"d":null}';
  expect(parseArgs(text)).toEqual({ ok: true, value: JSON.parse(text) });
});

test("cut, glued, doubly encoded and other JSON is refused, never repaired", () => {
  for (const text of ['{"amount_cents":12', '{"a":1}{"b":2}', "{'a':1}", '{"a":1,}', '```json\n{"a":1}\n```']) {
    expect(detail(text)).toBe("The arguments are not complete JSON.");
  }
  expect(detail('"{\\"order_id\\":\\"A-17\\"}"')).toContain("encoded once");
  for (const text of ["null", "[1]", "7", "true"]) expect(detail(text)).toBe("The arguments must be a JSON object.");
});

test.each(["9007199254740993", "-9007199254740993", "1e400", "12345678901234567890.0", "1e21"])(
  "the number %s, which cannot be kept exactly, is refused",
  (number) => expect(detail(`{"a":[${number}]}`)).toContain("too large"),
);

test("a member that is named twice is refused, at any depth and however it is escaped", () => {
  expect(detail('{"a":1,"b":{"x":1,"\\u0078":2}}')).toContain("twice");
  expect(parseArgs('{"a":{"x":1},"b":{"x":1},"c":["x","x"]}').ok).toBe(true);
});

test("__proto__ is refused as a member and kept as a value", () => {
  expect(detail('{"__proto__":{"admin":true}}')).toContain("__proto__");
  expect(detail('{"a":[{"\\u005f_proto__":1}]}')).toContain("__proto__");
  expect(parseArgs('{"a":"__proto__","constructor":1}').ok).toBe(true);
});

test("half a surrogate pair is refused in values and in names", () => {
  expect(detail('{"a":"x\\ud800"}')).toContain("surrogate");
  expect(detail('{"\\udc00":1}')).toContain("surrogate");
  expect(parseArgs('{"a":"\\ud83d\\ude00"}')).toEqual({ ok: true, value: { a: "😀" } });
});

test("depth, members and bytes are bounded", () => {
  expect(detail(`{"a":${"[".repeat(32)}${"]".repeat(32)}}`)).toContain("deeper");
  expect(detail(`{${Array.from({ length: 1_001 }, (_, i) => `"k${i}":1`).join(",")}}`)).toContain("more than 1000");
  expect(detail(`{"a":"${"x".repeat(ARGS_BYTES)}"}`)).toContain("bytes");
  expect(parseArgs(`{"a":"${"\\n".repeat(ARGS_BYTES / 2 - 8)}"}`).ok).toBe(true);
});
