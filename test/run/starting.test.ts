import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { runView } from "../../src/run/views.ts";
import { Driver, planned } from "./driver.ts";
import { alice, bob, carol, dave, eve, failedOf, note, olga, transfer } from "./kit.ts";

/** One run is being asked, one waits behind it. */
function busy(): Driver {
  const driver = new Driver();
  driver.start("first");
  driver.start("second");
  return driver;
}

describe("In an idle conversation", () => {
  test("a start registers the run, starts it and asks the model, in one commit", () => {
    const driver = new Driver();
    expect(driver.start("hello")).toBeNull();
    expect(driver.types).toEqual(["run.queued", "run.started", "message.created", "step.started"]);
    expect(driver.event("run.queued").data).toMatchObject({ position: 1, continues: false });
    expect(driver.event("run.started").data.deadlineAt).toBe("2026-11-01T08:15:00.000Z");
    expect(driver.event("message.created").data.message).toMatchObject({
      role: "user",
      by: { kind: "user", id: "alice" },
    });
    expect(driver.event("step.started").data).toMatchObject({ n: 1, attempt: 1, agentDigest: "agent" });
  });

  test.each(["enqueue", "reject", "replace"] as const)("whenBusy %s starts at once", (whenBusy) => {
    const driver = new Driver();
    expect(driver.start("hello", { whenBusy })).toBeNull();
    expect(driver.status(1)).toBe("running");
  });

  test("the title is the beginning of the first message, in one line", () => {
    const driver = new Driver();
    driver.start(`  Pay\n\nthe ${"very ".repeat(40)}long bill`);
    expect(driver.state.title).toMatch(/^Pay the very /);
    expect(driver.state.title?.length).toBeLessThanOrEqual(80);
  });

  test.each([
    ["an editor", bob, null],
    ["an approver", carol, "forbidden"],
    ["a viewer", dave, "forbidden"],
    ["a stranger", eve, "not_found"],
    ["an operator without a hand-over", olga, "not_found"],
    ["the owner's namesake of another tenant", { ...alice, tenantId: "other" }, "not_found"],
  ])("%s who starts a run is told: %s", (_, who, code) => {
    const driver = new Driver();
    expect(driver.start("hello", { who })?.code ?? null).toBe(code);
  });
});

describe("In a busy conversation", () => {
  test("enqueue waits at the end, and is told its place and what it waits for", () => {
    const driver = busy();
    driver.start("third");
    expect(driver.types).toEqual(["run.queued"]);
    expect(driver.event("run.queued").data).toMatchObject({ position: 2, blockedBy: { runId: driver.run.id } });
    const third = driver.runN(3);
    expect(third && runView(driver.state, third)).toMatchObject({ status: "queued", position: 2 });
  });

  test("what it waits for names the phase of the run that waits itself", () => {
    const driver = planned([transfer()]);
    driver.start("second");
    expect(driver.event("run.queued").data.blockedBy).toEqual({ runId: driver.run.id, phase: "awaiting_confirmation" });
  });

  test("a new message confirms nothing and executes nothing", () => {
    const driver = planned([transfer()]);
    driver.start("yes, do it");
    expect(driver.calls()).toEqual(["awaiting_confirmation"]);
  });

  test("the queued run's message is said when it starts, so the log's order is the conversation's", () => {
    const driver = busy();
    driver.final();
    expect(driver.types).toEqual([
      "message.completed",
      "step.finished",
      "run.completed",
      "run.started",
      "message.created",
      "step.started",
    ]);
    expect(driver.event("message.created").data.message.parts).toEqual([{ type: "text", text: "second" }]);
  });

  test("reject is refused with what is in the way, and nothing is stored", () => {
    const driver = busy();
    expect(driver.start("third", { whenBusy: "reject" })).toMatchObject({
      code: "run_active",
      extensions: { blockedBy: { runId: driver.run.id } },
    });
    expect(driver.types).toEqual([]);
  });

  test("the queue is bounded", () => {
    const driver = new Driver();
    for (let n = 0; n <= LIMITS.queuedRuns; n++) expect(driver.start()).toBeNull();
    expect(driver.start()?.code).toBe("queue_full");
  });

  test("a conversation that is full takes no run", () => {
    const driver = new Driver();
    driver.state = { ...driver.state, seq: LIMITS.conversationEvents };
    expect(driver.start()?.code).toBe("conversation_full");
  });
});

