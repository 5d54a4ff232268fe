import { describe, expect, test } from "vitest";
import { outstanding } from "../../src/run/outstanding.ts";
import { Driver, planned } from "./driver.ts";
import { alice, bob, carol, dave, eve, finalOf, note, okAnswer, olga, read, transfer } from "./kit.ts";

const otto = { ...olga, userId: "otto" };
/** bob asks for a person, olga takes over. */
function taken(driver: Driver): Driver {
  driver.takeOver(bob);
  driver.takeOver(olga);
  return driver;
}
function asking(): Driver {
  const driver = new Driver();
  driver.start();
  return driver;
}

describe("Asking for a person", () => {
  test("whoever may start runs may ask; asking twice asks once; the run goes on meanwhile", () => {
    const driver = asking();
    expect(driver.takeOver(bob)).toBeNull();
    expect(driver.types).toEqual(["handover.requested"]);
    expect(driver.takeOver(alice)).toBeNull();
    expect(driver.types).toEqual([]);
    driver.final();
    expect(driver.status(1)).toBe("completed");
  });

  test.each([
    ["a viewer", dave, "forbidden"],
    ["an approver", carol, "forbidden"],
    ["a stranger", eve, "not_found"],
  ])("%s: %s", (_, who, code) => {
    expect(asking().takeOver(who)?.code).toBe(code);
  });

  test("an operator reaches nothing before somebody has asked", () => {
    expect(asking().takeOver(olga)?.code).toBe("not_found");
    expect(asking().say("hello", olga)?.code).toBe("not_found");
  });
});

describe("Taking over", () => {
  test("takes a model request in flight back; what it answers changes nothing", () => {
    const driver = asking();
    const asked = driver.modelEffect;
    taken(driver);
    expect(driver.types).toEqual(["handover.accepted", "step.superseded", "run.interrupted"]);
    expect(driver.event("run.interrupted").data.waitsFor).toEqual(["handover"]);
    expect(outstanding(driver.state, driver.now)).toEqual([]);
    driver.answer(finalOf("done"), asked);
    expect(driver.types).toEqual([]);
  });

  test("lets tools in flight finish, and starts nothing new", () => {
    const driver = taken(planned([note(), note()]));
    expect(driver.status(1)).toBe("running");
    driver.tool(1);
    expect(driver.types).toEqual(["tool_call.finished", "run.interrupted"]);
    expect(driver.calls()).toEqual(["succeeded", "proposed"]);
  });

  test("stores decisions; approved calls wait", () => {
    const driver = taken(planned([transfer()]));
    expect(driver.approve(1, carol)).toBeNull();
    expect(driver.types).toEqual(["confirmation.decided"]);
    expect(driver.calls()).toEqual(["approved"]);
    driver.release();
    expect(driver.types).toEqual(["handover.released", "run.resumed", "tool_call.started"]);
  });

  test("stores resolutions too; the fresh approval waits", () => {
    const driver = taken(planned([note()]).crash());
    driver.resolve(1, "did_not_happen");
    expect(driver.types).toEqual(["tool_call.resolved"]);
    driver.release();
    expect(driver.calls()).toEqual(["executing"]);
  });

  test("a run that waits for a person too names that first", () => {
    const driver = taken(planned([transfer()]));
    expect(driver.start()?.code).toBe("handed_over");
    expect(driver.status(1)).toBe("interrupted");
  });

  test("is one operator's at a time", () => {
    const driver = taken(asking());
    expect(driver.takeOver(olga)).toBeNull();
    expect(driver.types).toEqual([]);
    expect(driver.takeOver(otto)?.code).toBe("handed_over");
    expect(driver.say("hello", otto)?.code).toBe("handed_over");
    expect(driver.release(otto)?.code).toBe("handed_over");
    expect(driver.takeOver(bob)?.code).toBe("handed_over");
  });

  test("starts, and retries, are refused meanwhile", () => {
    const driver = taken(asking());
    expect(driver.start()?.code).toBe("handed_over");
    driver.cancel();
    expect(driver.retry()?.code).toBe("handed_over");
  });

  test("gives an operator no place: they decide nothing and cancel nothing", () => {
    const driver = taken(planned([transfer()]));
    expect(driver.approve(1, olga)?.code).toBe("forbidden");
    expect(driver.cancel(1, olga)?.code).toBe("forbidden");
  });

  test("of a run that is stopping leaves the stop as it is", () => {
    const driver = asking();
    driver.cancel();
    taken(driver);
    expect(driver.types).toEqual(["handover.accepted"]);
    driver.wait(10_000);
    expect(driver.status(1)).toBe("cancelled");
  });

  test("a crash meanwhile asks nothing anew", () => {
    const driver = taken(planned([note(), read()]));
    driver.crash();
    expect(driver.calls()).toEqual(["unknown", "executing"]);
    driver.tool(2);
    expect(driver.types).toEqual(["tool_call.finished", "run.interrupted"]);
  });
});

