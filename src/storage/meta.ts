/** Single values of the conversation, one row each. */
import { textIn, type SqlDatabase } from "./sql-database.ts";

export type MetaKey = "conversation_id" | "alarm_at" | "projected_seq";

const READ = "SELECT value FROM meta WHERE key = ?";
const WRITE = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const CLEAR = "DELETE FROM meta WHERE key = ?";

export function readMeta(db: SqlDatabase, key: MetaKey): string | null {
  const [row] = db.exec(READ, key);
  return row ? textIn(row, "value") : null;
}
export const writeMeta = (db: SqlDatabase, key: MetaKey, value: string): void => void db.exec(WRITE, key, value);
export const clearMeta = (db: SqlDatabase, key: MetaKey): void => void db.exec(CLEAR, key);
