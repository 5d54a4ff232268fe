/** Every dictionary of the service in one place: what one language can say, the other can say too. */
import { expect, test } from "vitest";
import { OPS_TEXTS } from "../../src/agents/opspilot/ops-texts.ts";
import { FLEET } from "../../src/agents/opspilot/fleet.ts";
import { LABELS } from "../../src/agents/planner/plan-tools.ts";
import { availableAgents } from "../../src/agents/registry.ts";
import { PROBLEM_TITLES } from "../../src/protocol/problem-titles.ts";
import { PROBLEMS } from "../../src/protocol/problems.ts";
import { TEXTS, type Lang } from "../../src/protocol/texts.ts";
import { COMMON } from "../../src/rehearsal/scripts/common.ts";
import { OPSPILOT } from "../../src/rehearsal/scripts/opspilot.ts";
import { PLANNER } from "../../src/rehearsal/scripts/planner.ts";

const DICTIONARIES: Readonly<Record<string, Readonly<Record<Lang, object>>>> = {
  TEXTS,
  PROBLEM_TITLES,
  LABELS,
  OPS_TEXTS,
  COMMON,
  PLANNER,
  OPSPILOT,
};
const HAN = /\p{Script=Han}/u;

/** Where each entry stands and what it is: functions by their parameters, texts by the parameters that they name. */
function entriesOf(dictionary: object, at = ""): string[] {
  return Object.entries(dictionary).flatMap(([key, value]: [string, unknown]) => {
    const here = `${at}/${key}`;
    if (typeof value === "function") return [`${here}: function of ${value.length}`];
    if (typeof value === "string") return [`${here}: text {${(value.match(/\{\w+\}/g) ?? []).toSorted().join()}}`];
    if (value instanceof RegExp) return [`${here}: pattern`];
    if (value instanceof Map) return [`${here}: map of ${[...value.values()].join()}`];
    return typeof value === "object" && value !== null ? entriesOf(value, here) : [`${here}: ${typeof value}`];
  });
}

const textsOf = (dictionary: object): string[] =>
  Object.values(dictionary).flatMap((value: unknown) => {
    if (typeof value === "string") return [value];
    const nested = typeof value === "object" && value !== null && !(value instanceof RegExp || value instanceof Map);
    return nested ? textsOf(value) : [];
  });

test.each(Object.entries(DICTIONARIES))("%s has the same entries in both languages", (_, { en, zh }) => {
  expect(entriesOf(zh).toSorted()).toEqual(entriesOf(en).toSorted());
  expect(entriesOf(en).length).toBeGreaterThan(3);
});

test.each(Object.entries(DICTIONARIES))("%s has no empty text, and none in the other language", (_, { en, zh }) => {
  expect(textsOf(en).filter((text) => text.trim() === "" || HAN.test(text))).toEqual([]);
  expect(textsOf(zh).filter((text) => !HAN.test(text))).toEqual([]);
});

test("every problem has a title in both", () => {
  for (const lang of ["en", "zh"] as const) {
    expect(Object.keys(PROBLEM_TITLES[lang])).toEqual(Object.keys(PROBLEMS));
    expect(new Set(Object.values(PROBLEM_TITLES[lang])).size).toBe(Object.keys(PROBLEMS).length);
  }
});

test("agents, their tools and their services are named in both", () => {
  const agents = [...availableAgents((name) => (name === "LAB_BACKEND_URL" ? "http://x" : undefined)).values()];
  expect(agents.map(({ name }) => name)).toEqual(["planner", "opspilot", "lab"]);
  const named = [
    ...agents.flatMap(({ title, description, tools }) => [title, description, ...tools.map((tool) => tool.title)]),
    ...FLEET.map(({ title }) => title),
  ];
  for (const { en, zh } of named) {
    expect(en).toMatch(/^[A-Z][\u0020-\u007e]*$/);
    expect(zh).toMatch(HAN);
  }
});

test("what an agent is told of the language differs with the user's", () => {
  for (const { prompt, name } of availableAgents(() => undefined).values()) {
    expect(prompt({ locale: "zh-CN" }), name).toMatch(HAN);
    expect(prompt({ locale: "en" }), name).not.toMatch(HAN);
  }
});
