/** `node:sqlite` behind the journal's port: for tests in plain Node, and for the simulation. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { SqlJournal, type JournalHost } from "../../src/storage/journal.ts";
import type { SqlDatabase } from "../../src/storage/sql-database.ts";

export interface NodeDatabase extends SqlDatabase, JournalHost {
  /** As last set; the platform's own, not the journal's row. */
  readonly alarms: number[];
  /** Throws before the n-th statement from now on is run; null: never. */
  failAt: number | null;
  close(): void;
}

export function nodeDatabase(path = ":memory:"): NodeDatabase {
  const db = new DatabaseSync(path);
  const statements = new Map<string, StatementSync>();
  const alarms: number[] = [];
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    alarms,
    failAt: null,
    exec(sql, ...params) {
      if (params.length > 100) throw new RangeError("too many parameters");
      if (this.failAt !== null && this.failAt-- <= 0) throw new Error("the storage is gone");
      if (params.length === 0 && sql.includes(";")) {
        db.exec(sql);
        return [];
      }
      return prepared(sql).all(
        ...params.map((param) => (param instanceof ArrayBuffer ? new Uint8Array(param) : param)),
      );
    },
    transactionSync(run) {
      db.exec("BEGIN");
      try {
        const result = run();
        db.exec("COMMIT");
        return result;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    },
    now: () => Date.now(),
    setAlarm: (at) => void alarms.push(at),
    async deleteAll() {
      for (const row of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()) {
        db.exec(`DROP TABLE IF EXISTS "${String(row["name"])}"`);
      }
      alarms.length = 0;
    },
    bytes: () => Number(db.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0) * 4_096,
    close: () => db.close(),
  };
}

export const nodeJournal = (db: NodeDatabase = nodeDatabase()): SqlJournal => new SqlJournal(db, db);
