import { expect, test } from "vitest";
import { cleanSentence, scrubSecrets } from "../../../src/effects/tool-scrub.ts";

test.each([
  ["401 for Bearer abcdef0123456789", "abcdef0123456789"],
  ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln is bad", "eyJzdWIiOiJ4In0"],
  ["key sk-proj-abcdefgh12345678 is wrong", "abcdefgh12345678"], // not-a-secret
  ["https://u:hunter22@db.local/x failed", "hunter22"],
  ['{"api_key":"abc-123-def","ok":true}', "abc-123-def"],
  ["password=hunter22; retry", "hunter22"],
])("%s loses its secret and keeps the rest", (text, secret) => {
  const clean = scrubSecrets(text);
  expect(clean).not.toContain(secret);
  expect(clean).toContain("***");
});

test("ordinary sentences stay as they are", () => {
  for (const text of [
    "No token was given.",
    "The basic plan is full.",
    "Order A-17 was not found.",
    "Bearer authentication is missing.",
    "密码不正确。",
  ]) {
    expect(cleanSentence(text, 100)).toBe(text);
  }
});

test("a sentence is one line without a stack, bounded, and loses what this call knows as secret", () => {
  const text = "It failed\u0000 for s3cr3t-value:\n  second line\n    at run (/srv/app.js:1:2)\n    at next (x.js:3:4)";
  expect(cleanSentence(text, 200, ["s3cr3t-value"])).toBe("It failed for ***: second line");
  expect(cleanSentence("😀".repeat(100), 51)).toBe(`${"😀".repeat(25)}…`);
  expect([undefined, 7, {}, null].map((value) => cleanSentence(value, 10))).toEqual(["", "", "", ""]);
});
