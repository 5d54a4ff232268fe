import { expect, test } from "vitest";
import { nodeDatabase, nodeJournal } from "./node-journal.ts";
import { Talk } from "./talk.ts";

test("a nonce is used once, also over lives, and is forgotten when its ticket is long over", () => {
  const db = nodeDatabase();
  const journal = nodeJournal(db);
  new Talk(journal).create();
  const now = 1_800_000_000_000;
  expect(journal.burnTicket("a", now + 30_000, now)).toBe(true);
  expect(journal.burnTicket("a", now + 30_000, now + 1)).toBe(false);
  expect(nodeJournal(db).burnTicket("a", now + 30_000, now + 2)).toBe(false);
  expect(journal.burnTicket("b", now + 60_000, now + 30_001)).toBe(true);
  // Still there, though it is over: another clock may be behind.
  expect(journal.burnTicket("a", now + 30_000, now + 89_000)).toBe(false);
  expect(journal.burnTicket("c", now + 150_000, now + 121_000)).toBe(true);
  expect(db.exec("SELECT nonce FROM tickets")).toEqual([{ nonce: "c" }]);
});

test("a conversation that was never made keeps no nonce", () => {
  const db = nodeDatabase();
  expect(() => nodeJournal(db).burnTicket("a", 1, 0)).toThrow("never initialised");
  expect(db.exec("SELECT name FROM sqlite_master")).toEqual([]);
});
