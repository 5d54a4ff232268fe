import { describe, expect, test } from "vitest";
import { stopOf } from "../../src/protocol/stops.ts";
import type { ModelResult } from "../../src/run/inputs.ts";
import { Driver, type Setting } from "./driver.ts";
import {
  abortedOf,
  cutCallsOf,
  cutTextOf,
  emptyOf,
  failedOf,
  finalOf,
  MINUTE,
  planOf,
  read,
  refusedOf,
  transfer,
  usageOf,
} from "./kit.ts";

function asking(setting: Setting = {}): Driver {
  const driver = new Driver(setting);
  driver.start();
  return driver;
}
const stop = (driver: Driver) => driver.state.latest?.stop?.code;

describe("How a model's answer ends", () => {
  test("with text: the run is completed, the text is the message", () => {
    const driver = asking().final("done");
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.completed"]);
    expect(driver.event("message.completed").data.message).toMatchObject({
      status: "complete",
      parts: [{ type: "text", text: "done" }],
    });
    expect(stop(driver)).toBe("final_answer");
  });

  test("with calls, whatever its label: a plan, text and reasoning kept", () => {
    const driver = asking().answer(
      planOf([read()], { finishReason: "stop", text: { text: "Let me see" }, reasoning: "hm" }),
    );
    expect(driver.event("message.completed").data.message.parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Let me see" },
    ]);
    expect(driver.calls()).toEqual(["executing"]);
  });

  test("filtered or refused: model_refused, its calls dropped", () => {
    const driver = asking().answer(refusedOf("I can"));
    expect(stop(driver)).toBe("model_refused");
    expect(driver.event("message.completed").data.message.status).toBe("incomplete");
    expect(driver.all("tool_call.proposed")).toEqual([]);
  });

  test("cut with text: output_truncated, the text kept and marked", () => {
    const driver = asking().answer(cutTextOf("so fa"));
    expect(driver.event("message.completed").data.message.status).toBe("incomplete");
    expect(stop(driver)).toBe("output_truncated");
  });

  test("cut with calls: all refused, one more step; the second time output_truncated", () => {
    const driver = asking().answer(cutCallsOf([read(), transfer()]));
    expect(driver.types).toEqual(["step.finished", "tool_call.refused", "tool_call.refused", "step.started"]);
    expect(driver.all("tool_call.refused").map(({ data }) => data.payload.error?.code)).toEqual([
      "output_truncated",
      "output_truncated",
    ]);
    driver.answer(cutCallsOf([read()]));
    expect(stop(driver)).toBe("output_truncated");
  });

  test("cut with many calls of one tool: no error of the tool, so no breaker takes away the step that is left", () => {
    const driver = asking().answer(cutCallsOf([transfer(), transfer(), transfer(), transfer()]));
    expect(driver.types.at(-1)).toBe("step.started");
    expect(driver.state.active).toMatchObject({ toolErrors: 0, failures: [], callCount: 4 });
    driver.final("shorter");
    expect(stop(driver)).toBe("final_answer");
  });

  test("cut with calls, then cut with text", () => {
    expect(
      stop(
        asking()
          .answer(cutCallsOf([read()]))
          .answer(cutTextOf("so fa")),
      ),
    ).toBe("output_truncated");
  });

  test("empty: once more as the next attempt, then model_protocol_error", () => {
    const driver = asking().answer(emptyOf());
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
    expect(driver.event("step.started").data).toMatchObject({ n: 1, attempt: 2 });
    driver.answer(emptyOf());
    expect(driver.types).toEqual(["step.finished", "run.failed"]);
    expect(stop(driver)).toBe("model_protocol_error");
  });

  test("the empty answer's second chance is its own: other steps have theirs", () => {
    const driver = asking().answer(emptyOf()).plan(read()).tool(1).answer(emptyOf());
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
  });

  test.each([
    "model_error",
    "model_rate_limited",
    "model_overloaded",
    "model_unauthorized",
    "model_quota",
    "context_too_long",
    "model_protocol_error",
  ] as const)("failed with %s: the run fails with it, and nothing is tried again", (code) => {
    const driver = asking().answer(failedOf(code));
    expect(driver.types).toEqual(["step.finished", "run.failed"]);
    expect(stop(driver)).toBe(code);
  });

  test("too long, with messages that are no longer told: the log says how many, before the run's last event", () => {
    const driver = asking().answer({ ...failedOf("context_too_long"), leavesOut: 4 } as const);
    expect(driver.types).toEqual(["step.finished", "context.trimmed", "run.failed"]);
    expect(driver.event("context.trimmed").data).toEqual({ messages: 4, reason: "context_too_long" });
  });

  test("nothing is said of messages that are left out where none is, or after another failure", () => {
    const nothing = asking().answer({ ...failedOf("context_too_long"), leavesOut: 0 } as const);
    expect(nothing.types).toEqual(["step.finished", "run.failed"]);
    const other = asking().answer({ ...failedOf("model_error"), leavesOut: 4 } as const);
    expect(other.types).toEqual(["step.finished", "run.failed"]);
  });

  test("failed after text was shown: the text is kept, incomplete", () => {
    const driver = asking().answer(failedOf("model_error", "so far"));
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.failed"]);
  });
});

