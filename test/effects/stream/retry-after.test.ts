import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_RETRY_AFTER_MS, parseRetryAfter } from "../../../src/effects/stream/retry-after.ts";

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);

describe("Retry-After", () => {
  it.each([
    ["3", 3_000],
    [" 0 ", 0],
    ["1.5", 1_500],
    ["86400", MAX_RETRY_AFTER_MS],
    ["999999999999999", MAX_RETRY_AFTER_MS],
    ["Sun, 29 Nov 2026 12:00:03 GMT", 3_000],
    ["Sunday, 29-Nov-26 12:00:03 GMT", 3_000],
    ["Sun Nov 29 12:00:03 2026", 3_000],
    ["Tue Dec  1 12:00:00 2026", MAX_RETRY_AFTER_MS],
  ])("%j is a wait of %i ms", (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });

  it.each([
    null,
    undefined,
    "",
    "-5",
    "abc",
    "abc 5",
    "5 minutes",
    "1e3",
    "Infinity",
    "0x10",
    "2026-11-29T12:00:03Z",
    "Sun, 29 Nov 2026 12:00:03 CET",
    "Sun, 29 Foo 2026 12:00:03 GMT",
    "Sun, 29 Nov 2026 11:59:59 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
  ])("%j says nothing", (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });

  it("is within the bound or nothing, whatever is sent", () => {
    const header = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
    );
    fc.assert(
      fc.property(header, (text) => {
        const ms = parseRetryAfter(text, NOW) ?? 0;
        expect(Number.isInteger(ms) && ms >= 0 && ms <= MAX_RETRY_AFTER_MS).toBe(true);
      }),
    );
  });
});
