import { describe, expect, test } from "vitest";
import { agentHouse, payloadOf } from "./agent-house.ts";
import { data, database, inD1 } from "./planner-house.ts";

describe("changing and deleting in D1", () => {
  async function withPlan() {
    const db = database();
    const house = await agentHouse(inD1(db));
    const user = house.as();
    const { id } = data(await user.act("create_plan", { title: "Old title", notes: "a note" }));
    return { db, user, house, plan_id: String(id) };
  }

  test("a change is shown before and after, and makes the next version", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("update_plan", { plan_id, title: " new title. " });
    expect(call).toMatchObject({
      effect: "idempotent",
      args: { title: "New title" },
      expect: { version: 1 },
      preview: { rows: [{ label: "Title", before: "Old title", after: "New title" }] },
    });
    expect(data(await user.execute(call))).toMatchObject({ title: "New title", notes: "a note", version: 2 });
    expect(data(await user.act("update_plan", { plan_id, notes: "" }))).toMatchObject({
      title: "New title",
      notes: "",
      version: 3,
    });
    expect(await user.prepare("update_plan", { plan_id })).toMatchObject({
      payload: { error: { code: "invalid_arguments" } },
    });
  });

  test("a change that is sent again is done once", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("update_plan", { plan_id, title: "New title" });
    const first = await user.execute(call);
    expect(await user.execute(call, { attempt: 2 })).toEqual(first);
    expect(data(first)).toMatchObject({ version: 2 });
  });

  test("what has changed since it was shown is not overwritten, and not deleted", async () => {
    const { user, plan_id } = await withPlan();
    const change = await user.ready("update_plan", { plan_id, title: "Mine" });
    const removal = await user.ready("delete_plan", { plan_id });
    await user.act("update_plan", { plan_id, title: "Theirs" });
    for (const call of [change, removal]) {
      expect(await user.execute(call)).toMatchObject({
        kind: "failed",
        proof: "definitive",
        payload: { error: { code: "changed_since_shown" } },
      });
    }
    expect(data(await user.act("list_plans", {})).plans).toMatchObject([{ title: "Theirs", version: 2 }]);
  });

  test("a deletion says that it is for good, and is then done", async () => {
    const { user, plan_id } = await withPlan();
    const call = await user.ready("delete_plan", { plan_id });
    expect(call).toMatchObject({
      effect: "once",
      expect: { version: 1 },
      preview: {
        reversible: false,
        rows: [
          { label: "Deleted for good", before: "Old title" },
          { label: "Notes", before: "a note" },
        ],
      },
    });
    expect(payloadOf(await user.execute(call))).toMatchObject({ success: true, displayText: "Deleted the plan." });
    expect(await user.execute(call)).toMatchObject({
      kind: "failed",
      proof: "not_sent",
      payload: { error: { code: "not_found" } },
    });
    expect(data(await user.act("list_plans", {})).plans).toEqual([]);
  });

  test("a database that gives no answer proves nothing", async () => {
    const { db, user, plan_id } = await withPlan();
    const call = await user.ready("create_plan", { title: "Another" });
    const removal = await user.ready("delete_plan", { plan_id });
    db.exec("DROP TABLE plans");
    expect(await user.execute(call)).toMatchObject({
      kind: "ambiguous",
      repeatable: true,
      error: { code: "PLANS_UNAVAILABLE" },
    });
    // Here it was the question before the act that failed, so nothing was sent.
    expect(await user.execute(removal)).toMatchObject({ kind: "failed", proof: "not_sent" });
  });
});
