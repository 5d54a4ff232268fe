import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { durableDatabase, durableJournal } from "../../src/storage/durable-journal.ts";
import { journalContract } from "../storage/journal-contract.ts";
import { Talk } from "../storage/talk.ts";

const fresh = () => env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());

/** An alarm that the platform does not take fails the run as an unhandled rejection. */
const refused = (error: unknown) => {
  throw error;
};

describe("the journal on a Durable Object's SQLite", () => {
  journalContract((run) =>
    runInDurableObject(fresh(), async (_object, { storage }) => {
      await run({
        db: durableDatabase(storage),
        journal: () => durableJournal(storage, refused),
        alarm: () => storage.getAlarm(),
      });
    }),
  );

  test("writes one row for an event, and none for a timer that stays as it is", () =>
    runInDurableObject(fresh(), (_object, { storage }) => {
      const written: Record<string, number> = {};
      const db = durableDatabase(storage, ({ rowsWritten }, sql) => {
        const table = /(?:INTO|UPDATE|FROM)\s+(\w+)/.exec(sql)?.[1] ?? "";
        written[table] = (written[table] ?? 0) + rowsWritten;
      });
      const talk = new Talk(durableJournal(storage, refused, db));
      talk.create();
      talk.say("hi", { timers: { outbox: 7 } });
      const events = talk.state.seq;
      talk.answer({ text: "ho" }, [], { timers: { outbox: 7 } });
      // One more row for each message: the partial index.
      expect(written["events"]).toBe(talk.state.seq + 2);
      expect(talk.state.seq).toBeGreaterThan(events);
      expect(written["timers"]).toBe(1);
    }));
});
