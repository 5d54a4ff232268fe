import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalContract } from "./journal-contract.ts";
import { ALICE, Talk } from "./talk.ts";
import { nodeDatabase, nodeJournal } from "./node-journal.ts";

describe("the journal on node:sqlite", () => {
  journalContract(async (run) => {
    const db = nodeDatabase();
    try {
      await run({ db, journal: () => nodeJournal(db), alarm: async () => db.alarms.at(-1) ?? null });
    } finally {
      db.close();
    }
  });
});

test("a page of messages is found through the index, without reading the rest of the log", () => {
  const db = nodeDatabase();
  const seen: string[] = [];
  const journal = nodeJournal({ ...db, exec: (sql, ...params) => (seen.push(sql), db.exec(sql, ...params)) });
  new Talk(journal).create();
  journal.messages({ after: 0, limit: 1, order: "asc" });
  journal.messages({ after: 0, limit: 1, order: "desc" });
  const pages = seen.filter((sql) => sql.includes("message.created"));
  expect(pages.length).toBeGreaterThanOrEqual(2);
  for (const sql of pages.slice(-2)) {
    const plan = db.exec(`EXPLAIN QUERY PLAN ${sql}`, 5, 5).map(({ detail }) => detail);
    expect(plan).toEqual([expect.stringContaining("USING INDEX events_messages")]);
  }
  db.close();
});

test("a commit that the storage breaks off at any statement leaves the log as it was, and can be tried again", () => {
  let broken = 0;
  for (let statement = 0; ; statement++) {
    const db = nodeDatabase();
    const talk = new Talk(nodeJournal(db));
    talk.create();
    talk.say("hi");
    const before = nodeJournal(db).open();
    const step = talk.state.active?.step;
    const commit = talk.prepare(
      {
        type: "command",
        command: { type: "cancel_run", runId: talk.state.active?.id ?? "", body: {} },
        principal: ALICE,
        facts: {},
      },
      {
        payloads: [{ digest: "d", body: "x".repeat(600_000) }],
        receipt: { key: "k", digest: "d", status: 202, body: "{}" },
        timers: { outbox: 1, watchdog: null },
      },
    );
    expect(step).not.toBeNull();
    db.failAt = statement;
    let failed = false;
    try {
      talk.journal.commit(commit);
    } catch {
      failed = true;
    }
    db.failAt = null;
    if (!failed) break;
    broken++;
    expect(nodeJournal(db).open()).toEqual(before);
    expect(nodeJournal(db).payload("d")).toBeNull();
    talk.journal.commit(commit);
    expect(nodeJournal(db).open()).toEqual(commit.state);
    db.close();
  }
  expect(broken).toBeGreaterThan(8);
});

test("a journal on disk is what the next process finds", () => {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  const first = nodeDatabase(join(folder, "actor.sqlite"));
  const talk = new Talk(nodeJournal(first));
  talk.create();
  talk.chat(1);
  first.close();
  const second = nodeDatabase(join(folder, "actor.sqlite"));
  expect(nodeJournal(second).open()).toEqual(talk.state);
  second.close();
  rmSync(folder, { recursive: true });
});
