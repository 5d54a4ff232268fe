/** What every journal promises; run on `node:sqlite` and on the SQLite of a real Durable Object. */
import { describe, expect } from "vitest";
import { testOn, tables, type WithBench } from "./bench.ts";
import { logContract } from "./log-contract.ts";
import { readsContract } from "./reads-contract.ts";
import { created, RUN, Talk } from "./talk.ts";

export function journalContract(withBench: WithBench): void {
  logContract(withBench);
  readsContract(withBench);
  lifeContract(withBench);
}

function lifeContract(withBench: WithBench): void {
  const on = testOn(withBench);

  describe("an object that was never initialised", () => {
    on("has no state, no tables and no alarm after it was read in every way", async ({ db, journal, alarm }) => {
      const untouched = journal();
      expect(untouched.open()).toBeNull();
      expect(untouched.tombstone()).toBeNull();
      expect(untouched.receipt("k")).toBeNull();
      expect(untouched.payload("d")).toBeNull();
      expect(untouched.events({ after: 0, limit: 10, maxBytes: 1_000 })).toEqual([]);
      expect([...untouched.eventsOf(["run.started"])]).toEqual([]);
      expect(untouched.messages({ after: 0, limit: 10, order: "asc" })).toEqual({ data: [], nextCursor: null });
      expect(untouched.endedRun(RUN)).toBeNull();
      expect(untouched.endedRuns({ before: 10, limit: 10 })).toEqual([]);
      expect(untouched.checkpoint()).toBeNull();
      expect(untouched.timers()).toEqual({});
      expect(untouched.alarmAt()).toBeNull();
      expect(untouched.identity()).toBeNull();
      expect(untouched.unprojected(10)).toEqual([]);
      expect(untouched.parked()).toEqual([]);
      untouched.alarmFired();
      untouched.saveCheckpoint(null);
      expect(tables(db)).toEqual([]);
      expect(await alarm()).toBeNull();
    });

    on("refuses what only an initialised one has, and still makes no tables", ({ db, journal }) => {
      const untouched = journal();
      expect(() => untouched.setTimers({ outbox: 1 })).toThrow("never initialised");
      expect(() => untouched.setAlarm(1)).toThrow("never initialised");
      expect(() => untouched.park(1, "x")).toThrow("never initialised");
      expect(tables(db)).toEqual([]);
    });

    on("gets its tables, strict ones, with its first commit", ({ db, journal }) => {
      new Talk(journal()).create();
      expect(tables(db)).toEqual(expect.arrayContaining(["_migrations", "events", "meta", "overflow", "payloads"]));
      const loose = db.exec(
        "SELECT name FROM pragma_table_list WHERE strict = 0 AND name IN ('events', 'runs', 'meta')",
      );
      expect(loose).toEqual([]);
    });

    on("keeps no tables when its first commit fails", ({ db, journal }) => {
      const mine = journal();
      const commit = new Talk(mine).prepare(created());
      const [event] = commit.events;
      if (!event) throw new Error("no event");
      const twice = { ...commit, events: [event, event], state: { ...commit.state, seq: 2 } };
      expect(() => mine.commit(twice)).toThrow("does not follow");
      expect(tables(db)).toEqual([]);
      expect(mine.open()).toBeNull();
      mine.commit(commit);
      expect(mine.open()?.seq).toBe(1);
    });
  });

  describe("the outbox", () => {
    on("goes over the log once, forwards only", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.chat(1);
      const head = talk.state.seq;
      const seqs = (limit: number) =>
        journal()
          .unprojected(limit)
          .map(({ event }) => event.seq);
      expect(seqs(3)).toEqual([1, 2, 3]);
      talk.journal.open();
      const mine = journal();
      mine.markProjected(3);
      expect(seqs(2)).toEqual([4, 5]);
      mine.markProjected(2);
      expect(journal().projectedSeq()).toBe(3);
      expect(() => mine.markProjected(head + 1)).toThrow("is not in the log");
      mine.markProjected(head);
      expect(seqs(10)).toEqual([]);
    });

    on("sets a poisoned event aside with its attempts, and finds it again", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      const mine = journal();
      mine.park(1, "too long");
      mine.park(1, "still too long");
      expect(journal().parked()).toEqual([{ seq: 1, reason: "still too long", attempts: 2 }]);
      expect(mine.event(1)?.event).toEqual(talk.committed[0]);
      expect(mine.event(2)).toBeNull();
      mine.unpark(1);
      expect(journal().parked()).toEqual([]);
    });

    on("knows whose log it is", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create({ model: "m" });
      expect(journal().identity()).toEqual(talk.state.identity);
    });
  });

  describe("erasing", () => {
    on("leaves one tombstone row and no alarm, and nothing brings the conversation back", async (bench) => {
      const { db, journal, alarm } = bench;
      const talk = new Talk(journal());
      talk.create();
      talk.chat(1);
      talk.journal.setAlarm(Date.now() + 3_600_000);
      const tombstone = { deletedAt: 1_800_000_000_000, generation: "abcd1234", owner: "hmac" };
      await talk.journal.erase(tombstone);
      expect(await alarm()).toBeNull();
      for (const after of [talk.journal, journal()]) {
        expect(after.tombstone()).toEqual(tombstone);
        expect(after.open()).toBeNull();
        expect(after.events({ after: 0, limit: 10, maxBytes: 1_000 })).toEqual([]);
        expect(() => after.commit(new Talk(after).prepare(created()))).toThrow("never initialised again");
        expect(() => after.setTimers({ outbox: 1 })).toThrow("erased");
        after.alarmFired();
      }
      expect(tables(db)).toEqual(["tombstone"]);
    });
  });

  describe("migrations", () => {
    on("refuse a database that a newer release wrote, and one whose past was altered", ({ db, journal }) => {
      new Talk(journal()).create();
      db.exec("INSERT INTO _migrations (id, sql, applied_at) VALUES (99, 'CREATE TABLE later (x)', 0)");
      expect(() => journal().open()).toThrow("does not know");
      db.exec("DELETE FROM _migrations WHERE id = 99");
      db.exec("UPDATE _migrations SET sql = sql || ' -- edited'");
      expect(() => journal().open()).toThrow("not the one that ran");
    });
  });
}
