/**
 * Brings a local D1 up to date, so that `wrangler dev` alone serves. Development only: a deployment is migrated by
 * `wrangler d1 migrations apply`. Both keep the same books (wrangler's `d1_migrations`), so neither repeats the other.
 *
 * Safe when two isolates run it at once: a migration and its entry are one batch, which is one transaction, and the
 * entry comes first; so the later of the two fails on the name before it has touched anything.
 */
import { splitStatements } from "./statements.ts";

export interface D1Migration {
  /** The file's name with `.sql`, as wrangler records it. */
  readonly name: string;
  readonly sql: string;
}

/** What is used of a `D1Database`. */
export interface D1Like<Statement> {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<unknown>;
}
interface StatementLike {
  bind(...values: unknown[]): StatementLike;
  all(): Promise<{ results: Record<string, unknown>[] }>;
  run(): Promise<unknown>;
}

const TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** @returns the names that this call applied; rejects with the database's own error when one cannot be applied */
export async function migrateD1<S extends StatementLike>(
  db: D1Like<S>,
  migrations: readonly D1Migration[],
): Promise<string[]> {
  await db.prepare(TABLE).run();
  const past = await appliedNames(db);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (past.has(migration.name)) continue;
    if (await apply(db, migration)) applied.push(migration.name);
  }
  return applied;
}

async function apply<S extends StatementLike>(db: D1Like<S>, { name, sql }: D1Migration): Promise<boolean> {
  // The name is ours (a file in this repository), and a bound statement would be of another type than `prepare` gives.
  const entry = db.prepare(`INSERT INTO d1_migrations (name) VALUES ('${name.replaceAll("'", "''")}')`);
  try {
    await db.batch([entry, ...splitStatements(sql).map((statement) => db.prepare(statement))]);
    return true;
  } catch (error) {
    // Another isolate was faster: what it did is what this one wanted.
    if ((await appliedNames(db)).has(name)) return false;
    throw error;
  }
}

async function appliedNames<S extends StatementLike>(db: D1Like<S>): Promise<Set<string>> {
  const { results } = await db.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
  return new Set(results.map((row) => String(row["name"])));
}
