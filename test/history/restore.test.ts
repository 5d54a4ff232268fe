/** The history brought back from a log, on order: whatever it lacks, and wherever the journal believes it to stand. */
import { expect, test } from "vitest";
import { d1Destination } from "../../src/history/destination.ts";
import { Restorer } from "../../src/history/restorer.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { chat, drained, expected } from "./drained.ts";
import { longStory, type Script } from "./script.ts";
import { bring, everything, history } from "./support.ts";

function restorable(script: Script, db: D1OnNodeSqlite = history(), erased = false) {
  const world = drained(script, db);
  const journal = Object.assign(world.journal, { tombstone: () => (erased ? { deletedAt: 1 } : null) });
  const destination = d1Destination(db);
  const head = () => script.events.length;
  const restorer = new Restorer({ journal, destination, drain: world.drain, head, now: () => world.clock.at });
  return { ...world, restorer };
}

/** The numbers of the search index depend on the order in which things came. */
const unnumbered = (tables: Record<string, unknown>) => ({
  ...tables,
  search_docs: null,
  search: (tables["search"] as { readers: string; words: string }[])
    .map(({ readers, words }) => `${readers} ${words}`)
    .toSorted(),
});

test.for(["bring", "anew"] as const)("a history that has lost everything is whole again: %s", async (mode) => {
  const script = longStory();
  const { restorer, db, journal } = restorable(script);
  journal.markProjected(script.events.length);
  const head = script.events.length;
  expect(await restorer.restore("look")).toMatchObject({ kind: "conversation", head, stood: 0, stands: 0 });
  expect(everything(db)).toMatchObject({ conversations: [] });
  expect(await restorer.restore(mode)).toEqual({
    kind: "conversation",
    tenantId: script.subject.tenantId,
    conversationId: script.id,
    head,
    stood: 0,
    stands: head,
    lagMs: 0,
    parked: [],
  });
  expect(everything(db)).toEqual(await expected(script));
});

test("rows that are gone from behind the cursor come back where all is brought anew, and others stay", async () => {
  const script = longStory();
  const db = history();
  const neighbour = longStory(2);
  await bring(db, neighbour);
  const { restorer, drain } = restorable(script, db);
  await drain.drain();
  const whole = everything(db);
  db.sqlite.exec(`DELETE FROM messages WHERE conversation_id = '${script.id}'`);
  db.sqlite.exec(`UPDATE runs SET status = 'running' WHERE conversation_id = '${script.id}'`);
  expect(await restorer.restore("bring")).toMatchObject({ stood: script.events.length });
  expect(everything(db)).not.toEqual(whole);
  expect(await restorer.restore("anew")).toMatchObject({ stands: script.events.length });
  expect(unnumbered(everything(db))).toEqual(unnumbered(whole));
});

test("a long log comes in several orders, each of which says how far it came", async () => {
  const script = chat(500);
  const { restorer, db, journal, clock } = restorable(script);
  const head = script.events.length;
  journal.markProjected(head);
  clock.at = Date.parse(script.events.at(-1)?.at ?? "") + 1_000;
  const first = await restorer.restore("anew");
  expect(first).toMatchObject({ head, stood: 0, parked: [] });
  let stands = 0;
  for (let orders = 1; stands < head; orders++) {
    const account = orders === 1 ? first : await restorer.restore("bring");
    if (account.kind !== "conversation") throw new Error(account.kind);
    expect(account.stands).toBeGreaterThan(stands);
    expect(account.lagMs > 0).toBe(account.stands < head);
    stands = account.stands;
    expect(orders).toBeLessThan(20);
  }
  expect(everything(db)).toEqual(await expected(script));
});

test("what the history does not take is listed; what it takes by now is tried again, however often it was refused", async () => {
  const script = chat(6, (turn) => (turn === 3 ? "POISON" : `message ${turn}`));
  const { restorer, db, journal, drain, clock } = restorable(script);
  let refusing = true;
  db.before = (batch) => {
    const poison = batch.some(({ params }) => params.some((value) => String(value).includes("POISON")));
    if (refusing && poison) throw new Error("refused");
  };
  for (let n = 0, again = await drain.drain(); n < 80 && again !== null; n++, again = await drain.drain()) {
    clock.at = again;
  }
  const poison = script.events.filter((event) => JSON.stringify(event).includes("POISON")).map(({ seq }) => seq);
  expect(await drain.drain()).toBeNull();
  expect(await restorer.restore("look")).toMatchObject({
    stands: script.events.length,
    lagMs: 0,
    parked: poison.map((seq) => ({ seq, attempts: 8, reason: expect.stringContaining("refused") })),
  });
  refusing = false;
  expect(await restorer.restore("bring")).toMatchObject({ parked: [] });
  expect(journal.parked()).toEqual([]);
  expect(unnumbered(everything(db))).toEqual(unnumbered(await expected(script)));
});

test("an order waits for the drain that is under way, and neither of them brings anything twice", async () => {
  const script = longStory();
  const { restorer, drain, db } = restorable(script);
  const [, account] = await Promise.all([drain.drain(), restorer.restore("anew"), restorer.restore("bring")]);
  expect(account).toMatchObject({ stands: script.events.length });
  expect(everything(db)).toEqual(await expected(script));
});

test("an object that was never written is empty, and an erased one is erased: nothing is asked of the history", async () => {
  const script = longStory();
  for (const [erased, kind] of [
    [false, "empty"],
    [true, "erased"],
  ] as const) {
    const { restorer, journal, db } = restorable(script, history(), erased);
    journal.identity = () => null;
    expect(await restorer.restore("anew")).toEqual({ kind });
    expect(db.batches).toEqual([]);
  }
});

test("a conversation that the history knows to be erased does not come back", async () => {
  const script = longStory();
  const late = [...script.events];
  script.command({ type: "delete_conversation", body: {} });
  const { restorer, drain, db, journal } = restorable(script);
  await drain.drain();
  const before = everything(db);
  journal.identity = () => script.subject as ReturnType<typeof journal.identity>;
  for (const mode of ["bring", "anew"] as const) await restorer.restore(mode);
  await bring(db, { subject: script.subject, events: late });
  expect(everything(db)).toEqual(before);
});

test("a history that cannot be asked is no account", async () => {
  const { restorer, db } = restorable(longStory());
  db.before = () => {
    throw new Error("network connection lost");
  };
  await expect(restorer.restore("look")).rejects.toThrow("network connection lost");
});
