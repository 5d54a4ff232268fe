import { expect, test } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { chat, drained, expected } from "./drained.ts";
import { longStory, Script, START } from "./script.ts";
import { everything, found } from "./support.ts";

type Batch = readonly { readonly sql: string; readonly params: readonly unknown[] }[];

const isPoison = (batch: Batch) =>
  batch.some(({ params }) => params.some((value) => typeof value === "string" && value.includes("POISON")));
// The run is taken, its message is not.
const isPoisonMessage = (batch: Batch) =>
  batch.some(({ sql, params }) => /INTO messages/.test(sql) && JSON.stringify(params).includes("POISON"));
const leavesOut = (batch: Batch) => batch.some(({ sql }) => sql.startsWith("INSERT INTO holes"));

/** Drains when it is time, until nothing is left or `enough`. */
async function drains(
  { drain, clock }: Pick<ReturnType<typeof drained>, "drain" | "clock">,
  enough: () => boolean = () => false,
): Promise<number> {
  let count = 1;
  for (let again = await drain.drain(); again !== null && !enough() && count < 60; count++) {
    clock.at = again;
    again = await drain.drain();
  }
  return count;
}

test("of 300 that piled up, the one that is refused is set aside and 299 arrive in order", async () => {
  const script = chat(75, (turn) => (turn === 40 ? "POISON" : `message ${turn}`));
  expect(script.events.length).toBeGreaterThan(300);
  const { drain, db, journal, log, clock } = drained(script);
  let down = true;
  db.before = (batch) => {
    if (down || isPoison(batch)) throw new Error("refused");
  };
  clock.at = (await drain.drain()) ?? 0;
  down = false;
  await drains({ drain, clock }, () => journal.projectedSeq() === script.events.length);
  const poison = script.events.filter((event) => JSON.stringify(event).includes("POISON")).map(({ seq }) => seq);
  expect(poison.length).toBeGreaterThan(0);
  expect(journal.parked().map(({ seq }) => seq)).toEqual(poison);
  expect(db.rows("SELECT seq FROM holes").map(({ seq }) => seq)).toEqual(poison);
  expect(db.rows("SELECT seq FROM conversations")).toEqual([{ seq: script.events.length }]);
  const read = await readMessages(historyFor(db, "acme"), { userId: "ann" }, script.id, {
    after: 0,
    limit: 200,
    order: "asc",
  });
  const texts = found(read).data.map(({ parts }) => (parts[0]?.type === "text" ? parts[0].text : ""));
  const all = Array.from({ length: 75 }, (_, turn) => [`message ${turn}`, `answer ${turn}`]).flat();
  expect(texts).toEqual(all.filter((text) => text !== "message 40"));
  expect(log.names.filter((name) => name === "history_parked")).toHaveLength(poison.length);
});

test("what was set aside goes through later, if the database takes it then, and leaves no hole", async () => {
  const script = new Script({ title: "Poisonous" });
  script.say("POISON in a message").plan([], "an answer");
  const { drain, db, journal, clock } = drained(script);
  db.before = (batch) => {
    if (isPoisonMessage(batch)) throw new Error("refused");
  };
  await drains({ drain, clock }, () => journal.projectedSeq() === script.events.length);
  expect(db.rows("SELECT * FROM holes")).toHaveLength(1);
  const [{ attempts = 0 } = {}] = journal.parked();
  const at = clock.at;
  clock.at = (await drain.drain()) ?? 0;
  const later = await drain.drain();
  expect(journal.parked()[0]?.attempts).toBe(attempts + 1);
  expect((later ?? 0) - clock.at).toBeGreaterThan(clock.at - at);
  db.before = () => {};
  clock.at = later ?? 0;
  expect(await drain.drain()).toBeNull();
  expect(journal.parked()).toEqual([]);
  const { search: _ours, search_docs: _docs, ...rows } = everything(db);
  const { search: _theirs, search_docs: _others, ...wanted } = await expected(script);
  expect(rows).toEqual(wanted);
  expect(db.rows("SELECT count(*) AS n FROM search WHERE search MATCH 'words : poison'")).toEqual([{ n: 1 }]);
});

