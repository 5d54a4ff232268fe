/** Failures that repeat: each rule stops its loop, and none of them cuts what a working model needs. */
import { describe, expect, test } from "vitest";
import type { PreparedReady } from "../../src/run/inputs.ts";
import { Driver, type Setting } from "./driver.ts";
import { callOf, failedAnswer, okAnswer, refusedCall, CONVERSATION, ERROR } from "./kit.ts";

const ALL = { maxToolErrors: 100, maxSteps: 100 };
const call = (tool: string, args: string): PreparedReady => callOf(tool, "read", { fingerprint: `${tool}:${args}` });

function running(setting: Setting): Driver {
  const driver = new Driver(setting);
  driver.start();
  return driver;
}

interface Played {
  readonly driver: Driver;
  readonly steps: number;
}
type Move = readonly [tool: string, args: string, outcome: "ok" | string];

/** Plays moves, one call a step, until they are used up or the run has ended. A text that is not "ok" is a code. */
function play(moves: readonly Move[], limits: NonNullable<Setting["limits"]> = ALL): Played {
  const driver = running({ limits });
  let n = 0;
  for (const [tool, args, outcome] of moves) {
    if (driver.state.active === null) break;
    n += 1;
    driver.plan(call(tool, args));
    driver.tool(n, (id, name) =>
      outcome === "ok" ? okAnswer(id, name) : failedAnswer(id, name, "definitive", { ...ERROR, code: outcome }),
    );
  }
  return { driver, steps: n };
}

const tripOf = ({ driver }: Played) => driver.all("limit.tripped")[0]?.data;
const repeat = (moves: readonly Move[], times: number): Move[] => Array.from({ length: times }, () => moves).flat();
const jitter = (tool: string, times: number, code: string): Move[] =>
  Array.from({ length: times }, (_, n): Move => [tool, `try-${n}`, code]);

describe("The same call that fails in the same way", () => {
  test("is stopped the second time, whatever happened in between", () => {
    const played = play([
      ["format", "x", "bad"],
      ["look", "a", "ok"],
      ["format", "x", "bad"],
      ["format", "x", "bad"],
    ]);
    expect(played.steps).toBe(3);
    expect(tripOf(played)).toEqual({
      limit: "maxSameFailure",
      figure: 2,
      bound: 2,
      code: "tool_circuit_open",
      ask: false,
      pattern: "same_call",
      tool: "format",
    });
  });

  test("is not cut when it fails in another way, or works the second time", () => {
    const played = play([
      ["format", "x", "busy"],
      ["format", "x", "bad"],
      ["format", "y", "busy"],
      ["format", "y", "ok"],
    ]);
    expect(played.steps).toBe(4);
    expect(tripOf(played)).toBeUndefined();
  });

  test("counts refused arguments too, by call and code", () => {
    const driver = running({ limits: ALL });
    driver.plan(refusedCall("format", `${CONVERSATION}.r1.t1`)).plan(refusedCall("format", `${CONVERSATION}.r1.t2`));
    expect(driver.event("limit.tripped").data).toMatchObject({ pattern: "same_call", tool: "format", figure: 2 });
  });
});

