/** What an earlier version has written opens, migrates, folds, and keeps every law in this one. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { goldenLogs, goldenStorage, goldenVersions, type GoldenConversation } from "../../rigs/golden/golden.ts";
import { checkLog } from "../../sim/check/log.ts";
import { newObservation } from "../../sim/observation.ts";
import { historyReader } from "../../src/history/history-reader.ts";
import { EVENT_DATA, type Event } from "../../src/protocol/events.ts";
import { EVENT_VERSION } from "../../src/protocol/version.ts";
import { phaseOf } from "../../src/run/status.ts";
import { migrateActor } from "../../src/sql/actor-migrations.ts";
import { migrateD1 } from "../../src/sql/d1-migrations.ts";
import { MIGRATIONS } from "../../src/storage/migrations.ts";
import { Registry } from "../../src/tenant/registry.ts";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";

const HISTORY_MIGRATIONS = join(import.meta.dirname, "../../migrations/history");
const dir = mkdtempSync(join(tmpdir(), "holdpoint-golden-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("there is something of every version that was released", () => {
  expect(goldenVersions()).toContain("0.1.0");
});

describe.for(goldenVersions())("version %s", (version) => {
  const files = goldenStorage(version, join(dir, version));
  const logs = new Map(goldenLogs(version).map((one) => [one.id, one]));
  const of = (folder: RegExp) => files.filter((path) => folder.test(path)).map((path) => join(dir, version, path));
  const conversations = of(/ConversationObject\/[0-9a-f]{64}\.sqlite$/);

  test("every log is in a database of its own", () => {
    expect(logs.size).toBeGreaterThan(0);
    expect(conversations).toHaveLength(logs.size);
  });

  test.for(conversations)("the log of %s", (path) => {
    const db = nodeDatabase(path);
    const journal = nodeJournal(db);
    const state = journal.open();
    const { conversationId = "" } = journal.identity() ?? {};
    const golden = logs.get(conversationId);
    if (!state || !golden) throw new Error("no log is known of this database");

    // Migrated to the last one, and nothing is left to migrate.
    expect(
      migrateActor({ exec: (sql, ...params) => ({ toArray: () => db.exec(sql, ...params) }) }, MIGRATIONS, 0),
    ).toBe(0);
    expect(journal.foldFromStart()).toEqual(state);
    const events = journal.events({ after: 0, limit: 10_000, maxBytes: Number.MAX_SAFE_INTEGER });
    expect(events.map(({ event: { seq, type, at } }) => ({ seq, type, at }))).toEqual(golden.log.map(envelope));
    // Byte for byte, as long as nothing of it has changed since.
    const unchanged = events.filter(({ event }) => event.v === EVENT_VERSION);
    expect(unchanged.map(({ json }) => json)).toEqual(unchanged.map(({ event }) => golden.log[event.seq - 1]));
    for (const { event } of events) expect(EVENT_DATA[event.type].safeParse(event.data).error?.issues).toBeUndefined();

    expect(wrongIn(events.map(({ event }) => event))).toEqual([]);
    for (const run of journal.endedRuns({ before: Number.MAX_SAFE_INTEGER, limit: 1_000 })) {
      expect(["completed", "failed", "cancelled"]).toContain(run.status);
    }
    expect(state.active ? phaseOf(state, state.active) : null).toBe(golden.waitsFor ?? null);
    db.close();
  });

  test("the history", async () => {
    const [db, ...more] = of(/^d1\//)
      .map((path) => new D1OnNodeSqlite(path))
      .filter((one) => one.rows("SELECT 1 FROM sqlite_schema WHERE name = 'tool_calls'").length > 0);
    if (!db || more.length > 0) throw new Error("there is not one history");
    await migrateD1(db, readdirSync(HISTORY_MIGRATIONS).toSorted().map(migration));
    for (const golden of logs.values()) await historyIsOf(db, golden);
  });

  test("the registers of keys", () => {
    const registers = of(/RegistryObject\/[0-9a-f]{64}\.sqlite$/);
    expect(registers.length).toBeGreaterThan(0);
    for (const path of registers) {
      const db = nodeDatabase(path);
      const sql = {
        exec: (text: string, ...params: unknown[]) => ({ toArray: () => db.exec(text, ...(params as string[])) }),
      };
      const registry = new Registry(sql, 0);
      for (const { key, digest, conversation_id } of db.exec(
        "SELECT key, digest, conversation_id FROM claims WHERE holders > 0",
      )) {
        const claim = {
          key: String(key),
          digest: String(digest),
          conversationId: String(conversation_id),
          life: "golden",
        };
        expect(registry.claim({ ...claim, digest: "another" }, 0)).toBe(false);
        expect(registry.claim(claim, 0)).toBe(true);
      }
      db.close();
    }
  });
});

const envelope = (json: string) => {
  const { seq, type, at } = JSON.parse(json) as Event;
  return { seq, type, at };
};

function wrongIn(log: Event[]): string[] {
  const wrong: string[] = [];
  // The seed of which the checker looks at every schema.
  checkLog({ ...newObservation(0, ""), log }, (law, says) => wrong.push(`${law}: ${says}`));
  return wrong;
}

const migration = (name: string) => ({ name, sql: readFileSync(join(HISTORY_MIGRATIONS, name), "utf8") });

async function historyIsOf(
  db: D1OnNodeSqlite,
  { id, owner, tenantId, log, waitsFor }: GoldenConversation,
): Promise<void> {
  const reader = { tenantId, userId: owner };
  const page = await historyReader(db).messages(reader, id, { after: 0, limit: 1_000, order: "asc" });
  // Of one that was killed in the middle the rest comes with its next life.
  expect(page?.asOfSeq).toBeGreaterThanOrEqual(waitsFor === undefined ? log.length : 1);
  expect(page?.asOfSeq).toBeLessThanOrEqual(log.length);
  const told = log.map((json) => JSON.parse(json) as Event).filter(({ seq }) => seq <= (page?.asOfSeq ?? 0));
  const messages = told.filter(({ type }) => type === "message.created" || type === "message.completed");
  expect(page?.data).toHaveLength(messages.length);
}
