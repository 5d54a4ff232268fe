import { describe, expect, test } from "vitest";
import type { PreparedEdit } from "../../src/run/inputs.ts";
import { callView } from "../../src/run/views.ts";
import { planned } from "./driver.ts";
import { alice, bob, carol, dave, DAY, digest, GATE, HOUR, note, olga, transfer } from "./kit.ts";

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
