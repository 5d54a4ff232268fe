import { describe, expect, test } from "vitest";
import { Driver, planned, type Setting } from "./driver.ts";
import { alice, DAY, finalOf, HOUR, MINUTE, noBudgetOf, NO_BUDGET, note, read, T0, transfer, usageOf } from "./kit.ts";

function asking(setting: Setting = {}): Driver {
  const driver = new Driver(setting);
  driver.start();
  return driver;
}

describe("Without a budget", () => {
  test("the run waits, and asks again at the next window; the refusal counts as no attempt", () => {
    const driver = asking();
    driver.answer(noBudgetOf(driver.now + HOUR));
    expect(driver.types).toEqual(["step.superseded", "budget.awaited", "run.interrupted"]);
    expect(driver.event("run.interrupted").data.waitsFor).toEqual(["budget"]);
    expect(driver.toDeadline()).toBe(true);
    expect(driver.types).toEqual(["run.resumed", "step.started"]);
    expect(driver.run.step).toMatchObject({ attempt: 2, supersessions: 0, retries: 0 });
    driver.final();
    expect(driver.status(1)).toBe("completed");
  });

  test("it asks again when a budget is raised", () => {
    const driver = asking().answer(noBudgetOf());
    driver.input({ type: "budget_changed" });
    expect(driver.types).toEqual(["run.resumed", "step.started"]);
    driver.input({ type: "budget_changed" });
    expect(driver.types).toEqual([]);
  });

  test("it waits a day in all from the first refusal, then budget_exhausted", () => {
    const driver = asking().answer(noBudgetOf());
    driver.wait(23 * HOUR);
    driver.input({ type: "budget_changed" });
    driver.answer(noBudgetOf());
    driver.toDeadline();
    expect(driver.types).toEqual(["message.completed", "run.failed"]);
    expect(driver.state.latest?.stop?.code).toBe("budget_exhausted");
    expect(driver.now).toBe(Date.parse("2026-11-02T08:00:00.000Z"));
  });

  test("an answer that is under way when the day ends is not cut off; another refusal then ends the run", () => {
    const waited = () => {
      const driver = asking().answer(noBudgetOf());
      driver.wait(DAY - 1);
      driver.input({ type: "budget_changed" });
      return driver.wait(MINUTE);
    };
    expect(waited().final().status(1)).toBe("completed");
    const refused = waited().answer(noBudgetOf());
    expect(refused.types).toEqual(["step.superseded", "message.completed", "run.failed"]);
  });

  test("a window that comes during a hand-over starts nothing, and leaves no deadline behind", () => {
    const driver = asking();
    driver.answer(noBudgetOf(driver.now + HOUR));
    const operator = { ...alice, scopes: ["handover:operate"] };
    driver.takeOver(operator);
    driver.wait(2 * HOUR);
    expect(driver.types).toEqual([]);
    driver.release(operator);
    driver.toDeadline();
    expect(driver.types).toContain("step.started");
  });
});

describe("The run's clock", () => {
  test("runs out: the run settles like a cancel, says so, and fails", () => {
    const driver = planned([note()], { limits: { maxRunMs: MINUTE / 2 } });
    driver.toDeadline();
    expect(driver.types).toEqual(["limit.tripped", "run.cancel_requested"]);
    expect(driver.event("limit.tripped").data).toEqual({
      limit: "maxRunMs",
      figure: 30_000,
      bound: 30_000,
      code: "deadline_exceeded",
      ask: false,
    });
    driver.toDeadline();
    expect(driver.types).toEqual(["tool_call.became_unknown", "message.completed", "run.failed"]);
    expect(driver.event("run.failed").data).toMatchObject({
      stop: { code: "deadline_exceeded", retryable: true },
      sideEffects: [{ state: "unknown" }],
    });
  });

  test("counts running time only: the hours that a person takes are not counted", () => {
    const driver = planned([transfer()], { limits: { maxRunMs: 10 * MINUTE, maxModelMs: HOUR } });
    driver.wait(20 * HOUR);
    expect(driver.run.deadlineAt).toBeNull();
    driver.approve(1);
    driver.wait(MINUTE / 2).tool(1);
    expect(driver.run.deadlineAt).toBe(driver.now + 10 * MINUTE - MINUTE / 2);
    driver.wait(10 * MINUTE - MINUTE / 2 - 1);
    expect(driver.run.halt).toBeNull();
    driver.wait(1);
    expect(driver.run.halt?.code).toBe("deadline_exceeded");
  });

  test("stands still over several waits, and adds up between them", () => {
    const driver = planned([transfer()], { limits: { maxRunMs: 10 * MINUTE, maxModelMs: HOUR } });
    driver.wait(HOUR);
    driver.approve(1);
    driver.wait(MINUTE / 2).tool(1);
    driver.wait(2 * MINUTE).plan(transfer());
    driver.wait(HOUR);
    driver.approve(2);
    expect(driver.run.deadlineAt).toBe(driver.now + 10 * MINUTE - 2 * MINUTE - MINUTE / 2);
  });

  test("asks for a person where the agent says so, in its last commit", () => {
    const driver = asking({ limits: { maxRunMs: MINUTE }, policy: { handoverOnLimit: true } });
    driver.wait(MINUTE).wait(10_000);
    expect(driver.types).toEqual(["step.finished", "message.completed", "handover.requested", "run.failed"]);
  });

  test("without grace it fails at once", () => {
    const driver = asking({ limits: { maxRunMs: MINUTE }, policy: { cancelGraceMs: 0 } }).shows("so far");
    driver.wait(MINUTE);
    expect(driver.types.at(-1)).toBe("run.failed");
  });
});

