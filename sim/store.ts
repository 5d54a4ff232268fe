/**
 * The storage of one Durable Object, as the platform keeps it (reliability-security §1.1), on `node:sqlite` in memory.
 * The first write opens a transaction that nobody sees; it is committed after the turn; an exception is no rollback,
 * but inside `transactionSync`; a death before the commit loses it. The alarm is part of it.
 *
 * `test/sim/store-conformance.ts` holds this and workerd against the same small tests.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlDatabase } from "../src/storage/sql-database.ts";
import type { JournalHost } from "../src/storage/journal.ts";
import type { SqlValue } from "../src/sql/rows.ts";

/** The process has died: whatever runs on does it in a world without storage. */
export class Killed extends Error {
  override readonly name = "Killed";
}
/** The database does not take this statement: an exception, as for a full disk or a row that is too big. */
export class WriteRefused extends Error {
  override readonly name = "WriteRefused";
}

/** What one life of the object holds of the storage. */
export interface StoreHandle {
  readonly db: SqlDatabase;
  readonly host: JournalHost;
}

export class SimStore {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, Prepared>();
  readonly #now: () => number;
  #open = false;
  #depth = 0;
  #alarmSet: number | null | undefined;
  /** Of all lives. */
  writes = 0;
  /** Writes since the last commit. */
  dirty = 0;
  /** Asked before every write, with its number; what it throws, the write throws. Of the alarm too: it cannot be refused. */
  onWrite: (n: number, what: "row" | "alarm") => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param alive false once the life has died: then nothing of it reaches the storage */
  handle(alive: () => boolean): StoreHandle {
    const check = () => {
      if (!alive()) throw new Killed("the object is not here any more");
    };
    return {
      db: {
        exec: (sql, ...params) => {
          check();
          return this.exec(sql, ...params);
        },
        transactionSync: (run) => {
          check();
          return this.transactionSync(run);
        },
      },
      host: {
        now: this.#now,
        setAlarm: (at) => {
          check();
          this.setAlarm(at);
        },
        deleteAll: async () => {
          check();
          this.deleteAll();
        },
        bytes: () => Number(this.#sqlite.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0) * 4_096,
      },
    };
  }

  exec(sql: string, ...params: SqlValue[]): Record<string, unknown>[] {
    if (params.length > 100) throw new RangeError("too many parameters");
    const known = this.#statements.get(sql);
    if (!known && params.length === 0 && sql.includes(";")) {
      this.#write();
      this.#sqlite.exec(sql);
      return [];
    }
    const { statement, reads } = known ?? this.#prepare(sql);
    if (!reads) this.#write();
    return statement.all(...params.map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : one)));
  }

  transactionSync<T>(run: () => T): T {
    this.#begin();
    const name = `t${this.#depth++}`;
    this.#prepared(`SAVEPOINT ${name}`).run();
    try {
      const result = run();
      this.#prepared(`RELEASE ${name}`).run();
      return result;
    } catch (error) {
      this.#sqlite.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  setAlarm(at: number): void {
    this.#write("alarm");
    this.#alarmSet = at;
  }

  deleteAll(): void {
    this.#write();
    for (const row of this.#sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()) {
      this.#sqlite.exec(`DROP TABLE IF EXISTS "${String(row["name"])}"`);
    }
    this.#alarmSet = null;
  }

  /** @returns the alarm that this commit set; null: took away; undefined: left as it was */
  commit(): number | null | undefined {
    if (this.#open) this.#prepared("COMMIT").run();
    this.#open = false;
    this.dirty = 0;
    const set = this.#alarmSet;
    this.#alarmSet = undefined;
    return set;
  }

  rollback(): void {
    if (this.#open) this.#sqlite.exec("ROLLBACK");
    this.#open = false;
    this.dirty = 0;
    this.#alarmSet = undefined;
  }

  /** The last event that is durable; only to be asked between turns, after a commit. */
  head(): number {
    if (!this.#hasLog) {
      const found = this.#prepared("SELECT 1 FROM sqlite_master WHERE name = 'events'").all();
      if (found.length === 0) return 0;
      this.#hasLog = true;
    }
    return Number(this.#prepared("SELECT max(seq) AS head FROM events").all()[0]?.["head"] ?? 0);
  }
  #hasLog = false;

  close(): void {
    this.#sqlite.close();
  }

  #write(what: "row" | "alarm" = "row"): void {
    this.writes += 1;
    this.onWrite(this.writes, what);
    this.#begin();
    this.dirty += 1;
  }

  #begin(): void {
    if (this.#open) return;
    this.#prepared("BEGIN").run();
    this.#open = true;
  }

  #prepared(sql: string): StatementSync {
    return (this.#statements.get(sql) ?? this.#prepare(sql)).statement;
  }

  #prepare(sql: string): Prepared {
    const prepared = { statement: this.#sqlite.prepare(sql), reads: /^\s*SELECT\b/i.test(sql) };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly reads: boolean;
}
