import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { Alarms } from "../../src/history/alarms.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readConfirmations } from "../../src/history/read-confirmations.ts";
import { readConversation, readConversations } from "../../src/history/read-conversations.ts";
import { readHoldings } from "../../src/history/read-holdings.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { readRuns } from "../../src/history/read-runs.ts";
import { readUsage } from "../../src/history/read-usage.ts";
import { readerOf } from "../../src/history/search-tokens.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { conversationId, longStory, Script, START } from "./script.ts";
import { bring, history } from "./support.ts";

const TABLES =
  /^SCAN (conversations|tombstones|holes|participants|messages|runs|tool_calls|confirmations|search_docs|figures|crossings|[a-z]|search)\b/;
/** A match is shown as a scan of the virtual table, with the match in its index string. */
const MATCH = /^SCAN search VIRTUAL TABLE INDEX 0:(M|=)/;
/** The greatest document number: the end of an index, not a walk. */
const LAST = /^SEARCH search_docs|^SCAN json_each|^SCAN a VIRTUAL TABLE/;

function scans(db: D1OnNodeSqlite, sql: string): string[] {
  const steps = db.sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps
    .map(({ detail }) => String(detail))
    .filter((detail) => TABLES.test(detail) && !MATCH.test(detail) && !LAST.test(detail));
}

const SCOPE = { userId: "ann", roles: ["ops"], scopes: ["confirmations:decide", "lab:transfer"] };

async function everyRead(db: D1OnNodeSqlite): Promise<void> {
  const ours = historyFor(db, "acme");
  const id = conversationId(1);
  for (const order of ["asc", "desc"] as const) {
    for (const filter of [{}, { agent: "lab" }, { q: "重启 nginx" }, { q: "a b", agent: "lab" }]) {
      await readConversations(ours, SCOPE, { limit: 50, order, ...filter });
      await readConversations(ours, SCOPE, { limit: 50, order, ...filter, before: { createdAt: START, id } });
    }
    await readMessages(ours, SCOPE, id, { after: 0, limit: 50, order });
  }
  await readConversation(ours, SCOPE, id);
  for (const whose of [{}, { userId: "ann" }]) await readHoldings(ours, { ...whose, after: id, limit: 50 });
  await readRuns(ours, SCOPE, id, { limit: 50 });
  await readConfirmations(ours, SCOPE, { now: START, limit: 50 });
  await readUsage(ours, { from: START, to: START + 1, agent: "lab" });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  await new Alarms({ db, log, now: () => START, thresholds: { lagMs: 1 } }).look("acme", 5);
}

test("no read and no write of the history scans a table", async () => {
  const db = history();
  const script = longStory();
  await bring(db, script);
  const from = script.events.length;
  script.command({ type: "delete_conversation", body: {} });
  const written = new Set(db.batches.flat().map(({ sql }) => sql));
  await everyRead(db);
  await bring(db, script, () => 50, script.events.slice(from));
  const asked = new Set(db.batches.flat().map(({ sql }) => sql));
  expect(asked.size - written.size).toBeGreaterThan(20);
  for (const sql of asked) expect({ sql, scans: scans(db, sql) }).toEqual({ sql, scans: [] });
});

test("a scan would be seen by the test above", () => {
  const db = history();
  expect(scans(db, "SELECT * FROM messages WHERE parts_json = ''")).toHaveLength(1);
  expect(scans(db, "SELECT * FROM participants p WHERE p.agent = ''")).toHaveLength(1);
  expect(scans(db, "SELECT * FROM search")).toHaveLength(1);
});

/** Conversations of one tenant, so many of each user; each with a title in the index and a word that all of them use. */
function crowd(of: Readonly<Record<string, number>>): D1OnNodeSqlite {
  const db = history();
  db.sqlite.exec("BEGIN");
  const one = db.sqlite.prepare(`INSERT INTO conversations (tenant_id, conversation_id, generation, seq, agent, title,
    archived, metadata_json, handover_state, created_at, updated_at)
    VALUES ('acme', ?, 'gen00000', 1, 'lab', ?, 0, '{}', 'none', ?, ?)`);
  const place = db.sqlite.prepare(
    "INSERT INTO participants VALUES ('acme', ?, 'gen00000', ?, 1, 'owner', 'lab', ?, 0)",
  );
  const doc = db.sqlite.prepare("INSERT INTO search_docs VALUES ('acme', ?, 'gen00000', 0, ?)");
  const words = db.sqlite.prepare("INSERT INTO search (rowid, readers, words, singles) VALUES (?, ?, ?, '')");
  let n = 0;
  for (const [user, count] of Object.entries(of)) {
    for (let each = 0; each < count; each++) {
      const id = conversationId(++n);
      one.run(id, `title ${n}`, START + n, START + n);
      place.run(id, user, START + n);
      doc.run(id, n);
      words.run(n, readerOf("acme", user), `title common 重启 word${n % 100}`);
    }
  }
  db.sqlite.exec("COMMIT");
  return db;
}

async function fastest(run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round++) {
    const from = performance.now();
    await run();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

test("100,000 conversations of one tenant list as fast as 100, mine or others'", { timeout: 120_000 }, async () => {
  const few = historyFor(crowd({ ann: 100 }), "acme");
  const many = historyFor(crowd({ ann: 99_900, ben: 100 }), "acme");
  const place = { createdAt: START + 60, id: conversationId(60) };
  for (const query of [{}, { agent: "lab" }, { before: place }]) {
    const list = (ours: typeof few, userId: string) => () =>
      readConversations(ours, { userId }, { limit: 50, ...query });
    const base = await fastest(list(few, "ann"));
    expect(await fastest(list(many, "ann"))).toBeLessThan(base * 3 + 1);
    expect(await fastest(list(many, "ben"))).toBeLessThan(base * 3 + 1);
  }
  // A word that everybody uses: what others wrote costs next to nothing.
  const search = (ours: typeof few, userId: string) => () =>
    readConversations(ours, { userId }, { limit: 50, q: "common 重启" });
  expect((await search(many, "ben")()).data).toHaveLength(50);
  expect(await fastest(search(many, "ben"))).toBeLessThan((await fastest(search(few, "ann"))) * 10 + 20);
  const inbox = (ours: typeof few) => () => readConfirmations(ours, SCOPE, { now: START, limit: 50 });
  expect(await fastest(inbox(many))).toBeLessThan((await fastest(inbox(few))) * 3 + 1);

  // Nor does what is written cost more.
  const bringing = async (db: D1OnNodeSqlite, n: number) => {
    const from = performance.now();
    await bring(db, new Script({ n }).say("hello").plan([], "hi"));
    return performance.now() - from;
  };
  const small = await bringing(history(), 500_000);
  expect(await bringing(crowd({ ann: 20_000 }), 500_001)).toBeLessThan(small * 10 + 50);
});
