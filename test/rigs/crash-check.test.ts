/**
 * The checker of the killed service, fed with what two conversations really looked like from outside while their service
 * was killed eight times, and with the same seen wrongly: each law must notice.
 */
import { expect, it } from "vitest";
import { check } from "../../rigs/crash/check/check.ts";
import type { SeedSeen } from "../../rigs/crash/seen.ts";
import { WRONG_ACKNOWLEDGED } from "./crash-check/acknowledged.ts";
import { WRONG_ACTS } from "./crash-check/acts.ts";
import { RECORDED, type Plain } from "./crash-check/recording.ts";
import { WRONG_RUNS_AND_COPIES } from "./crash-check/runs-and-copies.ts";
import { WRONG_WATCHING } from "./crash-check/watching.ts";

const WRONG = [...WRONG_ACKNOWLEDGED, ...WRONG_WATCHING, ...WRONG_ACTS, ...WRONG_RUNS_AND_COPIES];

it("finds nothing wrong with what was really seen, and counts the calls that were cut", () => {
  const { violations, windows } = check(JSON.parse(RECORDED) as SeedSeen);
  expect(violations).toEqual([]);
  expect(windows).toEqual({ killed: 4, provedOrUnknown: 4 });
});

it.each(WRONG)("%s: notices that %s", (law, _what, wrongly) => {
  const seed = JSON.parse(RECORDED) as Plain<SeedSeen>;
  wrongly(seed);
  const laws = new Set(check(seed as SeedSeen).violations.map((violation) => violation.law));
  expect([...laws]).toContain(law);
});

it("has a planted violation for every law that it judges", () => {
  const laws = new Set(WRONG.map(([law]) => law));
  const judged = Array.from({ length: 21 }, (_, n) => `X${n + 1}`);
  expect(judged.filter((law) => !laws.has(law))).toEqual([]);
});
