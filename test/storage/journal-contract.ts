/** What every journal promises; run on `node:sqlite` and on the SQLite of a real Durable Object. */
import { describe, expect, test } from "vitest";
import type { SqlJournal } from "../../src/storage/journal.ts";
import type { SqlDatabase } from "../../src/storage/sql-database.ts";
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import { utf8Bytes } from "../../src/protocol/text.ts";
import { ALICE, call, CONVERSATION, created, RUN, started, Talk } from "./talk.ts";

export interface Bench {
  readonly db: SqlDatabase;
  /** The journal as a new life of the object has it: same rows, no memory. */
  journal(): SqlJournal;
  /** The platform's alarm. */
  alarm(): Promise<number | null>;
}

/** @param withBench runs one test on a database that nobody has touched */
export function journalContract(withBench: (run: (bench: Bench) => void | Promise<void>) => Promise<void>): void {
  // oxlint-disable-next-line vitest/valid-title
  const on = (name: string, run: (bench: Bench) => void | Promise<void>) => test(name, () => withBench(run));
  const tables = (db: SqlDatabase) =>
    db
      .exec(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY name",
      )
      .map(({ name }) => name);

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

  describe("the log", () => {
    on("gives back the very JSON that was committed, in this life and the next", ({ journal }) => {
      const talk = new Talk(journal());
      const texts = [talk.create(), talk.say('quotes " and \u2028 and 😀'), talk.answer({ text: "中文\n" })]
        .flatMap(({ events }) => events)
        .map(({ json }) => json);
      for (const reader of [talk.journal, journal()]) {
        const read = reader.events({ after: 0, limit: 1_000, maxBytes: 1 << 20 });
        expect(read.map(({ json }) => json)).toEqual(texts);
        expect(read.map(({ event }) => event)).toEqual(talk.committed);
        expect(read.map(({ data }) => data)).toEqual(talk.committed.map(({ data }) => JSON.stringify(data)));
      }
    });

    on("folds to the same state from its beginning as from the snapshot", ({ db, journal }) => {
      const talk = new Talk(journal());
      talk.create({ a: "b" });
      for (let n = 1; n <= 3; n++) talk.chat(n);
      talk.say("one more, unfinished");
      talk.answer({ text: "" }, [call()]);
      const next = journal();
      expect(db.exec("SELECT seq FROM snapshot")[0]?.["seq"]).toBeLessThan(talk.state.seq);
      expect(next.open()).toEqual(JSON.parse(JSON.stringify(talk.state)));
      expect(next.foldFromStart()).toEqual(talk.state);
    });

    on("ignores a snapshot that another fold version made", ({ db, journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.chat(1);
      db.exec("UPDATE snapshot SET fold_version = 0, state_json = ?", JSON.stringify({ seq: 2, archived: "?" }));
      expect(journal().open()).toEqual(talk.state);
    });

    on("refuses an event that does not follow the head, and a state that is elsewhere", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      const commit = talk.prepare(started("hi"));
      const [first, ...rest] = commit.events;
      if (!first) throw new Error("no event");
      const skipped = encodeEvent({ ...first.event, seq: first.event.seq + 1 });
      expect(() => talk.journal.commit({ ...commit, events: [skipped, ...rest] })).toThrow("does not follow");
      expect(() => talk.journal.commit({ ...commit, events: [] })).toThrow("the state is at");
      expect(() => talk.journal.commit({ ...commit, causes: [{ ...commit.causes[0], seq: 999 } as never] })).toThrow(
        "a cause names event 999",
      );
      const other = { ...first, json: first.json.replace('"v":1', '"v":2') };
      expect(() => talk.journal.commit({ ...commit, events: [other, ...rest] })).toThrow("encoded otherwise");
      expect(talk.journal.open()).toEqual(talk.state);
      talk.journal.commit(commit);
      expect(() => talk.journal.commit(commit)).toThrow("the state is at");
    });

    on("reports a hole as storage lost, never as an empty log", ({ db, journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.say("hi");
      db.exec("DELETE FROM events WHERE seq = 2");
      expect(() => journal().open()).toThrow("event 2 is missing");
      db.exec("DELETE FROM meta");
      expect(() => journal().open()).toThrow("the conversation's id is gone");
    });

    on("rolls a commit back wholly when something throws midway", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      const receipt = { key: "k", digest: "d", status: 202, body: "{}" };
      talk.say("hi", { receipt });
      const before = journal().open();
      const answer = {
        type: "command",
        command: { type: "cancel_run", runId: RUN, body: {} },
        principal: ALICE,
        facts: {},
      } as const;
      // The receipt comes after the events in the transaction, and its key is taken.
      const extras = {
        receipt: { ...receipt, digest: "other" },
        payloads: [{ digest: "p", body: "b" }],
        timers: { outbox: 5 },
      };
      expect(() => talk.journal.commit(talk.prepare(answer, extras))).toThrow();
      for (const reader of [talk.journal, journal()]) {
        expect(reader.open()).toEqual(before);
        expect(reader.payload("p")).toBeNull();
        expect(reader.timers()).toEqual({});
        expect(reader.receipt("k")).toEqual(receipt);
      }
      talk.turn(answer, { timers: { outbox: 5 } });
      expect(journal().open()).toEqual(talk.state);
    });

    on("is read within bounds of count and bytes, and always gives at least one", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      for (let n = 1; n <= 30; n++) talk.chat(n);
      const mine = journal();
      const all = mine.events({ after: 0, limit: 10_000, maxBytes: 1 << 24 });
      expect(all.map(({ event }) => event.seq)).toEqual(talk.committed.map(({ seq }) => seq));
      expect(all.length).toBeGreaterThan(128);
      expect(mine.events({ after: 10, limit: 3, maxBytes: 1 << 20 }).map(({ event }) => event.seq)).toEqual([
        11, 12, 13,
      ]);
      const some = mine.events({ after: 0, limit: 10_000, maxBytes: 50_000 });
      expect(some.reduce((sum, { json }) => sum + utf8Bytes(json), 0)).toBeLessThanOrEqual(50_000);
      expect(some.length).toBeGreaterThan(10);
      expect(mine.events({ after: 4, limit: 10, maxBytes: 0 }).map(({ event }) => event.seq)).toEqual([5]);
      expect(mine.events({ after: all.length, limit: 10, maxBytes: 1 })).toEqual([]);
    });

    on("is read by run and by type", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      for (let n = 1; n <= 20; n++) talk.chat(n);
      const third = `${CONVERSATION}.r3`;
      const ofRun = journal().events({ after: 0, limit: 100, maxBytes: 1 << 20, runId: third });
      expect(ofRun.map(({ event }) => event)).toEqual(talk.committed.filter(({ runId }) => runId === third));
      const types = ["message.created", "run.completed"] as const;
      const wanted = talk.committed.filter(({ type }) => (types as readonly string[]).includes(type));
      expect([...journal().eventsOf(types)]).toEqual(wanted);
    });

    on("keeps the cause of each commit on its first event, however long it is", ({ db, journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.say("hi");
      const long = { note: "😀".repeat(20_000) };
      talk.answer(
        { text: "" },
        Array.from({ length: 16 }, () => call(long)),
      );
      const causes = [...journal().causes(0)];
      expect(causes.map(({ input }) => input.type)).toEqual(["command", "command", "model_answered"]);
      expect(causes[1]).toMatchObject({ seq: 2, input: { command: { body: { input: { text: "hi" } } } } });
      const result = causes[2]?.input.type === "model_answered" ? causes[2].input.result : null;
      const args = result?.kind === "answered" ? result.calls.map((one) => one.kind === "ready" && one.args) : [];
      expect(args.map((one) => JSON.stringify(one) === JSON.stringify(long))).toEqual(Array(16).fill(true));
      for (const { bytes } of rowBytes(db)) expect(bytes).toBeLessThan(1_000_000);
      expect([...journal().causes(2)]).toHaveLength(1);
    });

    on("refuses an event that no row may hold", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      expect(() => talk.say("中".repeat(300_000))).toThrow("has more than");
      expect(journal().open()?.seq).toBe(1);
    });
  });

  describe("messages", () => {
    on("come in pages of either order, whole where the event has an excerpt", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.chat(1);
      talk.say("long one");
      const body = "😀 long ".repeat(60_000);
      const excerptOf = { digest: "x".repeat(43), bytes: utf8Bytes(body) };
      talk.answer({ text: body.slice(0, 10), excerptOf }, [], { payloads: [{ digest: excerptOf.digest, body }] });
      const mine = journal();
      const textsOf = (query: { after: number; limit: number; order: "asc" | "desc" }) => {
        const page = mine.messages(query);
        return { texts: page.data.map(({ parts: [part] }) => (part?.type === "text" ? part.text : "")), page };
      };
      const first = textsOf({ after: 0, limit: 3, order: "asc" });
      expect(first.texts).toEqual(["question 1", "answer 1", "long one"]);
      const second = textsOf({ after: Number(first.page.nextCursor), limit: 3, order: "asc" });
      expect(second.texts).toEqual([body]);
      expect(second.page.data[0]?.parts).toEqual([{ type: "text", text: body }]);
      expect(second.page.nextCursor).toBeNull();
      const last = textsOf({ after: 0, limit: 2, order: "desc" });
      expect(last.texts).toEqual([body, "long one"]);
      const before = textsOf({ after: Number(last.page.nextCursor), limit: 2, order: "desc" });
      expect(before.texts).toEqual(["answer 1", "question 1"]);
      expect(before.page.nextCursor).toBeNull();
      expect(textsOf({ after: Number.MAX_SAFE_INTEGER, limit: 1, order: "desc" }).texts).toEqual([body]);
    });

    on("keep their status, and a lost text is an error instead of an excerpt", ({ db, journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.say("hi");
      talk.turn({
        type: "command",
        command: { type: "cancel_run", runId: RUN, body: {} },
        principal: ALICE,
        facts: {},
      });
      talk.turn(
        {
          type: "model_answered",
          effectId: `${RUN}.s1`,
          attempt: 1,
          incarnation: talk.state.incarnation,
          result: {
            kind: "aborted",
            text: { text: "so far", excerptOf: { digest: "y", bytes: 9 } },
            usage: { inputTokens: 0, outputTokens: 0, costMicroUsd: 0, estimated: false, model: null },
          },
        },
        { payloads: [{ digest: "y", body: "so far and on" }] },
      );
      expect(
        journal()
          .messages({ after: 0, limit: 9, order: "asc" })
          .data.map(({ status }) => status),
      ).toEqual(["complete", "incomplete"]);
      db.exec("DELETE FROM payloads");
      expect(() => journal().messages({ after: 0, limit: 9, order: "asc" })).toThrow("is gone");
    });

    on(
      "page through hundreds without a gap, and stop a page whose texts are too much for one answer",
      ({ journal }) => {
        const talk = new Talk(journal());
        talk.create();
        for (let n = 1; n <= 40; n++) talk.chat(n);
        const seen: string[] = [];
        for (let after = 0, more = true; more;) {
          const page = journal().messages({ after, limit: 7, order: "asc" });
          seen.push(...page.data.map(({ id }) => id));
          more = page.nextCursor !== null;
          after = Number(page.nextCursor);
        }
        expect(seen).toEqual(Array.from({ length: 80 }, (_, n) => `${CONVERSATION}.m${n + 1}`));
        const body = "x".repeat(512 * 1024);
        for (let n = 0; n < 10; n++) {
          talk.say("more");
          talk.answer({ text: "x", excerptOf: { digest: "big", bytes: body.length } }, [], {
            payloads: [{ digest: "big", body }],
          });
        }
        const page = journal().messages({ after: 0, limit: 200, order: "desc" });
        expect(page.data.length).toBeLessThan(20);
        expect(page.nextCursor).toBe(String(page.data.at(-1)?.seq));
      },
    );
  });

  describe("beside the log", () => {
    on("payloads of any length come back as they were, stored once, in rows under a megabyte", ({ db, journal }) => {
      const talk = new Talk(journal());
      const bodies = ["", "short", "😀".repeat(750_000), `x${"😀".repeat(140_000)}`];
      talk.create();
      talk.say("hi", { payloads: bodies.map((body, n) => ({ digest: `d${n}`, body })) });
      talk.turn({ type: "woke" }, { payloads: [{ digest: "d2", body: "another body under a used digest" }] });
      const mine = journal();
      for (const [n, body] of bodies.entries()) expect(mine.payload(`d${n}`) === body).toBe(true);
      for (const { bytes } of rowBytes(db)) expect(bytes).toBeLessThan(1_000_000);
      expect(mine.payload("none")).toBeNull();
    });

    on("receipts are the first answer for as long as the conversation lives", ({ journal }) => {
      const talk = new Talk(journal());
      const receipt = { key: "k'; DROP TABLE events;--", digest: "d", status: 202, body: '{"a":"b"}' };
      talk.create();
      talk.say("hi", { receipt });
      expect(journal().receipt(receipt.key)).toEqual(receipt);
      expect(journal().receipt("other")).toBeNull();
      const again = { ...talk.prepare({ type: "time_passed" }), receipt: { ...receipt, status: 200 } };
      expect(() => talk.journal.commit(again)).toThrow();
      expect(journal().receipt(receipt.key)).toEqual(receipt);
    });

    on("a commit may hold a receipt alone", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      const receipt = { key: "k", digest: "d", status: 200, body: "null" };
      const commit = talk.prepare({ type: "time_passed" }, { receipt });
      expect(commit.events).toEqual([]);
      talk.journal.commit(commit);
      expect(journal().receipt("k")).toEqual(receipt);
    });

    on("ended runs are found by id and listed newest first", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      for (let n = 1; n <= 5; n++) talk.chat(n);
      const mine = journal();
      expect(mine.endedRun(`${CONVERSATION}.r2`)).toMatchObject({ status: "completed", input: { text: "question 2" } });
      expect(mine.endedRun(`${CONVERSATION}.r9`)).toBeNull();
      expect(mine.endedRun("someone.else.r2")).toBeNull();
      const numbers = (before: number) => mine.endedRuns({ before, limit: 3 }).map(({ input }) => input.text);
      expect(numbers(Number.MAX_SAFE_INTEGER)).toEqual(["question 5", "question 4", "question 3"]);
      expect(numbers(Number.POSITIVE_INFINITY)).toEqual(["question 5", "question 4", "question 3"]);
      expect(numbers(3)).toEqual(["question 2", "question 1"]);
    });

    on("the checkpoint is one row, replaced in place, and gone when cleared", ({ db, journal }) => {
      new Talk(journal()).create();
      const mine = journal();
      const at = { runId: RUN, messageId: `${CONVERSATION}.m2`, attempt: 1, part: 0, text: "so" };
      mine.saveCheckpoint(at);
      expect(journal().checkpoint()).toEqual(at);
      const long = { ...at, part: 1, text: "😀".repeat(400_000), excerptOf: { digest: "d", bytes: 2 } };
      mine.saveCheckpoint(long);
      expect(journal().checkpoint()).toEqual(long);
      for (const { bytes } of rowBytes(db)) expect(bytes).toBeLessThan(1_000_000);
      mine.saveCheckpoint({ ...at, text: "so far" });
      expect(journal().checkpoint()).toEqual({ ...at, text: "so far" });
      expect(db.exec("SELECT count(*) AS n FROM checkpoint")[0]?.["n"]).toBe(1);
      expect(db.exec("SELECT count(*) AS n FROM overflow")[0]?.["n"]).toBe(0);
      mine.saveCheckpoint(null);
      expect(journal().checkpoint()).toBeNull();
    });

    on("timers are set and cleared one by one, with a commit or alone", ({ journal }) => {
      const talk = new Talk(journal());
      talk.create();
      talk.say("hi", { timers: { deadline: 100, outbox: 7 } });
      talk.journal.setTimers({ watchdog: 30, outbox: null });
      expect(journal().timers()).toEqual({ deadline: 100, watchdog: 30 });
      talk.journal.setTimers({ deadline: 90 });
      talk.journal.setTimers({});
      expect(journal().timers()).toEqual({ deadline: 90, watchdog: 30 });
    });

    on("the alarm's row and the platform's alarm agree", async ({ journal, alarm }) => {
      const talk = new Talk(journal());
      talk.create();
      expect(journal().alarmAt()).toBeNull();
      const at = Date.now() + 3_600_000;
      talk.journal.setAlarm(at);
      expect(journal().alarmAt()).toBe(at);
      expect(await alarm()).toBe(at);
      talk.journal.alarmFired();
      expect(journal().alarmAt()).toBeNull();
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

  on("grows by what is written, as its size says", ({ journal }) => {
    const talk = new Talk(journal());
    talk.create();
    const before = talk.journal.bytes();
    talk.say("hi", { payloads: [{ digest: "d", body: "x".repeat(500_000) }] });
    expect(talk.journal.bytes() - before).toBeGreaterThan(400_000);
  });
}

/** Bytes of text of each row of the tables that hold texts of people and models. */
function rowBytes(db: SqlDatabase): { bytes: number }[] {
  const sums = {
    events: "length(CAST(data AS BLOB)) + coalesce(length(CAST(cause AS BLOB)), 0)",
    payloads: "coalesce(length(CAST(body AS BLOB)), 0)",
    overflow: "length(CAST(body AS BLOB))",
    checkpoint: "coalesce(length(CAST(text AS BLOB)), 0)",
    runs: "coalesce(length(CAST(view_json AS BLOB)), 0)",
    snapshot: "coalesce(length(CAST(state_json AS BLOB)), 0)",
  };
  return Object.entries(sums).flatMap(([table, sum]) =>
    db.exec(`SELECT ${sum} AS bytes FROM ${table}`).map(({ bytes }) => ({ bytes: Number(bytes) })),
  );
}
