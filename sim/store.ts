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

/**
 * A database for one schedule after another: its tables stay, empty, and are hidden until the schedule makes them; the
 * statements stay prepared. Making tables and preparing statements costs more than what most schedules write.
 */
export class StoreDatabase {
  readonly sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, Prepared>();
  /** What made the tables that are there from an earlier schedule. */
  made: ReadonlySet<string> = new Set();
  #dropped = false;

  statement(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known) return known;
    const prepared = { statement: this.sqlite.prepare(sql), reads: /^\s*SELECT\b/i.test(sql) };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  knows(sql: string): boolean {
    return this.#statements.has(sql);
  }

  dropAll(): void {
    this.#dropped = true;
    for (const name of this.#tables()) this.sqlite.exec(`DROP TABLE IF EXISTS "${name}"`);
  }

  /** @param defined what has made the tables, if it was not undone @returns whether it may serve another schedule */
  empty(defined: ReadonlySet<string>): boolean {
    if (this.#dropped) return false;
    const tables = this.#tables();
    if (this.made.size === 0 && tables.length > 0) this.made = defined;
    for (const name of tables) this.statement(`DELETE FROM "${name}"`).statement.run();
    return true;
  }

  #tables(): string[] {
    const rows = this.sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return rows.map((row) => String(row["name"]));
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly reads: boolean;
}

const isDefinition = (sql: string): boolean => /\bCREATE TABLE\b/.test(sql);
const asksForTables = (sql: string): boolean => sql.includes("sqlite_master");

export class SimStore {
  readonly #database: StoreDatabase;
  readonly #now: () => number;
  /** The tables of an earlier schedule are not there yet; undone with the transaction. */
  #hidden: boolean;
  #hiddenBefore: boolean;
  readonly #defined = new Set<string>();
  #open = false;
  #depth = 0;
  #alarmSet: number | null | undefined;
  /** Once there, it stays, but for `deleteAll`. */
  readonly #found = { log: false };
  /** Of all lives. */
  writes = 0;
  /** Writes since the last commit. */
  dirty = 0;
  /** Asked before every write, with its number; what it throws, the write throws. Of the alarm too: it cannot be refused. */
  onWrite: (n: number, what: "row" | "alarm") => void = () => undefined;

  constructor(now: () => number, database = new StoreDatabase()) {
    this.#now = now;
    this.#database = database;
    this.#hidden = this.#hiddenBefore = database.made.size > 0;
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
        bytes: () => Number(this.#prepared("PRAGMA page_count").get()?.["page_count"] ?? 0) * 4_096,
      },
    };
  }

  exec(sql: string, ...params: SqlValue[]): Record<string, unknown>[] {
    if (params.length > 100) throw new RangeError("too many parameters");
    const database = this.#database;
    if (this.#hidden && asksForTables(sql)) return [];
    if (params.length === 0 && !database.knows(sql) && isDefinition(sql)) {
      this.#write();
      this.#define(sql);
      return [];
    }
    const { statement, reads } = database.statement(sql);
    if (!reads) this.#write();
    return statement.all(...params.map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : one)));
  }

  #define(sql: string): void {
    const { made, sqlite } = this.#database;
    if (!made.has(sql)) sqlite.exec(sql);
    this.#defined.add(sql);
    this.#hidden = false;
  }

  transactionSync<T>(run: () => T): T {
    this.#begin();
    const name = `t${this.#depth++}`;
    const hidden = this.#hidden;
    this.#prepared(`SAVEPOINT ${name}`).run();
    try {
      const result = run();
      this.#prepared(`RELEASE ${name}`).run();
      return result;
    } catch (error) {
      this.#database.sqlite.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
      this.#hidden = hidden;
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
    this.#database.dropAll();
    this.#found.log = false;
    this.#alarmSet = null;
  }

  /** @returns the alarm that this commit set; null: took away; undefined: left as it was */
  commit(): number | null | undefined {
    if (this.#open) this.#prepared("COMMIT").run();
    this.#open = false;
    this.#hiddenBefore = this.#hidden;
    this.dirty = 0;
    const set = this.#alarmSet;
    this.#alarmSet = undefined;
    return set;
  }

  rollback(): void {
    if (this.#open) this.#prepared("ROLLBACK").run();
    this.#open = false;
    this.#hidden = this.#hiddenBefore;
    this.dirty = 0;
    this.#alarmSet = undefined;
  }

  /** The last event that is durable; only to be asked between turns, after a commit. */
  head(): number {
    if (this.#hidden || this.#prepared("SELECT 1 FROM sqlite_master WHERE name = 'events'").all().length === 0)
      return 0;
    return Number(this.#prepared("SELECT max(seq) AS head FROM events").all()[0]?.["head"] ?? 0);
  }

  /** @returns the database, where it may serve another schedule */
  close(): StoreDatabase | null {
    if (this.#open) this.rollback();
    if (this.#database.empty(this.#defined)) return this.#database;
    this.#database.sqlite.close();
    return null;
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
    return this.#database.statement(sql).statement;
  }
}
