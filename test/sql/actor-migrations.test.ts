import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { migrateActor, MigrationRefused } from "../../src/sql/actor-migrations.ts";
import type { Sql } from "../../src/sql/rows.ts";

const FIRST = { id: 1, sql: "CREATE TABLE a (x INTEGER) STRICT; CREATE INDEX a_x ON a (x);" };
const SECOND = { id: 2, sql: "ALTER TABLE a ADD COLUMN y TEXT" };

function open() {
  const db = new DatabaseSync(":memory:");
  const sql: Sql = {
    exec(text, ...params) {
      if (params.length === 0 && !/^\s*SELECT/i.test(text)) {
        db.exec(text);
        return { toArray: () => [] };
      }
      const values = params.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
      const rows = db.prepare(text).all(...values);
      return { toArray: () => rows };
    },
  };
  const tables = () =>
    sql
      .exec("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name);
  return { db, sql, tables };
}

test("an empty database gets every migration, in order, and a second run does nothing", () => {
  const { sql, tables } = open();
  expect(migrateActor(sql, [FIRST, SECOND], 1_000)).toBe(2);
  expect(tables()).toEqual(expect.arrayContaining(["a", "_migrations"]));
  sql.exec("INSERT INTO a (x, y) VALUES (?, ?)", 1, "one");
  expect(migrateActor(sql, [FIRST, SECOND], 2_000)).toBe(0);
  expect(sql.exec("SELECT x, y FROM a").toArray()).toEqual([{ x: 1, y: "one" }]);
  expect(sql.exec("SELECT id, applied_at FROM _migrations").toArray()).toEqual([
    { id: 1, applied_at: 1_000 },
    { id: 2, applied_at: 1_000 },
  ]);
});

test("only what is new runs on a database that has a past", () => {
  const { sql } = open();
  migrateActor(sql, [FIRST], 1_000);
  expect(migrateActor(sql, [FIRST, SECOND], 2_000)).toBe(1);
});

test("a database with a newer past is refused, and stays as it is", () => {
  const { sql } = open();
  migrateActor(sql, [FIRST, SECOND], 1_000);
  expect(() => migrateActor(sql, [FIRST], 2_000)).toThrow(MigrationRefused);
  expect(sql.exec("SELECT count(*) AS n FROM _migrations").toArray()).toEqual([{ n: 2 }]);
});

test("an altered past is refused before anything new runs", () => {
  const { sql, tables } = open();
  migrateActor(sql, [FIRST], 1_000);
  const altered = { id: 1, sql: FIRST.sql.replace("INTEGER", "TEXT") };
  expect(() => migrateActor(sql, [altered, { id: 2, sql: "CREATE TABLE b (x) " }], 2_000)).toThrow(MigrationRefused);
  expect(tables()).not.toContain("b");
});

test("a list with a gap is refused", () => {
  const { sql } = open();
  expect(() => migrateActor(sql, [FIRST, { id: 3, sql: "SELECT 1" }], 1_000)).toThrow(MigrationRefused);
});

test("a migration that fails leaves nothing when the caller's transaction is rolled back", () => {
  const { db, sql, tables } = open();
  db.exec("BEGIN");
  expect(() => migrateActor(sql, [FIRST, { id: 2, sql: "CREATE TABLE a (again INTEGER)" }], 1_000)).toThrow();
  db.exec("ROLLBACK");
  expect(tables()).toEqual([]);
});
