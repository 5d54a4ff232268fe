/**
 * The checker of the killed service, fed with what two conversations really looked like from outside while their service
 * was killed eight times, and with the same seen wrongly: each law must notice.
 */
import { expect, it } from "vitest";
import { check } from "../../rigs/crash/check/check.ts";
import type { SeedSeen } from "../../rigs/crash/seen.ts";
import { WRONG_ACKNOWLEDGED } from "./crash-check/acknowledged.ts";
import { WRONG_ACTS } from "./crash-check/acts.ts";
import { events, RECORDED, type Plain } from "./crash-check/recording.ts";
import { WRONG_RUNS_AND_COPIES } from "./crash-check/runs-and-copies.ts";
import { WRONG_WATCHING } from "./crash-check/watching.ts";

const WRONG = [...WRONG_ACKNOWLEDGED, ...WRONG_WATCHING, ...WRONG_ACTS, ...WRONG_RUNS_AND_COPIES];

it("finds nothing wrong with what was really seen, and counts the calls that were cut", () => {
  const { violations, windows } = check(JSON.parse(RECORDED) as SeedSeen);
  expect(violations).toEqual([]);
  expect(windows).toEqual({ killed: 4, provedOrUnknown: 4 });
});

it("takes a stop's word that nobody knows, also when the kill comes after it", () => {
  const seed = JSON.parse(RECORDED) as Plain<SeedSeen>;
  const ofCall = new Map(seed.conversations.flatMap((one) => unknownsOf(one).map(({ key, at }) => [key, at] as const)));
  const late = seed.kills.filter(({ key }) => key !== undefined && ofCall.has(key));
  expect(late.length).toBeGreaterThan(0);
  for (const kill of late) kill.at = (ofCall.get(kill.key ?? "") ?? 0) + 100;
  const { violations, windows } = check(seed as SeedSeen);
  expect(violations.filter(({ law }) => law === "X11")).toEqual([]);
  expect(windows).toEqual({ killed: 4, provedOrUnknown: 4 });
});

function unknownsOf(one: Plain<SeedSeen>["conversations"][number]): { key: string; at: number }[] {
  const keys = new Map(
    events(one, "tool_call.proposed").map(({ data }) => [data.toolCallId, data.idempotencyKey] as const),
  );
  return events(one, "tool_call.became_unknown").flatMap(({ at, data }) => {
    const key = keys.get(data.toolCallId);
    return key === undefined ? [] : [{ key, at: Date.parse(at) }];
  });
}

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
