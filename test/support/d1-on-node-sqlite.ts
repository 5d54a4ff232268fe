/**
 * A D1 in plain Node: the part of `D1Database` that the history uses, over `node:sqlite`, with D1's own limits (100
 * parameters, 100 KB of SQL, 2 MB a value) and its transaction per batch. Faults are scripted by the test.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { HistoryDatabase, HistoryStatement } from "../../src/history/statement.ts";

const MAX_PARAMS = 100;
const MAX_SQL_BYTES = 100_000;
const MAX_VALUE_BYTES = 2_000_000;

class Bound implements HistoryStatement {
  readonly sql: string;
  readonly params: readonly SQLInputValue[];
  readonly #database: D1OnNodeSqlite;

  constructor(database: D1OnNodeSqlite, sql: string, params: readonly SQLInputValue[] = []) {
    this.#database = database;
    this.sql = sql;
    this.params = params;
  }

  bind(...values: unknown[]): Bound {
    if (values.length > MAX_PARAMS) throw new RangeError(`${values.length} parameters`);
    return new Bound(
      this.#database,
      this.sql,
      values.map((value) => {
        if (value === null || typeof value === "number") return value;
        if (typeof value !== "string") throw new TypeError(`D1 binds no ${typeof value}`);
        if (Buffer.byteLength(value) > MAX_VALUE_BYTES) throw new RangeError("string or blob too big");
        return value;
      }),
    );
  }

  async all(): Promise<{ results: Record<string, unknown>[] }> {
    const [result] = await this.#database.batch([this]);
    return result ?? { results: [] };
  }

  async first(): Promise<Record<string, unknown> | null> {
    return (await this.all()).results[0] ?? null;
  }

  run(): Promise<{ results: Record<string, unknown>[] }> {
    return this.all();
  }
}

export class D1OnNodeSqlite implements HistoryDatabase {
  readonly sqlite: DatabaseSync;
  /** The statements of every batch, as asked. */
  readonly batches: (readonly { readonly sql: string; readonly params: readonly SQLInputValue[] }[])[] = [];
  /** Called before a batch runs: what it throws, the batch is refused with. */
  before: (batch: readonly Bound[]) => void = () => {};
  /** Called after a batch has committed: what it throws, the caller sees instead of the answer. */
  after: (batch: readonly Bound[]) => void = () => {};
  readonly #statements = new Map<string, StatementSync>();

  constructor(path = ":memory:") {
    this.sqlite = new DatabaseSync(path);
  }

  prepare(sql: string): Bound {
    if (Buffer.byteLength(sql) > MAX_SQL_BYTES) throw new RangeError("statement too long");
    return new Bound(this, sql);
  }

  async batch(statements: readonly HistoryStatement[]): Promise<{ results: Record<string, unknown>[] }[]> {
    const bound = statements.filter((statement) => statement instanceof Bound);
    await Promise.resolve();
    this.batches.push(bound);
    this.before(bound);
    this.sqlite.exec("BEGIN");
    try {
      const results = bound.map(({ sql, params }) => ({ results: this.#prepared(sql).all(...params) }));
      this.sqlite.exec("COMMIT");
      this.after(bound);
      return results;
    } catch (error) {
      if (this.sqlite.isTransaction) this.sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  rows(sql: string, ...params: SQLInputValue[]): Record<string, unknown>[] {
    return this.sqlite.prepare(sql).all(...params);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.sqlite.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