test("Time never goes back: a clock behind the log decides at the log's own time", () => {
  const driver = asking();
  driver.now -= HOUR;
  driver.final();
  expect(driver.event("run.completed").at).toBe("2026-11-01T08:00:00.000Z");
});

describe("What a request has cost that died with its life", () => {
  const about = { ...usageOf(300, 40), estimated: true };

  test("is booked with the attempt that is given up, and counts for the conversation", () => {
    const driver = new Driver();
    driver.start();
    driver.shows("so far").crash(about);
    expect(driver.event("step.superseded").data).toMatchObject({ reason: "interrupted", usage: about });
    driver.answer({ ...finalOf("done"), usage: usageOf(300, 60) });
    expect(driver.event("run.completed").data.usage).toMatchObject({
      inputTokens: 600,
      outputTokens: 100,
      estimated: true,
    });
    expect(driver.state.tokens).toBe(700);
  });

  test("is booked too where the run ends with it", () => {
    const driver = new Driver();
    driver.start();
    driver.cancel();
    driver.crash(about);
    expect(driver.event("run.cancelled").data.usage).toMatchObject({ inputTokens: 300, estimated: true });
  });
});

describe("A tenant without budget", () => {
  test("starts nothing and retries nothing, and nothing of it is stored", () => {
    const driver = new Driver();
    const before = driver.state;
    expect(driver.start("hello", { refused: NO_BUDGET })).toEqual(NO_BUDGET);
    expect(driver.state).toBe(before);
  });

  test("still has its yes carried out", () => {
    const driver = new Driver();
    driver.start();
    driver.plan(transfer());
    expect(driver.approve(1)).toBeNull();
    expect(driver.types).toContain("tool_call.started");
  });
});

describe("While its tenant is paused", () => {
  const pause = (driver: Driver) => driver.input({ type: "paused" });
  const resume = (driver: Driver) => driver.input({ type: "resumed" });

  test("a run lets what is in flight finish and starts nothing new, until it is resumed", () => {
    const driver = planned([read(), note()]);
    pause(driver);
    expect(driver.status(1)).toBe("running");
    driver.tool(1).tool(2);
    expect(driver.types).toEqual(["tool_call.finished", "run.interrupted"]);
    expect(driver.event("run.interrupted").data.waitsFor).toEqual(["budget"]);
    driver.wait(3 * DAY);
    expect(driver.status(1)).toBe("interrupted");
    resume(driver);
    expect(driver.types).toEqual(["tenant.resumed", "run.resumed", "step.started"]);
  });

  test("nothing that was approved is done, and what is queued stays queued", () => {
    const driver = planned([transfer(), transfer()]);
    driver.approve(1);
    pause(driver);
    driver.reject(2);
    expect(driver.calls()).toEqual(["approved", "rejected"]);
    driver.start("next");
    driver.cancel(1);
    expect(driver.status(2)).toBe("queued");
    resume(driver);
    expect(driver.status(2)).toBe("running");
  });

  test("a run that waits for a budget asks for it with the resumption, not with its window", () => {
    const driver = asking().answer(noBudgetOf(T0 + MINUTE));
    pause(driver);
    driver.wait(2 * MINUTE);
    expect(driver.types).toEqual([]);
    resume(driver);
    expect(driver.types).toEqual(["tenant.resumed", "run.resumed", "step.started"]);
  });

  test("its confirmations still expire, and it can be cancelled", () => {
    const driver = planned([transfer()]);
    pause(driver);
    driver.wait(2 * DAY);
    expect(driver.state.latest?.stop?.code).toBe("confirmation_expired");
  });
});
