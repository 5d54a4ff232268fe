import { describe, expect, test } from "vitest";
import { Driver, planned } from "./driver.ts";
import {
  abortedOf,
  alice,
  bob,
  eve,
  failedAnswer,
  finalOf,
  noBudgetOf,
  doubtfulAnswer,
  idempotent,
  note,
  okAnswer,
  planOf,
  probeable,
  read,
  transfer,
  usageOf,
} from "./kit.ts";

const SENT = { attempt: 1, incarnation: 0 };
const model = (driver: Driver) => ({ id: `${driver.run.id}.s${driver.run.step?.n ?? 1}`, ...SENT });
const tool = (driver: Driver, n: number) => ({ id: driver.id(n), ...SENT });

/** The model is being asked. */
function asking(): Driver {
  const driver = new Driver();
  driver.start();
  return driver;
}

describe("Cancelling while nothing is in flight", () => {
  test("awaiting a confirmation: the call is cancelled and the run ends, in one commit", () => {
    const driver = planned([transfer()]);
    expect(driver.cancel(1, alice, "changed my mind")).toBeNull();
    expect(driver.types).toEqual(["run.cancel_requested", "tool_call.finished", "run.cancelled"]);
    expect(driver.event("run.cancelled")).toMatchObject({
      by: { kind: "user", id: "alice" },
      data: {
        stop: { code: "cancelled_by_user", detail: "changed my mind" },
        sideEffects: [],
        needsConfirmation: false,
      },
    });
  });

  test("awaiting a resolution: the call stays unknown, and the end lists it", () => {
    const driver = planned([note({ undo: "remove_note" })]);
    driver.crash();
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested", "run.cancelled"]);
    expect(driver.event("run.cancelled").data.sideEffects).toEqual([
      { toolCallId: driver.id(1), tool: "note", state: "unknown", reversible: false, undo: "remove_note" },
    ]);
  });

  test("awaiting a continuation", () => {
    const driver = planned([read()], { policy: { onLimit: "ask" }, limits: { maxSteps: 1 } });
    driver.tool(1);
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested", "run.cancelled"]);
  });

  test("awaiting a budget", () => {
    const driver = asking().answer(noBudgetOf());
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested", "run.cancelled"]);
  });

  test("approved, but waiting behind another confirmation: it never runs", () => {
    const driver = planned([transfer(), transfer()]);
    driver.approve(1);
    driver.cancel();
    expect(driver.calls()).toEqual(["cancelled", "cancelled"]);
    expect(driver.all("tool_call.started")).toEqual([]);
  });

  test("handed over", () => {
    const driver = asking();
    driver.command({ type: "take_over", body: {} }, { ...alice, scopes: ["handover:operate"] });
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested", "run.cancelled"]);
  });

  test("a read in its back-off is cancelled; an act in its back-off may have happened: unknown", () => {
    const reading = planned([read()]).tool(1, doubtfulAnswer);
    reading.cancel();
    expect(reading.types).toEqual(["run.cancel_requested", "tool_call.finished", "run.cancelled"]);
    const acting = planned([idempotent({ gate: null })]).tool(1, doubtfulAnswer);
    acting.cancel();
    expect(acting.types).toEqual(["run.cancel_requested", "tool_call.became_unknown", "run.cancelled"]);
  });
});