describe("Saying something as the operator", () => {
  test("is a message of the conversation, with the run that it belongs to", () => {
    const driver = taken(asking());
    expect(driver.say("I am here")).toBeNull();
    expect(driver.event("message.created").data.message).toMatchObject({
      role: "operator",
      by: { kind: "operator", id: "olga" },
      runId: driver.run.id,
      parts: [{ type: "text", text: "I am here" }],
    });
  });

  test("needs a hand-over that was accepted, and the operator's scope", () => {
    const driver = asking();
    driver.takeOver(bob);
    expect(driver.say("hello")?.code).toBe("not_interrupted");
    expect(driver.say("hello", alice)?.code).toBe("forbidden");
  });
});

describe("Handing back", () => {
  test("the run goes on as the same step, and the hand-over counts as no attempt", () => {
    const driver = taken(asking());
    driver.say("I am here");
    expect(driver.release()).toBeNull();
    expect(driver.types).toEqual(["handover.released", "run.resumed", "step.started"]);
    expect(driver.run.step).toMatchObject({ n: 1, attempt: 2, supersessions: 0, retries: 0 });
    driver.answer(finalOf("said before the hand-over"), { ...driver.modelEffect, attempt: 1 });
    expect(driver.types).toEqual([]);
    driver.crash().crash();
    expect(driver.status(1)).toBe("running");
    driver.final();
    expect(driver.status(1)).toBe("completed");
  });

  test("queued runs start", () => {
    const driver = asking();
    driver.start("second");
    taken(driver);
    driver.cancel(1);
    expect(driver.state.active).toBeNull();
    expect(driver.status(2)).toBe("queued");
    driver.release();
    expect(driver.types).toEqual(["handover.released", "run.started", "message.created", "step.started"]);
  });

  test("the owner may take it back, another participant may not", () => {
    const driver = taken(asking());
    expect(driver.release(bob)?.code).toBe("forbidden");
    expect(driver.release(alice)).toBeNull();
    expect(driver.event("handover.released").by).toEqual({ kind: "user", id: "alice" });
  });

  test("what was never taken over needs no release", () => {
    const driver = asking();
    expect(driver.release(alice)).toBeNull();
    expect(driver.types).toEqual([]);
    driver.takeOver(bob);
    expect(driver.release(alice)).toBeNull();
    expect(driver.types).toEqual(["handover.released"]);
    expect(driver.takeOver(olga)?.code).toBe("not_found");
  });

  test("an answer that comes during the hand-over is read when it is over", () => {
    const driver = taken(planned([read()]));
    driver.tool(1, okAnswer);
    driver.release();
    expect(driver.types).toEqual(["handover.released", "run.resumed", "step.started"]);
  });
});

test("an operator who is deactivated answers nobody: another one is asked for, and the run goes on meanwhile", () => {
  const driver = taken(asking());
  driver.input({ type: "deactivated", userId: "bob" });
  expect(driver.state.handover).toEqual({ state: "active", operator: "olga" });
  driver.input({ type: "deactivated", userId: "olga" });
  expect(driver.types).toEqual(["handover.requested", "run.resumed", "step.started"]);
  expect(driver.state.handover).toEqual({ state: "requested", operator: null });
  expect(driver.takeOver(otto)).toBeNull();
  expect(driver.state.handover).toEqual({ state: "active", operator: "otto" });
});
