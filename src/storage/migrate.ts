/** Brings the actor's tables to the newest version, through the runner that all actors' SQLite shares. */
import { migrateActor, type ActorMigration } from "../sql/actor-migrations.ts";
import type { SqlValue } from "../sql/rows.ts";
import type { SqlDatabase } from "./sql-database.ts";

const HAS_TABLE = "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?";

export const hasTable = (db: SqlDatabase, name: string): boolean => db.exec(HAS_TABLE, name).length > 0;

/** Inside the caller's transaction. @param now epoch ms, kept beside the migration's text */
export function migrate(db: SqlDatabase, migrations: readonly ActorMigration[], now: number): void {
  const eager = (sql: string, ...params: SqlValue[]) => {
    const rows = db.exec(sql, ...params);
    return { toArray: () => rows.map((row) => ({ ...row })) };
  };
  migrateActor({ exec: eager }, migrations, now);
}
