/**
 * Schema of an actor's own SQLite: an append-only list, remembered in `_migrations` with the text that ran (the platform
 * refuses `PRAGMA user_version`). A past that is newer than this code, or that is not this code's past, is refused:
 * going on would read rows by a schema that they do not have.
 *
 * Opens no transaction of its own; the caller wraps it in the one that it owns, so that a failure leaves nothing.
 */
import type { Sql } from "./rows.ts";

export interface ActorMigration {
  /** 1, 2, 3, … without a gap. */
  readonly id: number;
  readonly sql: string;
}

export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationRefused";
  }
}

const TABLE = `CREATE TABLE IF NOT EXISTS _migrations (
  id INTEGER PRIMARY KEY,
  sql TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;

/** @param now epoch ms @returns how many migrations ran */
export function migrateActor(sql: Sql, migrations: readonly ActorMigration[], now: number): number {
  migrations.forEach(({ id }, at) => {
    if (id !== at + 1) throw new MigrationRefused(`migration ${id} stands at place ${at + 1} of the list`);
  });
  sql.exec(TABLE);
  const past = sql.exec("SELECT id, sql FROM _migrations ORDER BY id").toArray();
  past.forEach((row, at) => {
    const known = migrations[at];
    if (!known || row["id"] !== known.id) {
      throw new MigrationRefused(`the database has migration ${String(row["id"])}, which this version does not know`);
    }
    if (row["sql"] !== known.sql) throw new MigrationRefused(`migration ${known.id} is not the one that ran here`);
  });
  const due = migrations.slice(past.length);
  for (const { id, sql: text } of due) {
    sql.exec(text);
    sql.exec("INSERT INTO _migrations (id, sql, applied_at) VALUES (?, ?, ?)", id, text, now);
  }
  return due.length;
}
