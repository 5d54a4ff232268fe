import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundedText, cutText, utf8Bytes } from "../../src/protocol/text.ts";
import { epochOf, isoOf } from "../../src/protocol/time.ts";

const FIRST = Date.parse("0001-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
/** Any UTF-16, lone surrogates included. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom("\ud83d", "\ude00", "a", "é", "漢", "😀")).map((parts) => parts.join("")),
);

describe("Time, without Date", () => {
  test("writes what Date writes, in every year from 1 to 9999", () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (ms) => isoOf(ms) === new Date(ms).toISOString()),
      { numRuns: 2_000 },
    );
  });

  test("reads what it wrote", () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (ms) => epochOf(isoOf(ms)) === ms),
      { numRuns: 2_000 },
    );
  });

  test.each([
    FIRST,
    LAST,
    0,
    -1,
    ...["2000-02-29", "1900-02-28", "2100-03-01", "2026-12-31"].map((day) => Date.parse(day)),
  ])("at %d", (ms) => {
    expect(isoOf(ms)).toBe(new Date(ms).toISOString());
    expect(epochOf(isoOf(ms))).toBe(ms);
  });

  test.each(["", "2026-11-01", "2026-11-01T08:00:00Z", "2026-11-01T08:00:00.000+01:00", "2026-11-01T08:00:00.000Z "])(
    "%j is not of its writing",
    (iso) => {
      expect(epochOf(iso)).toBeNaN();
    },
  );
});

describe("Text", () => {
  test("is measured in UTF-8 as TextEncoder writes it, lone surrogates included", () => {
    fc.assert(
      fc.property(text, (value) => utf8Bytes(value) === new TextEncoder().encode(value).length),
      { numRuns: 2_000 },
    );
  });

  test("is cut to a bound without splitting a character, and is otherwise its own beginning", () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 40 }), (value, chars) => {
        const cut = cutText(value, chars);
        const whole = !value.isWellFormed() || cut.isWellFormed();
        return whole && value.startsWith(cut) && cut.length <= chars && cut.length >= Math.min(value.length, chars) - 1;
      }),
      { numRuns: 2_000 },
    );
    expect(cutText("😀", 1)).toBe("");
    expect(cutText("a😀", 3)).toBe("a😀");
  });

  test("from outside is well formed and bounded in bytes, not in characters", () => {
    const schema = boundedText(4);
    expect(["", "abcd", "é", "😀"].map((value) => schema.safeParse(value).success)).toEqual([true, true, true, true]);
    expect(["abcde", "漢字", "\ud83d"].map((value) => schema.safeParse(value).success)).toEqual([false, false, false]);
  });
});