describe("Back and forth between two tools", () => {
  const loop: Move[] = [
    ["ocr", "picture", "ok"],
    ["format", "", "bad"],
  ];
  const jittered = (times: number): Move[] =>
    Array.from({ length: times }, (_, n): Move[] => [
      ["ocr", "picture", "ok"],
      ["format", `text ${n}`, "bad"],
    ]).flat();

  test("is stopped at the second error, although no two failing calls are the same", () => {
    const played = play(jittered(10));
    expect(played.steps).toBe(4);
    expect(tripOf(played)).toMatchObject({ pattern: "ping_pong", tool: "format", figure: 2, bound: 2 });
  });

  test("is stopped where both fail, as soon as one of them has failed again", () => {
    const played = play([
      ["a", "1", "bad"],
      ["b", "1", "bad"],
      ["a", "2", "bad"],
      ["b", "2", "bad"],
    ]);
    expect(played.steps).toBe(3);
    expect(tripOf(played)).toMatchObject({ pattern: "ping_pong", tool: "a" });
  });

  test("is not cut while the other tool finds something new each time", () => {
    const moves = Array.from({ length: 8 }, (_, n): Move[] => [
      ["ocr", `page ${n}`, "ok"],
      ["format", `text ${n}`, "bad"],
    ]).flat();
    expect(play(moves).steps).toBe(16);
    expect(tripOf(play(moves))).toBeUndefined();
  });

  test("is not cut for one detour that helped", () => {
    const played = play([...loop, ["ocr", "picture, upright", "ok"], ["format", "upright", "ok"]]);
    expect(tripOf(played)).toBeUndefined();
  });
});

describe("Other arguments, the same failure, and no progress", () => {
  test("is stopped at the third try", () => {
    const played = play(jitter("format", 20, "bad"));
    expect(played.steps).toBe(3);
    expect(tripOf(played)).toMatchObject({ limit: "maxSameFailure", pattern: "no_progress", figure: 3, bound: 2 });
  });

  test("is not cut when the arguments are put right at the second or third try", () => {
    const played = play([
      ...jitter("format", 2, "bad"),
      ["format", "right", "ok"],
      ["format", "a", "bad"],
      ["format", "b", "bad"],
    ]);
    expect(played.steps).toBe(5);
    expect(tripOf(played)).toBeUndefined();
  });

  test("is not cut when each try fails at something else", () => {
    const codes = ["no_title", "no_date", "too_long", "no_owner"];
    const played = play(codes.map((code, n): Move => ["format", `try-${n}`, code]));
    expect(played.steps).toBe(4);
    expect(tripOf(played)).toBeUndefined();
  });

  test("takes calls side by side for one try", () => {
    const driver = running({ limits: ALL });
    const many = ["a", "b", "c", "d", "e"].map((args) => call("look", args));
    driver.plan(...many);
    many.forEach((_, n) => driver.tool(n + 1, failedAnswer));
    expect(driver.all("limit.tripped")).toEqual([]);
    expect(driver.run).toMatchObject({ toolErrors: 5, streaks: [{ tool: "look", steps: 1 }] });
  });

  test("is counted by maxToolErrors first where that is the smaller", () => {
    const played = play(jitter("format", 20, "bad"), { maxToolErrors: 2 });
    expect(played.steps).toBe(2);
    expect(tripOf(played)).toMatchObject({ limit: "maxToolErrors", figure: 2 });
  });
});

test("More of the same may be granted, and then it trips later", () => {
  const driver = running({ limits: ALL, policy: { onLimit: "ask" } });
  for (const n of [1, 2, 3]) driver.plan(call("format", `try-${n}`)).tool(n, failedAnswer);
  expect(driver.event("limit.tripped").data).toMatchObject({ limit: "maxSameFailure", ask: true });
  driver.continue("maxSameFailure", "continue");
  expect(driver.run.limits.maxSameFailure).toBe(5);
  for (const n of [4, 5]) driver.plan(call("format", `try-${n}`)).tool(n, failedAnswer);
  expect(driver.event("step.started").data.n).toBe(6);
  driver.plan(call("format", "try-6")).tool(6, failedAnswer);
  expect(driver.event("limit.tripped").data).toMatchObject({ pattern: "no_progress", figure: 6, bound: 5 });
});

test("A loop of any kind ends by maxSteps at the latest", () => {
  const moves = repeat(
    [
      ["a", "1", "ok"],
      ["b", "1", "ok"],
    ],
    20,
  );
  const played = play(moves, { maxSteps: 7 });
  expect(tripOf(played)).toMatchObject({ limit: "maxSteps", code: "step_limit" });
  expect(played.steps).toBeLessThanOrEqual(7);
});