describe("Retries of a model's answer, where the agent sets them", () => {
  const twice: Setting = { policy: { modelRetries: 2 } };

  test("are visible attempts, as many as set, each booked", () => {
    const driver = asking(twice).answer(failedOf("model_overloaded"));
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
    driver.answer(failedOf("model_overloaded")).answer(failedOf("model_overloaded"));
    expect(driver.all("step.started").map(({ data }) => data.attempt)).toEqual([1, 2, 3]);
    expect(stop(driver)).toBe("model_overloaded");
    expect(driver.event("run.failed").data.usage.inputTokens).toBe(300);
    expect(driver.state.tokens).toBe(330);
  });

  test("are not for an answer of which something was shown, nor for one that cannot help", () => {
    expect(stop(asking(twice).answer(failedOf("model_overloaded", "so far")))).toBe("model_overloaded");
    expect(stop(asking(twice).answer(failedOf("model_quota")))).toBe("model_quota");
  });

  test("are not for a provider that wants to be left alone for a while", () => {
    const stopped = { ...stopOf("model_overloaded", "Busy."), retryAfterMs: 3_000 };
    const busy = { ...failedOf("model_overloaded"), stop: stopped } as ModelResult;
    const driver = asking(twice).answer(busy);
    expect(driver.types).toEqual(["step.finished", "run.failed"]);
    expect(driver.event("run.failed").data.stop).toMatchObject({ code: "model_overloaded", retryAfterMs: 3_000 });
    expect(stop(asking(twice).answer(failedOf("model_rate_limited")))).toBe("model_rate_limited");
  });

  test("are for a timed-out answer too", () => {
    const driver = asking(twice).wait(5 * MINUTE);
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
  });
});

describe("The model's total time", () => {
  test("is enforced at the decision: an answer at its end comes too late", () => {
    const driver = asking();
    const asked = driver.modelEffect;
    driver.now += 5 * MINUTE;
    driver.answer(finalOf("done"), asked);
    expect(driver.types).toEqual(["step.finished", "run.failed"]);
    expect(stop(driver)).toBe("model_timeout");
  });

  test("keeps the text shown so far", () => {
    const driver = asking()
      .shows("so far")
      .wait(5 * MINUTE);
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.failed"]);
  });
});

describe("A crash while the model answers", () => {
  test("asks again, twice at most, then model_interrupted", () => {
    const driver = asking().crash();
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
    expect(driver.event("step.started").data).toMatchObject({ attempt: 2, incarnation: 1 });
    driver.crash().shows("so far").crash();
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.failed"]);
    expect(stop(driver)).toBe("model_interrupted");
  });

  test("keeps the message's id over the attempts, and forgets what the lost one showed", () => {
    const driver = asking().shows("so far").crash();
    driver.final("whole");
    expect(new Set(driver.all("step.started").map(({ data }) => data.messageId)).size).toBe(1);
    expect(driver.all("message.completed").map(({ data }) => data.message.parts)).toEqual([
      [{ type: "text", text: "whole" }],
    ]);
  });

  test("never asks again for a step that was committed", () => {
    const driver = asking().plan(transfer());
    driver.crash();
    expect(driver.types).toEqual([]);
    driver.approve(1);
    expect(driver.all("step.started")).toHaveLength(1);
  });

  test("an answer of the lost attempt, or of the lost life, changes nothing", () => {
    const driver = asking();
    const lost = driver.modelEffect;
    driver.crash().answer(finalOf("old"), lost);
    expect(driver.types).toEqual([]);
    driver.answer(finalOf("old"), { ...driver.modelEffect, incarnation: 0 });
    expect(driver.types).toEqual([]);
    driver.answer(finalOf("old"), { ...driver.modelEffect, id: `${driver.run.id}.s9` });
    expect(driver.types).toEqual([]);
  });

  test("a request that something outside aborts is a crash of that request", () => {
    const driver = asking().answer(abortedOf(""));
    expect(driver.types).toEqual(["step.superseded", "step.started"]);
    expect(driver.run.usage.inputTokens).toBe(100);
    driver.answer(abortedOf("")).answer(abortedOf("so far"));
    expect(stop(driver)).toBe("model_interrupted");
  });

  test("with nothing unfinished is no new life", () => {
    const driver = asking().final();
    driver.crash();
    expect(driver.types).toEqual([]);
    expect(driver.state.incarnation).toBe(0);
  });

  test("usage of unknown price makes the sum unknown", () => {
    const driver = asking().answer(planOf([read()], { usage: { ...usageOf(1, 1), costMicroUsd: null } }));
    driver.tool(1).final();
    expect(driver.event("run.completed").data.usage.costMicroUsd).toBeNull();
  });
});