test("what is refused for ever is tried a few times and then left to people", async () => {
  const script = new Script();
  script.say("POISON").plan([], "an answer");
  const { drain, db, journal, clock } = drained(script);
  db.before = (batch) => {
    if (isPoisonMessage(batch)) throw new Error("refused");
  };
  expect(await drains({ drain, clock })).toBeLessThan(20);
  expect(journal.parked()).toMatchObject([{ attempts: 8 }]);
});

test("lost answers, as many in a row as there may be in one drain, leave nothing out", async () => {
  const script = longStory();
  const { drain, db, journal, clock, log } = drained(script);
  // Every statement lands; of those that say anything no answer comes, but the question whether writes are taken has one.
  let lost = 40;
  db.after = (batch) => {
    if (batch.length > 1 && lost-- > 0) throw new Error("network connection lost");
  };
  let most = 0;
  db.before = (batch) => {
    if (leavesOut(batch)) most += 1;
  };
  await drain.drain();
  expect(most).toBe(0);
  lost = 0;
  await drains({ drain, clock });
  expect(journal.parked()).toEqual([]);
  expect(log.names).not.toContain("history_parked");
  expect(everything(db)).toEqual(await expected(script));
});

test("a hole is known before the database has it", async () => {
  const script = new Script();
  script.say("POISON").plan([], "an answer");
  const { drain, db, journal, clock } = drained(script);
  const known: boolean[] = [];
  db.before = (batch) => {
    if (isPoisonMessage(batch)) throw new Error("refused");
    if (leavesOut(batch)) known.push(journal.parked().some(({ seq }) => batch.some(({ params }) => params[3] === seq)));
  };
  await drains({ drain, clock }, () => known.length > 0);
  expect(known).toEqual([true]);
});

test("a death after the hole was made, before anybody heard of it, leaves no hole for good", async () => {
  const script = new Script();
  script.say("POISON").plan([], "an answer");
  const first = drained(script);
  const { db, journal, clock } = first;
  db.before = (batch) => {
    if (isPoisonMessage(batch)) throw new Error("refused");
  };
  let made = false;
  db.after = (batch) => {
    if (!leavesOut(batch)) return;
    made = true;
    throw new Error("network connection lost");
  };
  await drains(first, () => made);
  expect(db.rows("SELECT * FROM holes")).toHaveLength(1);
  db.before = db.after = () => {};
  const reborn = drained(script, db, journal);
  reborn.clock.at = clock.at;
  expect(await reborn.drain.drain()).toBeNull();
  expect(db.rows("SELECT * FROM holes")).toEqual([]);
  expect(journal.parked()).toEqual([]);
  const { search: _ours, search_docs: _docs, ...rows } = everything(db);
  const { search: _theirs, search_docs: _others, ...wanted } = await expected(script);
  expect(rows).toEqual(wanted);
});

test("a history that lost what it had, with a hole in it, gets all of it again", async () => {
  const script = new Script();
  script.say("POISON").plan([], "an answer");
  const { drain, db, journal, clock, log } = drained(script);
  db.before = (batch) => {
    if (isPoisonMessage(batch)) throw new Error("refused");
  };
  await drains({ drain, clock }, () => journal.projectedSeq() === script.events.length);
  db.before = () => {};
  for (const table of ["conversations", "holes", "runs", "participants"]) db.sqlite.exec(`DELETE FROM ${table}`);
  await drains({ drain, clock });
  expect(log.names).toContain("history_lost");
  expect(journal.parked()).toEqual([]);
  const { search: _ours, search_docs: _docs, ...rows } = everything(db);
  const { search: _theirs, search_docs: _others, ...wanted } = await expected(script);
  expect(rows).toEqual(wanted);
  expect(clock.at).toBeGreaterThan(START);
});
