/** A D1 database on `node:sqlite`: as far as the migrations and the planner use one. A batch is one transaction. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

class Statement {
  readonly #db: DatabaseSync;
  readonly #sql: string;
  readonly #values: SQLInputValue[];
  constructor(db: DatabaseSync, sql: string, values: SQLInputValue[] = []) {
    this.#db = db;
    this.#sql = sql;
    this.#values = values;
  }
  bind(...values: SQLInputValue[]): Statement {
    return new Statement(this.#db, this.#sql, values);
  }
  allNow() {
    const results = this.#db.prepare(this.#sql).all(...this.#values);
    // node:sqlite gives rows without a prototype; D1's come out of JSON.
    return { success: true, results: results.map((row) => ({ ...row })), meta: {} };
  }
  async all() {
    await Promise.resolve();
    return this.allNow();
  }
  run() {
    return this.all();
  }
  async first() {
    return (await this.all()).results[0] ?? null;
  }
}

export function d1On(db: DatabaseSync) {
  return {
    prepare: (sql: string) => new Statement(db, sql),
    async batch(statements: Statement[]) {
      await Promise.resolve();
      db.exec("BEGIN");
      try {
        const answers = statements.map((statement) => statement.allNow());
        db.exec("COMMIT");
        return answers;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    },
  };
}

/** As the binding's type has it; what is not above is not there. */
export const asD1 = (db: DatabaseSync): D1Database => d1On(db) as unknown as D1Database;
