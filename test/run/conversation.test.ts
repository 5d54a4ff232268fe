import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Role } from "../../src/protocol/roles.ts";
import { conversationView } from "../../src/run/views.ts";
import { Driver, planned } from "./driver.ts";
import { alice, bob, carol, dave, eve, note, okAnswer, olga, read, transfer } from "./kit.ts";

const put = (driver: Driver, userId: string, role: Role, who = alice) =>
  driver.command({ type: "put_participant", userId, body: { role } }, who);
const remove = (driver: Driver, userId: string, who = alice) =>
  driver.command({ type: "remove_participant", userId, body: {} }, who);

describe("A conversation", () => {
  test("is made once", () => {
    const driver = new Driver();
    const facts = { create: { conversationId: "01hq3vezx8k2m4n6p7r9s0t1w6", generation: "gen1gen1" } };
    expect(driver.command({ type: "create_conversation", body: { agent: "other" } }, alice, facts)?.code).toBe(
      "not_found",
    );
    expect(driver.state.identity?.agent).toBe("banker");
  });

  test("is renamed and archived by its owner; what is so already is no event", () => {
    const driver = new Driver();
    const update = (body: { title?: string; archived?: boolean }, who = alice) =>
      driver.command({ type: "update_conversation", body }, who);
    expect(update({ title: "Bills", archived: true })).toBeNull();
    expect(driver.event("conversation.updated").data).toEqual({ title: "Bills", archived: true });
    expect(update({ title: "Bills" })).toBeNull();
    expect(driver.types).toEqual([]);
    expect(update({ title: "Mine" }, bob)?.code).toBe("forbidden");
    expect(update({ title: "Mine" }, eve)?.code).toBe("not_found");
  });

  test("shows what a client needs to draw the screen", () => {
    const driver = planned([transfer(), read()]);
    driver.start("second");
    const view = conversationView(driver.state, "viewer");
    expect(view).toMatchObject({
      headCursor: `gen0gen0.${driver.log.length}`,
      needsConfirmation: true,
      activeRun: { status: "running", needsConfirmation: true, waitsFor: ["confirmation"] },
      queued: [{ status: "queued", position: 1 }],
      pending: [{ state: "awaiting_confirmation", args: { of: "transfer" } }],
      handover: { state: "none" },
    });
  });
});

describe("Sharing", () => {
  test("the owner adds, changes and removes participants", () => {
    const driver = new Driver();
    put(driver, "eve", "viewer");
    expect(driver.types).toEqual(["participant.added"]);
    put(driver, "eve", "editor");
    expect(driver.types).toEqual(["participant.role_changed"]);
    put(driver, "eve", "editor");
    expect(driver.types).toEqual([]);
    expect(driver.start("hello", { who: eve })).toBeNull();
    remove(driver, "eve");
    expect(driver.types).toEqual(["participant.removed"]);
    expect(driver.start("hello", { who: eve })?.code).toBe("not_found");
    expect(remove(driver, "eve")?.code).toBe("not_found");
  });

  test.each([
    ["an editor", bob],
    ["an approver", carol],
    ["a viewer", dave],
  ])("%s shares nothing", (_, who) => {
    const driver = new Driver();
    expect(put(driver, "eve", "viewer", who)?.code).toBe("forbidden");
    expect(remove(driver, "dave", who)?.code).toBe("forbidden");
    expect(driver.erase(who)?.code).toBe("forbidden");
  });

  test("at least one owner stays, and there is a bound", () => {
    const driver = new Driver();
    expect(put(driver, "alice", "viewer")?.code).toBe("invalid_request");
    expect(remove(driver, "alice")?.code).toBe("invalid_request");
    put(driver, "bob", "owner");
    expect(put(driver, "alice", "viewer")).toBeNull();
    for (let n = driver.state.participants.length; n < LIMITS.participants; n++)
      put(driver, `guest${n}`, "viewer", bob);
    expect(put(driver, "eve", "viewer", bob)?.code).toBe("invalid_request");
  });
});

describe("Erasing", () => {
  test("closes it to commands at once; the active run settles as after a cancel, queued ones end", () => {
    const driver = planned([note()]);
    driver.start("second");
    expect(driver.erase()).toBeNull();
    expect(driver.types).toEqual(["conversation.deleted", "run.cancelled", "run.cancel_requested"]);
    expect(driver.start()?.code).toBe("gone");
    expect(driver.cancel(1)?.code).toBe("gone");
    expect(driver.start("hello", { who: bob })?.code).toBe("not_found");
    expect(driver.takeOver(olga)?.code).toBe("not_found");
    driver.wait(10_000);
    expect(driver.event("run.cancelled").data).toMatchObject({
      stop: { code: "conversation_deleted" },
      sideEffects: [{ state: "unknown" }],
    });
    driver.finish();
  });

  test("does not begin a stop anew that settles already", () => {
    const driver = planned([note()]);
    driver.cancel();
    driver.wait(5_000);
    driver.erase();
    expect(driver.types).toEqual(["conversation.deleted"]);
    driver.wait(5_000);
    expect(driver.event("run.cancelled").data.stop.code).toBe("cancelled_by_user");
  });

  test("is done once, and is gone for the owner only", () => {
    const driver = new Driver();
    driver.erase();
    expect(driver.erase()?.code).toBe("gone");
    for (const who of [bob, carol, dave, eve]) expect(driver.erase(who)?.code).toBe("not_found");
  });

  test("what still arrives is only recorded", () => {
    const driver = planned([note()]);
    const sent = driver.toolEffect(1);
    driver.erase();
    driver.tool(1, okAnswer, sent);
    expect(driver.types).toEqual(["tool_call.finished", "run.cancelled"]);
  });
});

describe("Deactivating", () => {
  test("of a user stops their runs, queued and active, and nobody else's", () => {
    const driver = new Driver();
    driver.start("mine");
    driver.start("theirs", { who: bob });
    driver.start("mine too");
    driver.input({ type: "deactivated", userId: "alice" });
    expect(driver.types).toEqual(["run.cancelled", "run.cancel_requested"]);
    driver.wait(10_000);
    expect(driver.types).toEqual(["step.finished", "run.cancelled", "run.started", "message.created", "step.started"]);
    expect(driver.run.principal.userId).toBe("bob");
    expect(driver.all("run.cancelled").map(({ data }) => data.stop.code)).toEqual(["deactivated", "deactivated"]);
  });

  test("of the tenant stops everybody's", () => {
    const driver = planned([transfer()]);
    driver.start("theirs", { who: bob });
    driver.input({ type: "deactivated" });
    expect(driver.types).toEqual(["run.cancelled", "run.cancel_requested", "tool_call.finished", "run.cancelled"]);
    expect(driver.state.active).toBeNull();
  });

  test("does not begin a stop anew that settles already", () => {
    const driver = planned([note()]);
    driver.cancel();
    driver.input({ type: "deactivated" });
    expect(driver.types).toEqual([]);
  });
});
