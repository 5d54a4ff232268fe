import { expect, test } from "vitest";
import { ownDeadline } from "../../src/effects/own-deadline.ts";

test("an effect ends itself a moment before the core ends it, and is never cut to nothing for that", () => {
  expect(ownDeadline(1_000_000, 300_000)).toBe(999_750);
  expect(ownDeadline(1_000_000, 1_000)).toBe(999_900);
  expect(ownDeadline(1_000_000, 1)).toBe(1_000_000);
});
