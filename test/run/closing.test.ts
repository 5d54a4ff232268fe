import { describe, expect, test } from "vitest";
import { planned } from "./driver.ts";
import { alice, carol, dave, DAY, GATE, note, read, transfer } from "./kit.ts";

const pair = () => transfer({ gate: { ...GATE, quorum: 2 } });

describe("The checks have one order", () => {
  /** Everything is wrong at once: each repair uncovers the next code. */
  test("unknown, not allowed, stale, other digest, bad arguments", () => {
    const driver = planned([transfer()]);
    const bad = { toolCallId: driver.id(9), argsDigest: "other", decision: "edit", args: {} } as const;
    const facts = { toolDigests: {}, edits: {} };
    expect(driver.resume({ decisions: [bad] }, dave, facts)?.code).toBe("not_found");
    const known = { ...bad, toolCallId: driver.id(1) };
    expect(driver.resume({ decisions: [known] }, dave, facts)?.code).toBe("forbidden");
    const toolDigests = { [known.toolCallId]: driver.call(1).toolDigest };
    expect(driver.resume({ decisions: [known] }, alice, { ...facts, toolDigests })?.code).toBe("digest_mismatch");
    const shown = { ...known, argsDigest: driver.call(1).argsDigest };
    expect(driver.resume({ decisions: [shown] }, alice, { ...facts, toolDigests })?.code).toBe("invalid_request");
    expect(driver.resume({ decisions: [known] }, alice, facts)?.code).toBe("confirmation_stale");
  });

  test("a decision that was made is told before anything that came after it, with who and when", () => {
    const driver = planned([transfer(), transfer()]);
    driver.approve(1, carol);
    const told = {
      code: "already_decided",
      detail: "carol decided (approve) at 2026-11-01T08:00:00.000Z.",
      extensions: {
        decidedBy: { kind: "user", id: "carol" },
        decidedAt: "2026-11-01T08:00:00.000Z",
        decision: "approve",
      },
    };
    expect(driver.reject(1)).toMatchObject(told);
    driver.wait(DAY);
    expect(driver.call(1).state).toBe("expired");
    expect(driver.reject(1)).toMatchObject(told);
    driver.cancel();
    expect(driver.reject(1)).toMatchObject(told);
  });

  test("an expiry is told before the end of the run, and nobody's partial approval is called a decision", () => {
    const driver = planned([pair()]);
    driver.approve(1, carol);
    driver.wait(DAY);
    expect(driver.approve(1, alice)?.code).toBe("confirmation_expired");
    driver.final();
    expect(driver.approve(1, alice)?.code).toBe("confirmation_expired");
    driver.start();
    driver.final();
    expect(driver.approve(1, alice)?.code).toBe("not_found");
    expect(driver.approve(`${driver.runN(2)?.id.replace("r2", "r1")}.t1`, alice)?.code).toBe("run_finished");
  });

  test("the end of the run, or the way to it, is told where nobody had decided", () => {
    const driver = planned([note(), transfer()]);
    driver.cancel();
    expect(driver.call(2).state).toBe("cancelled");
    expect(driver.approve(2)?.code).toBe("run_finished");
    driver.tool(1, undefined, { id: driver.id(1), attempt: 1, incarnation: 0 });
    expect(driver.approve(2)).toMatchObject({ code: "run_finished", extensions: { run: { status: "cancelled" } } });
  });

  test("a call that waits for nothing is told so", () => {
    const driver = planned([read(), transfer()]);
    expect(driver.approve(1)?.code).toBe("not_interrupted");
  });
});

describe("A stale confirmation", () => {
  test("is expired by whoever tries to decide it, and the model is told", () => {
    const driver = planned([transfer()]);
    expect(driver.resume({ decisions: [driver.decision(1)] }, alice, { toolDigests: {} })?.code).toBe(
      "confirmation_stale",
    );
    expect(driver.types).toEqual(["confirmation.expired", "run.resumed", "step.started"]);
    expect(driver.event("confirmation.expired").data).toMatchObject({ reason: "stale" });
    expect(driver.approve(1)?.code).toBe("confirmation_expired");
    driver.finish();
  });

  test("takes nothing of the same request with it", () => {
    const driver = planned([transfer(), transfer()]);
    const decisions = [driver.decision(1), driver.decision(2)];
    const toolDigests = { [driver.id(1)]: driver.call(1).toolDigest };
    expect(driver.resume({ decisions }, alice, { toolDigests })).toMatchObject({
      errors: [{ pointer: "/decisions/1" }],
    });
    expect(driver.calls()).toEqual(["awaiting_confirmation", "expired"]);
  });

  test("a stale resolution expires no confirmation of the same request", () => {
    const driver = planned([transfer(), note()]);
    driver.crash();
    const body = { decisions: [driver.decision(1)], resolutions: [driver.resolution(2, "did_not_happen")] };
    const toolDigests = { [driver.id(1)]: driver.call(1).toolDigest };
    expect(driver.resume(body, alice, { toolDigests })).toMatchObject({
      code: "confirmation_stale",
      errors: [{ pointer: "/resolutions/0" }],
    });
    expect(driver.calls()).toEqual(["awaiting_confirmation", "unknown"]);
  });
});

describe("Expiry", () => {
  test("is expired for its decision, whatever the alarm did", () => {
    const driver = planned([transfer(), transfer({ gate: { ...GATE, expiresInMs: 2 * DAY } })]);
    driver.now += DAY;
    expect(driver.approve(1)?.code).toBe("confirmation_expired");
    expect(driver.types).toEqual(["confirmation.expired"]);
    expect(driver.event("confirmation.expired").data).toMatchObject({
      reason: "undecided",
      payload: { error: { code: "expired" } },
    });
  });

  test("not a millisecond before", () => {
    const driver = planned([transfer()]);
    driver.now += DAY - 1;
    expect(driver.approve(1)).toBeNull();
  });

  test("of a call that was approved but has not started: it does not start any more", () => {
    const driver = planned([transfer(), transfer({ gate: { ...GATE, expiresInMs: 2 * DAY } })]);
    driver.approve(1);
    driver.wait(DAY);
    expect(driver.event("confirmation.expired").data.reason).toBe("not_started");
    driver.approve(2);
    expect(driver.calls()).toEqual(["expired", "executing"]);
  });

  test("of all without any decision ends the run, cancelled", () => {
    const driver = planned([transfer(), transfer()]);
    driver.wait(DAY);
    expect(driver.types).toEqual(["confirmation.expired", "confirmation.expired", "run.cancelled"]);
    expect(driver.event("run.cancelled").data.stop.code).toBe("confirmation_expired");
  });

  test("of all ends the run only when its other calls have ended", () => {
    const driver = planned([transfer(), read({ timeoutMs: 3 * DAY })], { limits: { maxRunMs: 3 * DAY } });
    driver.wait(DAY);
    expect(driver.types).toEqual(["confirmation.expired"]);
    driver.tool(2);
    expect(driver.types).toEqual(["tool_call.finished", "run.cancelled"]);
  });

  test("of the rest, after somebody decided one, is told to the model", () => {
    const driver = planned([transfer(), transfer()]);
    driver.reject(1);
    driver.wait(DAY);
    expect(driver.types).toEqual(["confirmation.expired", "run.resumed", "step.started"]);
  });

  test("a partial quorum is a word: the run goes on", () => {
    const driver = planned([pair()]);
    driver.approve(1);
    driver.wait(DAY);
    expect(driver.types).toEqual(["confirmation.expired", "run.resumed", "step.started"]);
  });
});
