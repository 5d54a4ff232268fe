/** A migrated history, and ways to bring logs to it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { d1Destination } from "../../src/history/destination.ts";
import { project } from "../../src/history/project.ts";
import type { Read } from "../../src/history/read-outcome.ts";
import { prepared, type Statement } from "../../src/history/statement.ts";
import { CONVERSATION_TABLES } from "../../src/history/tables.ts";
import type { Event } from "../../src/protocol/events.ts";
import { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import type { Script } from "./script.ts";

const MIGRATIONS = join(import.meta.dirname, "../../migrations/history");

export function history(): D1OnNodeSqlite {
  const db = new D1OnNodeSqlite();
  for (const name of readdirSync(MIGRATIONS).toSorted()) db.sqlite.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  return db;
}

export const noPayloads = (): null => null;

export async function run(db: D1OnNodeSqlite, statements: readonly Statement[]): Promise<void> {
  await db.batch(statements.map((statement) => prepared(db, statement)));
}

/** @param cut how many events go into each batch */
export async function bring(
  db: D1OnNodeSqlite,
  script: Pick<Script, "subject" | "events">,
  cut: () => number = () => 20,
  events: readonly Event[] = script.events,
): Promise<void> {
  const destination = d1Destination(db);
  for (let at = 0; at < events.length;) {
    const batch = events.slice(at, at + Math.max(1, cut()));
    await destination.write(script.subject, project(script.subject, batch, noPayloads));
    at += batch.length;
  }
}

const TABLES = [...CONVERSATION_TABLES, "tombstones"] as const;

/** Every row of every table, and what the search index holds, in one order. */
export function everything(db: D1OnNodeSqlite): Record<string, unknown> {
  const tables = TABLES.map((table) => [
    table,
    db
      .rows(`SELECT * FROM ${table}`)
      .map((row) => JSON.stringify(row))
      .toSorted(),
  ]);
  return { ...Object.fromEntries(tables), search: db.rows("SELECT rowid, * FROM search ORDER BY rowid") };
}

export function found<T>(read: Read<T>): T {
  if (read.kind !== "found") throw new Error(read.kind);
  return read.value;
}
