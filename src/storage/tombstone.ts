/** What is left of an erased conversation: one row, without a name in it. */
import type { Tombstone } from "../actor/ports.ts";
import { hasTable } from "./migrate.ts";
import { TOMBSTONE_TABLE } from "./migrations.ts";
import { numberIn, textIn, type SqlDatabase } from "./sql-database.ts";

const READ = "SELECT deleted_at, generation, owner FROM tombstone WHERE id = 1";
const WRITE = "INSERT INTO tombstone (id, deleted_at, generation, owner) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING";

export function readTombstone(db: SqlDatabase): Tombstone | null {
  const [row] = hasTable(db, "tombstone") ? db.exec(READ) : [];
  if (!row) return null;
  return {
    deletedAt: numberIn(row, "deleted_at"),
    generation: textIn(row, "generation"),
    owner: textIn(row, "owner"),
  };
}

export function writeTombstone(db: SqlDatabase, { deletedAt, generation, owner }: Tombstone): void {
  db.exec(TOMBSTONE_TABLE);
  db.exec(WRITE, deletedAt, generation, owner);
}
