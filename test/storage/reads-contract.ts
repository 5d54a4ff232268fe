/** What every journal promises of messages, and of what it keeps beside the log. */
import { describe, expect } from "vitest";
import { utf8Bytes } from "../../src/protocol/text.ts";
import { rowBytes, testOn, type WithBench } from "./bench.ts";
import { ALICE, CONVERSATION, RUN, Talk } from "./talk.ts";

export function readsContract(withBench: WithBench): void {
  const on = testOn(withBench);

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
}
