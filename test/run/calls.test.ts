import { describe, expect, test } from "vitest";
import { outstanding } from "../../src/run/outstanding.ts";
import { planned } from "./driver.ts";
import { failedAnswer, note, read, refusedCall, transfer } from "./kit.ts";

const inFlight = (driver: ReturnType<typeof planned>) =>
  outstanding(driver.state, driver.now).map(({ id }) => id.split(".").at(-1));

describe("The calls of a step", () => {
  test("ungated ones start at once, in the commit of the plan", () => {
    const driver = planned([read(), note()]);
    expect(driver.types).toEqual([
      "step.finished",
      "tool_call.proposed",
      "tool_call.proposed",
      "tool_call.started",
      "tool_call.started",
    ]);
  });

  test("gated ones are asked about, and none of them starts in the turn that proposed it", () => {
    const driver = planned([transfer()]);
    expect(driver.types).toEqual(["step.finished", "tool_call.proposed", "confirmation.requested", "run.interrupted"]);
    expect(driver.event("run.interrupted").data).toMatchObject({
      waitsFor: ["confirmation"],
      needsConfirmation: true,
      pending: [{ state: "awaiting_confirmation", allowed: ["approve", "edit", "reject"] }],
    });
  });

  test("reads run at most four at a time", () => {
    const driver = planned([read(), read(), read(), read(), read(), read()]);
    expect(inFlight(driver)).toEqual(["t1", "t2", "t3", "t4"]);
    driver.tool(3);
    expect(inFlight(driver)).toEqual(["t1", "t2", "t4", "t5"]);
  });

  test("acts run one at a time, in call order, beside the reads", () => {
    const driver = planned([note(), read(), note(), note()]);
    expect(inFlight(driver)).toEqual(["t1", "t2"]);
    driver.tool(1);
    expect(inFlight(driver)).toEqual(["t2", "t3"]);
    driver.tool(3);
    expect(inFlight(driver)).toEqual(["t2", "t4"]);
  });

  test("gated ones start only when every confirmation of the step is closed, then one by one", () => {
    const driver = planned([transfer(), transfer(), transfer()]);
    driver.approve(1);
    expect(driver.types).toEqual(["confirmation.decided"]);
    driver.reject(2);
    expect(driver.types).toEqual(["confirmation.decided"]);
    driver.approve(3);
    expect(driver.types).toEqual(["confirmation.decided", "run.resumed", "tool_call.started"]);
    expect(inFlight(driver)).toEqual(["t1"]);
    driver.tool(1);
    expect(inFlight(driver)).toEqual(["t3"]);
  });

  test("a pending call can be decided while others still run", () => {
    const driver = planned([read(), transfer()]);
    expect(driver.status(1)).toBe("running");
    driver.approve(2);
    expect(driver.types).toEqual(["confirmation.decided", "tool_call.started"]);
  });

  test("rejection and failure of one do not stop the others", () => {
    const driver = planned([transfer(), transfer()]);
    driver.reject(1);
    driver.approve(2);
    driver.tool(2, failedAnswer);
    expect(driver.calls()).toEqual(["rejected", "failed"]);
    expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
  });

  test("an unknown one holds back every act, not the reads", () => {
    const driver = planned([note(), note(), read(), read(), read(), read(), read()]);
    driver.crash();
    expect(driver.call(1).state).toBe("unknown");
    expect(driver.call(2).state).toBe("proposed");
    driver.tool(3);
    expect(driver.call(7).state).toBe("executing");
    driver.resolve(1, "give_up");
    expect(driver.call(2).state).toBe("executing");
  });

  test("the model is asked again when the last call has ended, not before", () => {
    const driver = planned([read(), read()]);
    driver.tool(2);
    expect(driver.types).toEqual(["tool_call.finished"]);
    driver.tool(1);
    expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
    expect(driver.event("step.started").data).toMatchObject({ n: 2, attempt: 1 });
  });

  test("a plan of refused calls alone goes straight back to the model", () => {
    const driver = planned([refusedCall("lookup", `${"01hq3vezx8k2m4n6p7r9s0t1w5"}.r1.t1`)]);
    expect(driver.types).toEqual(["step.finished", "tool_call.refused", "step.started"]);
    expect(driver.modelEffect.firstCall).toBe(2);
  });

  test("a call beyond the scopes of the run's user is refused at execution, even when approved", () => {
    const driver = planned([transfer({ scope: "bank:close" })]);
    const who = {
      ...driver.run.principal,
      userId: "carol",
      roles: ["lead"],
      scopes: ["confirmations:decide", "bank:close"],
    };
    driver.approve(1, who);
    expect(driver.types).toEqual(["confirmation.decided", "tool_call.finished", "run.resumed", "step.started"]);
    expect(driver.event("tool_call.finished").data).toMatchObject({
      state: "failed",
      attempt: 0,
      payload: { error: { code: "scope_missing" } },
    });
  });

  test("numbers go on over steps, and earlier arguments are forgotten", () => {
    const driver = planned([read()]);
    driver.tool(1);
    driver.plan(transfer());
    expect(driver.run.calls.map(({ n, args }) => [n, args])).toEqual([
      [1, null],
      [2, { of: "transfer" }],
    ]);
  });

  test("the outside key and the arguments' digest stand in the intent, before the tool is called", () => {
    const call = transfer();
    const driver = planned([call]);
    driver.approve(1);
    expect(driver.event("tool_call.started").data).toMatchObject({
      mode: "execute",
      attempt: 1,
      argsDigest: call.argsDigest,
      idempotencyKey: call.idempotencyKey,
      incarnation: 0,
      deadlineAt: "2026-11-01T08:01:00.000Z",
    });
  });
});
