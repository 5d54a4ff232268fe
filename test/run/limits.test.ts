import { describe, expect, test } from "vitest";
import { Driver, planned, type Setting } from "./driver.ts";
import { bob, failedAnswer, finalOf, note, planOf, read, refusedCall, transfer, usageOf, CONVERSATION } from "./kit.ts";

function asking(setting: Setting = {}): Driver {
  const driver = new Driver(setting);
  driver.start();
  return driver;
}
const TRIPPED = ["limit.tripped", "message.completed", "run.failed"];

describe("A limit ends the run in one commit, with the figures and a word to the user", () => {
  test("maxSteps", () => {
    const driver = planned([read()], { limits: { maxSteps: 1 } }).tool(1);
    expect(driver.types).toEqual(["tool_call.finished", ...TRIPPED]);
    expect(driver.event("limit.tripped").data).toEqual({
      limit: "maxSteps",
      figure: 1,
      bound: 1,
      code: "step_limit",
      ask: false,
    });
    expect(driver.event("message.completed").data.message.parts).toEqual([
      { type: "notice", code: "step_limit", params: { limit: "maxSteps", figure: 1, bound: 1 } },
    ]);
    expect(driver.event("run.failed").data.stop).toMatchObject({ code: "step_limit", retryable: false });
  });

  test("maxToolErrors trips at the third of different failures", () => {
    const driver = planned([read(), read()]);
    driver.tool(1, failedAnswer).tool(2, failedAnswer);
    expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
    driver.plan(read()).tool(3, failedAnswer);
    expect(driver.event("limit.tripped").data).toMatchObject({
      limit: "maxToolErrors",
      figure: 3,
      bound: 3,
      code: "tool_circuit_open",
    });
  });

  test("maxSameFailure trips at the same failure the second time, over steps, by fingerprint and code", () => {
    const same = () => read({ fingerprint: "lookup:7" });
    const driver = planned([same()]).tool(1, failedAnswer);
    driver
      .plan(same())
      .tool(2, (id, tool) =>
        failedAnswer(id, tool, "definitive", { layer: "tool", code: "other", message: "", retryable: false }),
      );
    expect(driver.types).not.toContain("limit.tripped");
    const again = planned([same()]).tool(1, failedAnswer);
    again.plan(same()).tool(2, failedAnswer);
    expect(again.event("limit.tripped").data).toMatchObject({
      limit: "maxSameFailure",
      figure: 2,
      bound: 2,
      code: "tool_circuit_open",
    });
  });

  test("refused calls count as errors, after the step's last call", () => {
    const refused = (n: number) => refusedCall("lookup", `${CONVERSATION}.r1.t${n}`);
    const driver = planned([refused(1), refused(2), read()]);
    expect(driver.types).not.toContain("limit.tripped");
    driver.tool(3);
    expect(driver.event("limit.tripped").data.limit).toBe("maxSameFailure");
  });

  test("rejected, expired and unknown calls are no tool errors", () => {
    const driver = planned([transfer(), transfer(), transfer(), note()]).crash();
    for (const n of [1, 2, 3]) driver.reject(n);
    driver.resolve(4, "give_up");
    expect(driver.types).toEqual(["tool_call.resolved", "run.resumed", "step.started"]);
  });

  test("maxRunTokens and maxConversationTokens, before a model call", () => {
    const run = asking({ limits: { maxRunTokens: 100 } })
      .answer(planOf([read()], { usage: usageOf(90, 10) }))
      .tool(1);
    expect(run.event("limit.tripped").data).toMatchObject({ limit: "maxRunTokens", figure: 100, code: "token_limit" });
    const conversation = asking({ limits: { maxConversationTokens: 100 } }).answer({
      ...finalOf("done"),
      usage: usageOf(90, 10),
    });
    conversation.start();
    expect(conversation.types).toEqual(["run.queued", "run.started", "message.created", ...TRIPPED]);
    expect(conversation.event("limit.tripped").data.limit).toBe("maxConversationTokens");
  });

  test("an answer is never thrown away for a limit: it was paid for", () => {
    const driver = asking({ limits: { maxRunTokens: 100, maxSteps: 1 } }).answer({
      ...finalOf("done"),
      usage: usageOf(900, 10),
    });
    expect(driver.status(1)).toBe("completed");
  });

  test("a person is asked for where the agent says so, once", () => {
    const setting = { limits: { maxSteps: 1 }, policy: { handoverOnLimit: true } };
    const driver = planned([read()], setting).tool(1);
    expect(driver.types).toEqual([
      "tool_call.finished",
      "limit.tripped",
      "message.completed",
      "handover.requested",
      "run.failed",
    ]);
    expect(driver.event("handover.requested").data.reason).toBe("step_limit");
    driver.start();
    driver.plan(read()).tool(1);
    expect(driver.types).not.toContain("handover.requested");
  });
});

