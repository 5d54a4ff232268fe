import { describe, expect, test } from "vitest";
import { type Driver, planned } from "./driver.ts";
import { DAY, doubtfulAnswer, failedAnswer, note, okAnswer, read, success } from "./kit.ts";

describe("An unknown call of a living run", () => {
  test("happened: it succeeded, says who told, and the run goes on", () => {
    const driver = planned([note()]).crash();
    expect(driver.resolve(1, "happened")).toBeNull();
    expect(driver.types).toEqual(["tool_call.resolved", "run.resumed", "step.started"]);
    expect(driver.event("tool_call.resolved").data).toMatchObject({
      outcome: "happened",
      state: "succeeded",
      by: { id: "alice" },
      payload: { success: true, source: "person" },
    });
  });

  test("happened, with a result that was validated", () => {
    const driver = planned([note()]).crash();
    const result = { ...success(driver.id(1), "note", { id: 7 }), source: "person" } as const;
    driver.resolve(1, "happened", undefined, result);
    expect(driver.event("tool_call.resolved").data.payload).toMatchObject({ data: { id: 7 } });
  });

  test("did not happen: the fresh approval, one attempt more, with the same key", () => {
    const driver = planned([note()]).crash();
    const key = driver.call(1).idempotencyKey;
    driver.resolve(1, "did_not_happen");
    expect(driver.types).toEqual(["tool_call.resolved", "run.resumed", "tool_call.started"]);
    expect(driver.event("tool_call.started").data).toMatchObject({ attempt: 2, idempotencyKey: key, mode: "execute" });
    driver.tool(1, failedAnswer);
    expect(driver.calls()).toEqual(["failed"]);
  });

  test("give up: it stays unknown, the model is told, the run goes on", () => {
    const driver = planned([note(), note()]).crash();
    driver.resolve(1, "give_up");
    expect(driver.types).toEqual(["tool_call.resolved", "run.resumed", "tool_call.started"]);
    expect(driver.event("tool_call.resolved").data).toMatchObject({
      state: "unknown",
      payload: { error: { code: "outcome_unknown" } },
    });
    driver.tool(2);
    expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
  });

  test("is resolved once, and a second person is told by whom and when", () => {
    const driver = planned([note()]).crash();
    driver.resolve(1, "happened");
    expect(driver.resolve(1, "give_up")).toMatchObject({
      code: "already_decided",
      extensions: { decidedBy: { id: "alice" }, decidedAt: "2026-11-01T08:00:00.000Z" },
    });
  });

  test("a word about an earlier attempt does not count for the one that was made since", () => {
    const driver = planned([note()]).crash();
    const early = driver.resolution(1, "did_not_happen");
    const { attempt: _, ...unnumbered } = early;
    expect(driver.resume({ resolutions: [early] })).toBeNull();
    driver.crash();
    expect(driver.calls()).toEqual(["unknown"]);
    for (const late of [early, unnumbered, { ...driver.resolution(1, "happened"), attempt: 1 }]) {
      expect(driver.resume({ resolutions: [late] })).toMatchObject({
        code: "already_decided",
        extensions: { attempt: 2 },
      });
    }
    expect(driver.calls()).toEqual(["unknown"]);
    driver.resolve(1, "did_not_happen");
    expect(driver.event("tool_call.started").data).toMatchObject({ attempt: 3 });
  });

  test("a first word may leave the number out; one that runs nothing again always may", () => {
    const driver = planned([note()]).crash();
    const { attempt: _, ...unnumbered } = driver.resolution(1, "did_not_happen");
    expect(driver.resume({ resolutions: [unnumbered] })).toBeNull();
    driver.crash();
    const { attempt: __, ...given } = driver.resolution(1, "give_up");
    expect(driver.resume({ resolutions: [given] })).toBeNull();
  });

  test("needs the digest for a fresh approval, and the tool as it was", () => {
    const driver = planned([note()]).crash();
    const resolutions = [{ ...driver.resolution(1, "did_not_happen"), argsDigest: "other" }];
    expect(driver.resume({ resolutions })?.code).toBe("digest_mismatch");
    expect(driver.resume({ resolutions }, undefined, { toolDigests: {} })?.code).toBe("confirmation_stale");
    expect(driver.calls()).toEqual(["unknown"]);
  });

  test("a result that does not fit is refused by pointer", () => {
    const driver = planned([note()]).crash();
    const resolutions = [driver.resolution(1, "happened")];
    const results = { [driver.id(1)]: { invalid: "must have an id" } };
    expect(driver.resume({ resolutions }, undefined, { results })).toMatchObject({
      code: "invalid_request",
      errors: [{ pointer: "/resolutions/0/result", detail: "must have an id" }],
    });
  });

  test("a call that is not unknown is told so", () => {
    const driver = planned([note()]);
    expect(driver.resolve(1, "happened")?.code).toBe("not_interrupted");
    driver.cancel();
    expect(driver.resolve(1, "happened")?.code).toBe("run_finished");
  });

  test("waits without any deadline: nobody's clock runs out over it", () => {
    const driver = planned([note()]).crash();
    expect(driver.toDeadline()).toBe(false);
    driver.wait(100 * DAY);
    expect(driver.status(1)).toBe("interrupted");
  });
});