describe("Replacing", () => {
  test("cancels the active run only; the new run goes to the head and starts when the old has settled", () => {
    const driver = busy();
    expect(driver.start("instead", { whenBusy: "replace" })).toBeNull();
    expect(driver.types).toEqual(["run.queued", "run.cancel_requested"]);
    expect(driver.state.queue.map(({ n }) => n)).toEqual([3, 2]);
    driver.answer(
      { kind: "aborted", text: { text: "" }, usage: driver.run.usage },
      { id: `${driver.run.id}.s1`, attempt: 1, incarnation: 0 },
    );
    expect(driver.types).toEqual(["step.finished", "run.cancelled", "run.started", "message.created", "step.started"]);
    expect(driver.event("run.cancelled").data.stop.code).toBe("replaced");
    expect(driver.run.n).toBe(3);
  });

  test("of a run that only waits starts the new one in the same commit", () => {
    const driver = planned([transfer()]);
    driver.start("instead", { whenBusy: "replace" });
    expect(driver.types).toEqual([
      "run.queued",
      "run.cancel_requested",
      "tool_call.finished",
      "run.cancelled",
      "run.started",
      "message.created",
      "step.started",
    ]);
  });

  test("of a run that is already stopping does not stop it again", () => {
    const driver = busy();
    driver.cancel(1);
    expect(driver.start("instead", { whenBusy: "replace" })).toBeNull();
    expect(driver.types).toEqual(["run.queued"]);
    expect(driver.run.halt?.code).toBe("cancelled_by_user");
  });

  test("of somebody else's run needs the right to cancel it", () => {
    const driver = busy();
    expect(driver.start("instead", { whenBusy: "replace", who: bob })?.code).toBe("forbidden");
    driver.finish();
  });

  test("leaves an unknown call unknown, for people to resolve later", () => {
    const driver = planned([note()]);
    driver.start("instead", { whenBusy: "replace" });
    driver.wait(10_000);
    expect(driver.runN(1)?.calls.map(({ state }) => state)).toEqual(["unknown"]);
    expect(driver.status(2)).toBe("running");
  });
});

describe("While a run is queued", () => {
  test("its starter may change its input", () => {
    const driver = busy();
    expect(driver.editRun(2, "other")).toBeNull();
    expect(driver.types).toEqual(["run.input_edited"]);
    driver.final();
    expect(driver.event("message.created").data.message.parts).toEqual([{ type: "text", text: "other" }]);
  });

  test("its starter may drop it; that says who did", () => {
    const driver = busy();
    expect(driver.drop(2)).toBeNull();
    expect(driver.types).toEqual(["run.cancelled"]);
    expect(driver.event("run.cancelled")).toMatchObject({
      by: { id: "alice" },
      data: { stop: { code: "cancelled_by_user" } },
    });
    expect(driver.status(1)).toBe("running");
  });

  test("cancelling it drops it", () => {
    const driver = busy();
    expect(driver.cancel(2)).toBeNull();
    expect(driver.status(2)).toBe("cancelled");
  });

  test.each([
    ["edited", (driver: Driver) => driver.editRun(1, "other")],
    ["dropped", (driver: Driver) => driver.drop(1)],
  ])("a run that has started cannot be %s", (_, act) => {
    const driver = busy();
    expect(act(driver)?.code).toBe("run_started");
    driver.final();
    expect(act(driver)?.code).toBe("run_started");
  });

  test.each([
    ["edit", (driver: Driver) => driver.editRun(2, "other", bob)],
    ["drop", (driver: Driver) => driver.drop(2, bob)],
  ])("another editor may not %s it, the owner may", (_, act) => {
    const driver = busy();
    expect(act(driver)?.code).toBe("forbidden");
    const theirs = new Driver();
    theirs.start("first", { who: bob });
    theirs.start("second", { who: bob });
    expect(theirs.drop(2, alice)).toBeNull();
  });

  test("a run that never was is not found", () => {
    expect(busy().drop(9)?.code).toBe("not_found");
    expect(busy().editRun(9, "other")?.code).toBe("not_found");
  });
});

describe("Retrying", () => {
  function failed(): Driver {
    const driver = new Driver();
    driver.start("hello");
    driver.answer(failedOf("model_overloaded"));
    return driver;
  }

  test("is a new run without a message, which goes on from the log as it is", () => {
    const driver = failed();
    expect(driver.retry()).toBeNull();
    expect(driver.types).toEqual(["run.queued", "run.started", "step.started"]);
    expect(driver.event("run.queued").data).toMatchObject({ retryOf: driver.runN(1)?.id, continues: true });
  });

  test("of a cancelled run works too; of a completed one there is nothing to retry", () => {
    const driver = planned([transfer()]);
    driver.cancel();
    expect(driver.retry()).toBeNull();
    driver.final();
    expect(driver.retry()?.code).toBe("run_finished");
  });

  test("is of the latest run only", () => {
    const driver = failed();
    driver.retry();
    driver.answer(failedOf("model_overloaded"));
    expect(driver.retry(1)?.code).toBe("run_finished");
    expect(driver.retry(2)).toBeNull();
  });

  test("is refused while another run is active", () => {
    const driver = failed();
    driver.start();
    expect(driver.retry(1)?.code).toBe("run_active");
  });

  test("is refused while a call of it is unresolved", () => {
    const driver = planned([note()]);
    driver.crash();
    driver.cancel();
    expect(driver.retry()?.code).toBe("outcome_unknown");
    driver.resolve(1, "give_up");
    expect(driver.retry()).toBeNull();
  });

  test("of a run that never started starts with its stored input; again retried, it does not say it twice", () => {
    const driver = busy();
    driver.takeOver({ ...alice, scopes: [...alice.scopes, "handover:operate"] });
    driver.cancel(1);
    driver.cancel(2);
    driver.release(alice);
    expect(driver.retry(2)).toBeNull();
    expect(driver.event("message.created").data.message.parts).toEqual([{ type: "text", text: "second" }]);
    driver.answer(failedOf("model_overloaded"));
    driver.retry(3);
    driver.answer(failedOf("model_overloaded"));
    driver.retry(4);
    expect(driver.types).not.toContain("message.created");
  });

  test("is for the starter and the owner", () => {
    expect(failed().retry(1, bob)?.code).toBe("forbidden");
    expect(failed().retry(1, eve)?.code).toBe("not_found");
    expect(failed().retry(7)?.code).toBe("not_found");
  });
});
