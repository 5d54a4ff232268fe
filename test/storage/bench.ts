/** What a contract test runs on, and the questions that several of them ask of the database itself. */
import { test } from "vitest";
import type { SqlJournal } from "../../src/storage/journal.ts";
import type { SqlDatabase } from "../../src/storage/sql-database.ts";

export interface Bench {
  readonly db: SqlDatabase;
  /** The journal as a new life of the object has it: same rows, no memory. */
  journal(): SqlJournal;
  /** The platform's alarm. */
  alarm(): Promise<number | null>;
}
export type WithBench = (run: (bench: Bench) => void | Promise<void>) => Promise<void>;

/** @param withBench runs one test on a database that nobody has touched */
export const testOn =
  (withBench: WithBench) =>
  (name: string, run: (bench: Bench) => void | Promise<void>): void =>
    // oxlint-disable-next-line vitest/valid-title
    test(name, () => withBench(run));

export const tables = (db: SqlDatabase): unknown[] =>
  db
    .exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY name")
    .map(({ name }) => name);

/** Bytes of text of each row of the tables that hold texts of people and models. */
export function rowBytes(db: SqlDatabase): { bytes: number }[] {
  const sums = {
    events: "length(CAST(data AS BLOB)) + coalesce(length(CAST(cause AS BLOB)), 0)",
    payloads: "coalesce(length(CAST(body AS BLOB)), 0)",
    overflow: "length(CAST(body AS BLOB))",
    checkpoint: "coalesce(length(CAST(text AS BLOB)), 0)",
    runs: "coalesce(length(CAST(view_json AS BLOB)), 0)",
    snapshot: "coalesce(length(CAST(state_json AS BLOB)), 0)",
  };
  return Object.entries(sums).flatMap(([table, sum]) =>
    db.exec(`SELECT ${sum} AS bytes FROM ${table}`).map(({ bytes }) => ({ bytes: Number(bytes) })),
  );
}
