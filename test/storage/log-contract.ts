/** What every journal promises of its log. */
import { describe, expect } from "vitest";
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import { utf8Bytes } from "../../src/protocol/text.ts";
import { rowBytes, testOn, type WithBench } from "./bench.ts";
import { ALICE, call, CONVERSATION, RUN, started, Talk } from "./talk.ts";

export function logContract(withBench: WithBench): void {
  const on = testOn(withBench);

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

  on("grows by what is written, as its size says", ({ journal }) => {
    const talk = new Talk(journal());
    talk.create();
    const before = talk.journal.bytes();
    talk.say("hi", { payloads: [{ digest: "d", body: "x".repeat(500_000) }] });
    expect(talk.journal.bytes() - before).toBeGreaterThan(400_000);
  });
}
