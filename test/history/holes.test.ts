import { expect, test } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { chat, drained, expected } from "./drained.ts";
import { longStory, Script, START } from "./script.ts";
import { everything, found } from "./support.ts";

const isPoison = (batch: readonly { readonly params: readonly unknown[] }[]) =>
  batch.some(({ params }) => params.some((value) => typeof value === "string" && value.includes("POISON")));

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
  const again = await drain.drain();
  expect(again).toBeGreaterThan(clock.at);
  const poison = script.events.filter((event) => JSON.stringify(event).includes("POISON")).map(({ seq }) => seq);
  expect(poison.length).toBeGreaterThan(0);
  expect(journal.parked().map(({ seq }) => seq)).toEqual(poison);
  expect(journal.projectedSeq()).toBe(script.events.length);
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
  // The run is taken, its message is not.
  db.before = (batch) => {
    if (batch.some(({ sql, params }) => /INTO messages/.test(sql) && JSON.stringify(params).includes("POISON"))) {
      throw new Error("refused");
    }
  };
  const again = await drain.drain();
  expect(journal.parked()).toHaveLength(1);
  clock.at = again ?? 0;
  const later = await drain.drain();
  expect(journal.parked()[0]?.attempts).toBe(2);
  expect((later ?? 0) - clock.at).toBeGreaterThan((again ?? 0) - START);
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
    if (batch.some(({ sql, params }) => /INTO messages/.test(sql) && JSON.stringify(params).includes("POISON"))) {
      throw new Error("refused");
    }
  };
  let tries = 0;
  for (let again = await drain.drain(); again !== null && tries < 50; tries++) {
    clock.at = again;
    again = await drain.drain();
  }
  expect(tries).toBeLessThan(20);
  expect(journal.parked()).toMatchObject([{ attempts: 8 }]);
});

test("a later hand on the same call is not undone by an event that comes through late", async () => {
  const script = longStory();
  const { drain, db, journal, clock } = drained(script);
  const decided = script.events.find(({ type }) => type === "confirmation.decided")?.seq;
  db.before = (batch) => {
    if (
      batch.some(
        ({ sql, params }) =>
          /INSERT INTO holes/.test(sql) === false && /decisions_json = json_insert/.test(sql) && params[3] === decided,
      )
    ) {
      throw new Error("refused");
    }
  };
  const again = await drain.drain();
  expect(journal.parked().map(({ seq }) => seq)).toEqual([decided]);
  const before = db.rows("SELECT * FROM tool_calls ORDER BY run_n, call_n");
  db.before = () => {};
  clock.at = again ?? 0;
  expect(await drain.drain()).toBeNull();
  expect(db.rows("SELECT * FROM tool_calls ORDER BY run_n, call_n")).toEqual(before);
  expect(db.rows("SELECT * FROM holes")).toEqual([]);
});
