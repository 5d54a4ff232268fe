/** The journal on a Durable Object's storage. All the wiring between the two, and nothing else. */
import { SqlJournal } from "./journal.ts";
import type { SqlDatabase } from "./sql-database.ts";

type Cost = Pick<SqlStorageCursor<Record<string, SqlStorageValue>>, "rowsRead" | "rowsWritten">;

/** Of the platform's storage. */
export type JournalStorage = Pick<DurableObjectStorage, "sql" | "transactionSync" | "setAlarm" | "deleteAll">;

/** @param spent told what each statement cost: rows written are what a conversation is billed for */
export const durableDatabase = (
  storage: Pick<JournalStorage, "sql" | "transactionSync">,
  spent?: (cost: Cost, sql: string) => void,
): SqlDatabase => ({
  exec(sql, ...params) {
    const cursor = storage.sql.exec(sql, ...params);
    const rows = cursor.toArray();
    spent?.(cursor, sql);
    return rows;
  },
  transactionSync: (run) => storage.transactionSync(run),
});

/**
 * @param onError told when the platform does not take an alarm; by then it has broken the output gate, and the object
 *   starts anew from its rows
 */
export function durableJournal(
  storage: JournalStorage,
  onError: (error: unknown) => void,
  db: SqlDatabase = durableDatabase(storage),
): SqlJournal {
  return new SqlJournal(db, {
    now: () => Date.now(),
    setAlarm: (at) => void storage.setAlarm(at).catch(onError),
    deleteAll: () => storage.deleteAll(),
    bytes: () => storage.sql.databaseSize,
  });
}
