/** Keys and receipts where something fails in between: what left no receipt uses no key up. */
import { describe, expect, test } from "vitest";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { settle, user, World } from "./world.ts";

const start = (text: string) => ({ type: "start_run", body: { input: { text } } }) as const;

async function world() {
  const db = nodeDatabase();
  const made = new World(nodeJournal(db));
  await made.create();
  return { db, world: made };
}

describe("a command that fails", () => {
  test("because its commit does, gives its key back to whatever is asked next", async () => {
    const { db, world: one } = await world();
    db.failAt = 0;
    await expect(one.send(start("x"), { key: "k" })).rejects.toThrow();
    db.failAt = null;
    expect(one.claims.has("k")).toBe(false);
    expect((await one.send(start("y"), { key: "k" })).ok).toBe(true);
  });

  test("because its facts do, gives its key back", async () => {
    const { world: one } = await world();
    one.agentsFail = true;
    await expect(one.send(start("x"), { key: "k" })).rejects.toThrow();
    expect(one.claims.has("k")).toBe(false);
  });

  test("after its commit, keeps its key: the retry is answered with what happened", async () => {
    const { world: one } = await world();
    one.publishingFails = true;
    await expect(one.send(start("x"), { key: "k" })).rejects.toThrow();
    one.publishingFails = false;
    expect(one.claims.has("k")).toBe(true);
    const retried = await one.send(start("x"), { key: "k" });
    expect(retried).toMatchObject({ ok: true, value: { status: 202, replayed: true } });
    expect(one.actor.state.runCount).toBe(1);
  });

  test("because the register does not answer, is refused for now, and decides nothing", async () => {
    const { world: one } = await world();
    one.registerFails = true;
    const { seq } = one.actor.state;
    expect(await one.send(start("x"), { key: "k" })).toMatchObject({ ok: false, rejection: { code: "overloaded" } });
    expect(one.actor.state.seq).toBe(seq);
    one.registerFails = false;
    expect((await one.send(start("x"), { key: "k" })).ok).toBe(true);
    expect(one.actor.state.runCount).toBe(1);
  });
});

test("what an operator says twice under one key is said once, and answered the same", async () => {
  const { world: one } = await world();
  const context = user("alice", {
    scopes: ["conversations:read", "conversations:write", "confirmations:decide", "handover:operate"],
  });
  await one.send({ type: "take_over", body: {} }, { context });
  const say = (text: string, key: string) =>
    one.send({ type: "say_as_operator", body: { text } }, { context, key }).then((answer) => answer);
  await say("first", "k1");
  const said = await say("second", "k2");
  await settle();
  expect(said).toMatchObject({ ok: true, value: { body: { parts: [{ text: "second" }] }, replayed: false } });
  const again = await say("second", "k2");
  expect(again).toMatchObject({ ok: true, value: { replayed: true } });
  expect(again.ok && again.value.body).toEqual(said.ok && said.value.body);
});
