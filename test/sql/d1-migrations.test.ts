import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { migrateD1 } from "../../src/sql/d1-migrations.ts";
import { splitStatements } from "../../src/sql/statements.ts";
import { d1On } from "../tools/sqlite-d1.ts";

const TABLE = { name: "0001_a.sql", sql: "-- a table; of mine\nCREATE TABLE a (x TEXT DEFAULT ';') STRICT;\n" };
const MORE = { name: "0002_b.sql", sql: "INSERT INTO a (x) VALUES ('it''s; one');\nINSERT INTO a (x) VALUES ('two')" };

test("migrations run once, and stand in wrangler's own table", async () => {
  const db = d1On(new DatabaseSync(":memory:"));
  expect(await migrateD1(db, [TABLE, MORE])).toEqual(["0001_a.sql", "0002_b.sql"]);
  expect(await migrateD1(db, [TABLE, MORE])).toEqual([]);
  const { results } = await db.prepare("SELECT id, name FROM d1_migrations").all();
  expect(results).toEqual([
    { id: 1, name: "0001_a.sql" },
    { id: 2, name: "0002_b.sql" },
  ]);
  expect((await db.prepare("SELECT x FROM a").all()).results).toEqual([{ x: "it's; one" }, { x: "two" }]);
});

test("what wrangler applied is not applied again", async () => {
  const sqlite = new DatabaseSync(":memory:");
  sqlite.exec(`CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL); CREATE TABLE a (x TEXT) STRICT;
    INSERT INTO d1_migrations (name) VALUES ('0001_a.sql')`);
  expect(await migrateD1(d1On(sqlite), [TABLE, MORE])).toEqual(["0002_b.sql"]);
});

test("of two that run at once each migration is applied by one", async () => {
  const sqlite = new DatabaseSync(":memory:");
  const [one, two] = await Promise.all([
    migrateD1(d1On(sqlite), [TABLE, MORE]),
    migrateD1(d1On(sqlite), [TABLE, MORE]),
  ]);
  expect([...one, ...two].sort()).toEqual(["0001_a.sql", "0002_b.sql"]);
  expect(sqlite.prepare("SELECT count(*) AS n FROM a").get()).toEqual({ n: 2 });
});

test("a migration that fails is rejected, and nothing of it stays", async () => {
  const sqlite = new DatabaseSync(":memory:");
  const broken = { name: "0002_c.sql", sql: "INSERT INTO a (x) VALUES ('one'); INSERT INTO nowhere VALUES (1)" };
  await expect(migrateD1(d1On(sqlite), [TABLE, broken])).rejects.toThrow();
  expect(sqlite.prepare("SELECT count(*) AS n FROM a").get()).toEqual({ n: 0 });
  expect(sqlite.prepare("SELECT name FROM d1_migrations").all()).toEqual([{ name: "0001_a.sql" }]);
});

test("statements are cut at semicolons, but not in strings, comments, names or a trigger's body", () => {
  expect(
    splitStatements(`/* first; */ SELECT ';'; -- second;
      SELECT "a;b", [c;d];;
      CREATE TRIGGER t AFTER INSERT ON a BEGIN
        UPDATE a SET x = CASE WHEN x = 'END' THEN 1 ELSE 2 END;
        DELETE FROM b;
      END;
      SELECT 3`).map((statement) => statement.replaceAll(/\s+/g, " ")),
  ).toEqual([
    "/* first; */ SELECT ';'",
    '-- second; SELECT "a;b", [c;d]',
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = CASE WHEN x = 'END' THEN 1 ELSE 2 END; DELETE FROM b; END",
    "SELECT 3",
  ]);
});