describe("An unknown call of a run that has ended", () => {
  function ended(): Driver {
    const driver = planned([note()]).crash();
    driver.cancel();
    return driver;
  }
  const outcomes = ["happened", "did_not_happen", "give_up"] as const;
  const states = { happened: "succeeded", did_not_happen: "cancelled", give_up: "unknown" };

  test.each(outcomes)("in the latest run: %s is recorded, and nothing runs", (outcome) => {
    const driver = ended();
    expect(driver.resolve(1, outcome)).toBeNull();
    expect(driver.types).toEqual(["tool_call.resolved"]);
    expect(driver.event("tool_call.resolved").data.state).toBe(states[outcome]);
    expect(driver.resolve(1, outcome)?.code).toBe("already_decided");
    driver.finish();
  });

  test.each(outcomes)("in a run long ended: %s is recorded too, while another run goes on", (outcome) => {
    const driver = ended();
    const id = driver.id(1);
    driver.start();
    driver.final();
    driver.start();
    expect(driver.resolve(id, outcome)).toBeNull();
    expect(driver.types).toEqual(["tool_call.resolved"]);
    expect(driver.state.ended[0]?.unknown).toMatchObject([{ state: states[outcome], resolution: { outcome } }]);
    expect(driver.resolve(id, outcome)?.code).toBe("already_decided");
    driver.finish();
  });

  test("did not happen needs no living tool: nothing will run", () => {
    const driver = ended();
    const resolutions = [driver.resolution(1, "did_not_happen")];
    expect(driver.resume({ resolutions }, undefined, { toolDigests: {} })).toBeNull();
  });

  test("a late result is recorded there too", () => {
    const driver = planned([note()]);
    const sent = driver.toolEffect(1);
    driver.cancel();
    driver.wait(10_000);
    driver.start();
    driver.final();
    driver.tool(sent.id, okAnswer, sent);
    expect(driver.types).toEqual(["tool_call.late_result"]);
  });
});

describe("A late result", () => {
  test("of a call that has its answer is dropped", () => {
    const driver = planned([read()]);
    const first = driver.toolEffect(1);
    driver.tool(1).tool(1, okAnswer, first);
    expect(driver.types).toEqual([]);
  });

  test("that again proves nothing is dropped", () => {
    const driver = planned([note()]);
    const first = driver.toolEffect(1);
    driver.crash().tool(1, doubtfulAnswer, first);
    expect(driver.types).toEqual([]);
  });

  test("of a call that never was is dropped", () => {
    const driver = planned([read()]);
    driver.tool(1, okAnswer, { id: driver.id(8), attempt: 1, incarnation: 0 });
    driver.tool(1, okAnswer, { id: "nonsense", attempt: 1, incarnation: 0 });
    driver.tool(1, okAnswer, { ...driver.toolEffect(1), attempt: 7 });
    expect(driver.types).toEqual([]);
  });
});
