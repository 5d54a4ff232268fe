import { describe, expect, test } from "vitest";
import type { PreparedEdit } from "../../src/run/inputs.ts";
import { callView } from "../../src/run/views.ts";
import { planned } from "./driver.ts";
import { alice, bob, carol, dave, DAY, digest, GATE, HOUR, note, olga, read, transfer } from "./kit.ts";

const pair = () => transfer({ gate: { ...GATE, quorum: 2 } });
const edited = (over: Partial<Extract<PreparedEdit, { kind: "ready" }>> = {}): PreparedEdit => ({
  kind: "ready",
  args: { cents: 5 },
  argsDigest: digest(),
  preview: { rows: [{ label: "cents", value: "5" }] },
  gate: GATE,
  changed: false,
  ...over,
});

describe("Approving", () => {
  test("the last approval closes the confirmation, and the call starts in the same commit", () => {
    const driver = planned([transfer()]);
    expect(driver.approve(1)).toBeNull();
    expect(driver.types).toEqual(["confirmation.decided", "run.resumed", "tool_call.started"]);
    expect(driver.event("confirmation.decided").data).toMatchObject({
      decision: "approve",
      remaining: 0,
      closed: true,
    });
  });

  test("a quorum needs different people", () => {
    const driver = planned([pair()]);
    driver.approve(1);
    expect(driver.event("confirmation.decided").data).toMatchObject({ remaining: 1, closed: false });
    expect(driver.approve(1)).toMatchObject({ code: "already_decided", extensions: { decidedBy: { id: "alice" } } });
    expect(driver.approve(1, carol)).toBeNull();
    expect(driver.types).toContain("tool_call.started");
  });

  test("a viewer may not decide, unless the run is theirs", () => {
    const driver = planned([transfer()]);
    expect(driver.approve(1, dave)?.code).toBe("forbidden");
    expect(driver.approve(1, olga)?.code).toBe("not_found");
    const theirs = planned([transfer()]);
    theirs.cancel();
    theirs.start("mine", { who: bob });
    theirs.plan(transfer());
    theirs.command({ type: "put_participant", userId: "bob", body: { role: "viewer" } });
    expect(theirs.approve(1, bob)).toBeNull();
  });

  test("self-approval may be off; then somebody else must decide", () => {
    const driver = planned([transfer({ gate: { ...GATE, selfApproval: false } })]);
    expect(driver.approve(1, alice)?.code).toBe("self_approval_forbidden");
    expect(driver.approve(1, bob)).toBeNull();
  });

  test("a tool may name the roles that decide", () => {
    const driver = planned([transfer({ gate: { ...GATE, approvers: ["lead"] } })]);
    expect(driver.approve(1, bob)?.code).toBe("approval_not_allowed");
    expect(driver.approve(1, carol)).toBeNull();
  });

  test.each(["confirmations:decide", "bank:transfer"])("without the scope %s nobody decides", (scope) => {
    const driver = planned([transfer()]);
    const who = { ...carol, scopes: carol.scopes.filter((one) => one !== scope) };
    expect(driver.approve(1, who)?.code).toBe("scope_missing");
  });
});

describe("Rejecting", () => {
  test("the first rejection closes the confirmation, and the model is told why", () => {
    const driver = planned([pair()]);
    driver.approve(1);
    expect(driver.reject(1, carol, "too much")).toBeNull();
    expect(driver.types).toEqual(["confirmation.decided", "run.resumed", "step.started"]);
    expect(driver.event("confirmation.decided").data).toMatchObject({
      closed: true,
      payload: { success: false, error: { code: "rejected", message: "A person rejected this. (too much)" } },
    });
  });

  test("one may take back one's own approval while the question is open", () => {
    const driver = planned([pair()]);
    driver.approve(1);
    expect(driver.reject(1)).toBeNull();
    expect(driver.call(1).state).toBe("rejected");
  });
});