describe("What stays within a limit is not cut", () => {
  test("the last step that maxSteps allows may answer", () => {
    const driver = planned([read()], { limits: { maxSteps: 2 } })
      .tool(1)
      .answer(finalOf("done"));
    expect(driver.status(1)).toBe("completed");
  });

  test.each(["maxRunTokens", "maxConversationTokens"] as const)(
    "the last token that %s allows may be asked for",
    (name) => {
      const driver = asking({ limits: { [name]: 101 } })
        .answer(planOf([read()], { usage: usageOf(90, 10) }))
        .tool(1);
      expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
      expect(driver.answer(finalOf("done")).status(1)).toBe("completed");
    },
  );
});

describe("A limit that asks", () => {
  const ask: Setting = { limits: { maxSteps: 2 }, policy: { onLimit: "ask" } };
  function tripped(): Driver {
    const driver = planned([read()], ask).tool(1);
    return driver.plan(read()).tool(2);
  }

  test("interrupts the run until somebody answers", () => {
    const driver = tripped();
    expect(driver.types).toEqual(["tool_call.finished", "limit.tripped", "run.interrupted"]);
    expect(driver.event("run.interrupted").data.waitsFor).toEqual(["continuation"]);
    expect(driver.event("limit.tripped").data).toMatchObject({ ask: true, expiresAt: "2026-11-02T08:00:00.000Z" });
  });

  test("continue grants the same amount again", () => {
    const driver = tripped();
    expect(driver.continue("maxSteps", "continue")).toBeNull();
    expect(driver.types).toEqual(["limit.continued", "run.resumed", "step.started"]);
    expect(driver.run.limits.maxSteps).toBe(4);
    driver.plan(read()).tool(3).plan(read()).tool(4);
    expect(driver.types).toContain("limit.tripped");
    driver.continue("maxSteps", "continue");
    expect(driver.run.limits.maxSteps).toBe(6);
  });

  test("stop ends as the trip would have", () => {
    const driver = tripped();
    driver.continue("maxSteps", "stop");
    expect(driver.types).toEqual(["limit.continued", "message.completed", "run.failed"]);
    expect(driver.state.latest?.stop?.code).toBe("step_limit");
  });

  test("so does a day without an answer", () => {
    const driver = tripped();
    expect(driver.toDeadline()).toBe(true);
    expect(driver.types).toEqual(["message.completed", "run.failed"]);
    expect(driver.now).toBe(Date.parse("2026-11-02T08:00:00.000Z"));
  });

  test("is for the starter and the owner, for the limit that asks, once", () => {
    const driver = tripped();
    expect(driver.continue("maxSteps", "continue", bob)?.code).toBe("forbidden");
    expect(driver.continue("maxToolErrors", "continue")).toMatchObject({
      code: "not_interrupted",
      errors: [{ pointer: "/continuations/0" }],
    });
    const both = [
      { limit: "maxSteps", decision: "continue" },
      { limit: "maxSteps", decision: "stop" },
    ] as const;
    expect(driver.resume({ continuations: [...both] })?.code).toBe("invalid_request");
    driver.continue("maxSteps", "continue");
    expect(driver.continue("maxSteps", "continue")?.code).toBe("not_interrupted");
    driver.final();
    expect(driver.continue("maxSteps", "continue")?.code).toBe("run_finished");
  });
});
