/**
 * D1, as the outbox meets it: a batch is one transaction; it may be refused, be applied and not answered, stall, arrive
 * after its sender has died, or refuse one row for good. One database serves many schedules, each with its own tenant.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { HistoryDatabase, HistoryStatement } from "../src/history/statement.ts";
import type { Kernel } from "./kernel.ts";
import type { LifePort } from "./life-port.ts";
import type { Fault } from "./plan.ts";
import type { Random } from "./random.ts";
import { CONVERSATION_TABLES } from "../src/history/tables.ts";

type Rows = Record<string, unknown>[];
type HistoryFault = Extract<Fault, { kind: "history" }>;

class Bound implements HistoryStatement {
  readonly sql: string;
  readonly params: readonly SQLInputValue[];

  constructor(sql: string, params: readonly SQLInputValue[] = []) {
    this.sql = sql;
    this.params = params;
  }

  bind(...values: unknown[]): Bound {
    if (values.length > 100) throw new RangeError("too many parameters");
    return new Bound(this.sql, values as SQLInputValue[]);
  }

  all(): Promise<{ results: Rows }> {
    throw new Error("the outbox writes in batches only");
  }
}

/** The search index costs as much as all the rest, and is read by nothing here: `test/history` holds it to the log. */
const isOfSearch = (sql: string): boolean => SEARCH.test(sql);
const SEARCH = /^(INSERT INTO search_docs|INSERT OR REPLACE INTO search|UPDATE search|DELETE FROM search)/;

/** What the projection consists of. */
const TABLES = [...CONVERSATION_TABLES.filter((table) => table !== "search_docs"), "tombstones"] as const;

export class HistoryTables {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();

  constructor() {
    const migrations = join(import.meta.dirname, "../migrations/history");
    for (const name of readdirSync(migrations).toSorted()) {
      this.#sqlite.exec(readFileSync(join(migrations, name), "utf8"));
    }
  }

  /** One transaction: all of it or nothing. */
  batch(
    statements: readonly { readonly sql: string; readonly params: readonly SQLInputValue[] }[],
  ): { results: Rows }[] {
    this.#prepared("BEGIN").run();
    try {
      const results = statements.map(({ sql, params }) => ({
        results: isOfSearch(sql) ? [] : this.#prepared(sql).all(...params),
      }));
      this.#prepared("COMMIT").run();
      return results;
    } catch (error) {
      this.#sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  /** Of one tenant. */
  rows(tenantId: string): Record<string, Rows> {
    const found: Record<string, Rows> = {};
    for (const table of TABLES) {
      found[table] = this.#prepared(`SELECT * FROM ${table} WHERE tenant_id = ?`).all(tenantId);
    }
    return found;
  }

  seq(tenantId: string): number {
    const [row] = this.#prepared("SELECT seq FROM conversations WHERE tenant_id = ?").all(tenantId);
    return Number(row?.["seq"] ?? 0);
  }

  close(): void {
    this.#sqlite.close();
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#sqlite.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

export interface HistoryDeps {
  readonly kernel: Kernel;
  readonly tables: HistoryTables;
  readonly random: Random;
  readonly faults: readonly Fault[];
  readonly lateLanding: number;
  readonly struck: (kind: string) => void;
  /** Something was written. */
  readonly applied: () => void;
}

export class SimHistory {
  readonly #deps: HistoryDeps;
  readonly #faults: readonly HistoryFault[];
  #batches = 0;
  #outageUntil = 0;
  #poisoned: Bound | null = null;
  calm = false;

  constructor(deps: HistoryDeps) {
    this.#deps = deps;
    this.#faults = deps.faults.filter((fault) => fault.kind === "history");
  }

  database(port: LifePort): HistoryDatabase {
    return {
      prepare: (sql) => new Bound(sql),
      batch: (statements) =>
        new Promise((resolve, reject) => {
          port.gate(() => this.#travel(port, statements as Bound[], resolve, reject));
        }),
    };
  }

  #travel(
    port: LifePort,
    statements: readonly Bound[],
    resolve: (results: { results: Rows }[]) => void,
    reject: (error: Error) => void,
  ): void {
    const { kernel, random, struck } = this.#deps;
    this.#batches += 1;
    const fault = this.calm ? undefined : this.#faults.find(({ n }) => n === this.#batches);
    if (fault) struck(`history_${fault.how}`);
    if (fault?.how === "outage") this.#outageUntil = kernel.now + 60_000;
    if (fault?.how === "poison") this.#poisoned = poisonOf(statements, random);
    const late = !this.calm && random.chance(this.#deps.lateLanding * 0.15);
    kernel.after(late ? random.between(500, 20_000) : random.between(1, 60), () => {
      const refused = fault?.how === "before" || kernel.now < this.#outageUntil || this.#isPoisoned(statements);
      let results: { results: Rows }[] | null = null;
      let error = new Error("D1_ERROR: Network connection lost.");
      if (!refused) {
        try {
          results = this.#deps.tables.batch(statements);
          this.#deps.applied();
        } catch (refusal) {
          error = refusal instanceof Error ? refusal : error;
        }
      }
      const answer = fault?.how === "stall" ? 30_000 : random.between(1, 40);
      void port.later(answer).then(() => {
        if (results && fault?.how !== "after") resolve(results);
        else reject(error);
      });
    });
  }

  /** What one event says is never taken while the faults last. */
  #isPoisoned(statements: readonly Bound[]): boolean {
    const poison = this.#poisoned;
    if (this.calm || poison === null) return false;
    return statements.some(({ sql, params }) => sql === poison.sql && params[3] === poison.params[3]);
  }
}

/** Of some event but the first, without which there is no conversation; not where the history stands, nor a hole. */
function poisonOf(statements: readonly Bound[], random: Random): Bound | null {
  const saying = statements.filter(
    ({ sql, params }) => Number(params[3]) > 1 && !/ holes|SET seq = \?4, updated_at/.test(sql.slice(0, 60)),
  );
  return saying.length > 0 ? (random.pick(saying) ?? null) : null;
}