describe("Cancelling while the model is asked", () => {
  test("is accepted at once and done when the request has settled; the text shown is kept, the usage is booked", () => {
    const driver = asking();
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested"]);
    expect(driver.status(1)).toBe("running");
    driver.answer(abortedOf("so far"), model(driver));
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.cancelled"]);
    expect(driver.event("message.completed").data.message).toMatchObject({
      status: "incomplete",
      parts: [{ text: "so far" }],
    });
    expect(driver.event("run.cancelled").data.usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
  });

  test("an answer that arrives meanwhile is kept as text; its calls are cancelled, and nothing is asked", () => {
    const driver = asking();
    driver.cancel();
    driver.answer(planOf([read(), transfer()], { text: { text: "I will" } }), model(driver));
    expect(driver.types).toEqual([
      "message.completed",
      "step.finished",
      "tool_call.proposed",
      "tool_call.proposed",
      "tool_call.finished",
      "tool_call.finished",
      "run.cancelled",
    ]);
    expect(driver.event("message.completed").data.message.status).toBe("complete");
  });

  test("a final answer that arrives meanwhile does not complete the run", () => {
    const driver = asking();
    driver.cancel();
    driver.answer(finalOf("done"), model(driver));
    expect(driver.status(1)).toBe("cancelled");
  });

  test("after the grace the text shown so far is kept, and the end does not wait any longer", () => {
    const driver = asking().shows("so far");
    driver.cancel();
    driver.wait(9_999);
    expect(driver.types).toEqual([]);
    driver.wait(1);
    expect(driver.types).toEqual(["message.completed", "step.finished", "run.cancelled"]);
    expect(driver.event("step.finished").data.usage.estimated).toBe(true);
    driver.answer(abortedOf("so far"), { id: "01hq3vezx8k2m4n6p7r9s0t1w5.r1.s1", ...SENT });
    expect(driver.types).toEqual([]);
  });
});

describe("Cancelling while a tool is called", () => {
  test("a read is cancelled after the grace, an act without an answer is unknown, and the end says so", () => {
    const driver = planned([read(), note(), note()]);
    driver.cancel();
    expect(driver.types).toEqual(["run.cancel_requested", "tool_call.finished"]);
    driver.wait(10_000);
    expect(driver.types).toEqual(["tool_call.finished", "tool_call.became_unknown", "run.cancelled"]);
    expect(driver.calls()).toEqual(["cancelled", "unknown", "cancelled"]);
    expect(driver.event("run.cancelled").data.sideEffects).toMatchObject([{ state: "unknown" }]);
  });

  test("an act that answers in time has happened, and the end lists it", () => {
    const driver = planned([note()]);
    driver.cancel();
    driver.tool(1, okAnswer, tool(driver, 1));
    expect(driver.types).toEqual(["tool_call.finished", "run.cancelled"]);
    expect(driver.event("run.cancelled").data.sideEffects).toMatchObject([{ state: "succeeded" }]);
  });

  test("an act that is proved not to have happened is not listed", () => {
    const driver = planned([note()]);
    driver.cancel();
    driver.tool(1, failedAnswer, tool(driver, 1));
    expect(driver.event("run.cancelled").data.sideEffects).toEqual([]);
  });

  test("while the stop settles nothing is repeated or probed", () => {
    for (const call of [idempotent({ gate: null }), probeable({ gate: null })]) {
      const driver = planned([call]);
      driver.cancel();
      driver.tool(1, doubtfulAnswer, tool(driver, 1));
      expect(driver.types).toEqual(["tool_call.became_unknown", "run.cancelled"]);
    }
  });

  test("a probe in flight that finds nothing: not sent again", () => {
    const driver = planned([probeable({ gate: null })]).crash();
    driver.cancel();
    driver.tool(1, () => ({ kind: "absent" }), { id: driver.id(1), attempt: 2, incarnation: 1 });
    expect(driver.types).toEqual(["tool_call.finished", "run.cancelled"]);
    expect(driver.calls()).toEqual(["cancelled"]);
  });

  test("a wake while it settles settles at once", () => {
    const driver = planned([read(), note()]);
    driver.cancel();
    driver.crash();
    expect(driver.types).toEqual(["tool_call.finished", "tool_call.became_unknown", "run.cancelled"]);
  });

  test("an answer after the end is recorded for people, and changes nothing else", () => {
    const driver = planned([note()]);
    driver.cancel();
    driver.wait(10_000);
    driver.tool(1, okAnswer, tool(driver, 1));
    expect(driver.types).toEqual(["tool_call.late_result"]);
    expect(driver.calls()).toEqual(["unknown"]);
  });

  test("what had been done in earlier steps is listed too, reads are not", () => {
    const driver = planned([note(), read()]);
    driver.tool(1).tool(2);
    driver.cancel();
    driver.answer(abortedOf(""), { ...model(driver), id: `${driver.run.id}.s2` });
    expect(driver.event("run.cancelled").data.sideEffects).toMatchObject([{ tool: "note", state: "succeeded" }]);
  });
});

describe("Cancelling again, or too late, or not as oneself", () => {
  test("a cancelling or cancelled run: accepted, and nothing more happens", () => {
    const driver = asking();
    driver.cancel();
    expect(driver.cancel()).toBeNull();
    expect(driver.types).toEqual([]);
    driver.wait(10_000);
    expect(driver.cancel()).toBeNull();
    driver.start();
    driver.final();
    expect(driver.cancel(1)).toBeNull();
    expect(driver.types).toEqual([]);
  });

  test("a completed or failed run: refused, with the run", () => {
    const driver = asking().final();
    expect(driver.cancel(1)).toMatchObject({ code: "run_finished", extensions: { run: { status: "completed" } } });
    driver.start();
    driver.final();
    expect(driver.cancel(1)?.code).toBe("run_finished");
  });

  test.each([
    ["another editor", bob, "forbidden"],
    ["a stranger", eve, "not_found"],
  ])("%s: %s", (_, who, code) => {
    expect(asking().cancel(1, who)?.code).toBe(code);
  });

  test("the owner may cancel anybody's run, the starter their own", () => {
    const start = () => {
      const driver = new Driver();
      driver.start("hello", { who: bob });
      return driver;
    };
    expect(start().cancel(1, alice)).toBeNull();
    expect(start().cancel(1, bob)).toBeNull();
    expect(start().cancel(2, alice)?.code).toBe("not_found");
  });

  test("usage of every attempt is in the end's figures", () => {
    const driver = asking();
    driver.answer(planOf([read()], { usage: usageOf(5, 6) })).tool(1);
    driver.cancel();
    driver.answer(
      { kind: "aborted", text: { text: "" }, usage: usageOf(7, 8) },
      { ...model(driver), id: `${driver.run.id}.s2` },
    );
    expect(driver.event("run.cancelled").data.usage).toMatchObject({ inputTokens: 12, outputTokens: 14 });
  });
});
