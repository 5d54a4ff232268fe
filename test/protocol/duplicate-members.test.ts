import { expect, test } from "vitest";
import { namesTwice } from "../../src/protocol/duplicate-members.ts";

test.each([
  ['{"sub":"alice","sub":"mallory"}', true],
  ['{"a":{"tenant":"t1","x":1,"tenant":"t2"}}', true],
  ['{"a":[{"b":1},{"c":1,"c":2}]}', true],
  // The same name, written in two ways.
  [String.raw`{"sub":"alice","s\u0075b":"mallory"}`, true],
  ['{"a":{},"b":[],"a":1}', true],
  ['{"__proto__":1,"__proto__":2}', true],
  ['{"sub":"alice","aud":["sub","sub"],"act":{"sub":"bob"}}', false],
  [String.raw`{"a":"\"a\":\"a\":","b":"{\"b\":1,\"b\":2}"}`, false],
  ['[{"a":1},{"a":1}]', false],
  ['"sub"', false],
  ["{}", false],
])("%s: %s", (json, twice) => {
  expect(namesTwice(json)).toBe(twice);
});
