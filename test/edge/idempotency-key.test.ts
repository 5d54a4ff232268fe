import { describe, expect, it } from "vitest";
import { readIdempotencyKey } from "../../src/edge/idempotency-key.ts";

const read = (value: string, use: "required" | "accepted" | "none" = "required") =>
  readIdempotencyKey(new Headers({ "idempotency-key": value }), use);

describe("Idempotency-Key", () => {
  it.each([
    ["abc", "abc"],
    ['"abc"', "abc"],
    ["a,b", "a,b"],
    ['a"b', 'a"b'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ["~!@#$%^&*()", "~!@#$%^&*()"],
    ["x".repeat(255), "x".repeat(255)],
    [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ])("%s is the key %s", (header, key) => {
    expect(read(header)).toEqual({ ok: true, value: key });
  });

  it.each([
    ["empty quotes", '""'],
    ["nothing", ""],
    ["a quote that does not end", '"abc'],
    ["a quote inside a quote", '"a"b"'],
    ["a space", "a b"],
    ["a space in quotes", '"a b"'],
    ["beyond ASCII", "caf\u00e9"],
    ["256 characters", "x".repeat(256)],
    ["a lone backslash in quotes", String.raw`"a\b"`],
  ])("%s is no key", (_, header) => {
    expect(read(header)).toMatchObject({ ok: false, rejection: { code: "invalid_request" } });
  });

  it("sent twice is no key, bare or quoted", () => {
    for (const key of ["a", '"a"']) {
      const headers = new Headers();
      headers.append("idempotency-key", key);
      headers.append("idempotency-key", key);
      expect(readIdempotencyKey(headers, "required")).toMatchObject({ ok: false });
    }
  });

  it("is asked for where it is required, and only there", () => {
    const none = new Headers();
    expect(readIdempotencyKey(none, "required")).toMatchObject({ rejection: { code: "idempotency_key_missing" } });
    expect(readIdempotencyKey(none, "accepted")).toEqual({ ok: true, value: undefined });
    expect(read("not a key", "none")).toEqual({ ok: true, value: undefined });
  });
});