describe("Editing", () => {
  test("arguments that stay exactly as edited are thereby approved, and run", () => {
    const driver = planned([transfer()]);
    const edit = edited();
    expect(driver.edit(1, edit)).toBeNull();
    expect(driver.types).toEqual(["confirmation.decided", "run.resumed", "tool_call.started"]);
    expect(driver.event("tool_call.started").data.argsDigest).toBe(driver.call(1).argsDigest);
    expect(driver.call(1).args).toEqual({ cents: 5 });
  });

  test("what normalising changed must be seen again, with a new digest, preview and deadline", () => {
    const driver = planned([transfer()]);
    const before = driver.call(1).argsDigest;
    driver.now += HOUR;
    expect(driver.edit(1, edited({ changed: true }))).toBeNull();
    expect(driver.types).toEqual(["confirmation.decided", "confirmation.requested"]);
    const call = driver.call(1);
    expect(callView(driver.run, call)).toMatchObject({ state: "awaiting_confirmation", args: { cents: 5 } });
    expect(call.argsDigest).not.toBe(before);
    expect(call.expiresAt).toBe(driver.now + DAY);
    expect(driver.approve(1, alice, { argsDigest: before })?.code).toBe("digest_mismatch");
    expect(driver.approve(1)).toBeNull();
  });

  test.each([
    ["more people", { ...GATE, quorum: 2 }],
    ["somebody else", { ...GATE, selfApproval: false }],
    ["certain roles", { ...GATE, approvers: ["lead"] }],
  ])("where policy then asks for %s, it is asked again", (_, gate) => {
    const driver = planned([transfer()]);
    driver.edit(1, edited({ gate }));
    expect(driver.types).toEqual(["confirmation.decided", "confirmation.requested"]);
    expect(driver.call(1).gate).toEqual(gate);
  });

  test("a laxer policy for the edited arguments does not lower the quorum", () => {
    const driver = planned([pair()]);
    driver.edit(1, edited({ gate: GATE }));
    expect(driver.event("confirmation.decided").data).toMatchObject({ remaining: 1, closed: false });
  });

  test("it voids the approvals given to other arguments, and counts as the editor's own", () => {
    const driver = planned([pair()]);
    driver.approve(1, alice);
    driver.edit(1, edited({ gate: { ...GATE, quorum: 2 } }), carol);
    expect(driver.call(1).decisions.map(({ decision, voided }) => [decision, voided ?? false])).toEqual([
      ["approve", true],
      ["edit", false],
    ]);
    expect(driver.event("confirmation.decided").data.remaining).toBe(1);
    expect(driver.approve(1, carol)?.code).toBe("already_decided");
    expect(driver.approve(1, alice)).toBeNull();
    expect(driver.types).toContain("tool_call.started");
  });

  test("one may edit what one has approved, while it is open", () => {
    const driver = planned([pair()]);
    driver.approve(1);
    expect(driver.edit(1, edited({ gate: { ...GATE, quorum: 2 } }))).toBeNull();
    expect(driver.approve(1, carol)).toBeNull();
    expect(driver.call(1).state).toBe("executing");
  });

  test("refused arguments are told by pointer, and the call stays open", () => {
    const driver = planned([transfer()]);
    expect(driver.edit(1, { kind: "refused", detail: "must be positive", pointer: "/cents" })).toMatchObject({
      code: "invalid_request",
      errors: [{ pointer: "/decisions/0/args/cents", detail: "must be positive" }],
    });
    expect(driver.calls()).toEqual(["awaiting_confirmation"]);
  });
});

describe("A request with several answers", () => {
  test("is all or none, and the pointer names the bad one", () => {
    const driver = planned([transfer(), transfer()]);
    const decisions = [driver.decision(1), driver.decision(2, "approve", { argsDigest: "other" })];
    expect(driver.resume({ decisions })).toMatchObject({
      code: "digest_mismatch",
      errors: [{ pointer: "/decisions/1" }],
    });
    expect(driver.types).toEqual([]);
    expect(driver.calls()).toEqual(["awaiting_confirmation", "awaiting_confirmation"]);
  });

  test("may approve one, reject another and resolve a third", () => {
    const driver = planned([transfer(), transfer(), note()]);
    driver.crash();
    const decisions = [driver.decision(1), driver.decision(2, "reject")];
    expect(driver.resume({ decisions, resolutions: [driver.resolution(3, "happened")] })).toBeNull();
    expect(driver.calls()).toEqual(["executing", "rejected", "succeeded"]);
  });

  test("names each call once", () => {
    const driver = planned([transfer()]);
    const decisions = [driver.decision(1), driver.decision(1, "reject")];
    expect(driver.resume({ decisions })).toMatchObject({
      code: "invalid_request",
      errors: [{ pointer: "/decisions/1/toolCallId" }],
    });
  });

  test("answers for one run only", () => {
    const driver = planned([transfer()]);
    const decision = driver.decision(1);
    driver.start("second");
    expect(driver.resume({ decisions: [decision] }, alice, {}, driver.state.queue[0]?.id)?.code).toBe("not_found");
  });
});

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
