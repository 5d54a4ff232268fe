/**
 * The little of SQLite that the journal needs, synchronous: the Durable Object's storage in production, `node:sqlite`
 * in plain Node. Statement texts are constants: both sides keep prepared statements by their text.
 *
 * Must not be handed more than 100 parameters, or a text over 1 MB: production refuses rows over 2 MB, a local workerd
 * only over 4 MiB, so the first failure would be in production.
 */
import type { SqlValue } from "../sql/rows.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface SqlDatabase {
  /** One statement. All rows are read before it returns: an open cursor would see later writes. */
  exec(sql: string, ...params: SqlValue[]): Row[];
  /** All of it, or the exception and nothing of it. Does not nest. */
  transactionSync<T>(run: () => T): T;
}

/** A column that is not what the schema says: the file is not ours, or is damaged. */
function wrong(row: Row, column: string, wanted: string): never {
  throw new TypeError(`column ${column} holds ${typeof row[column]}, not ${wanted}`);
}

export function textIn(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : wrong(row, column, "text");
}
export function textOrNullIn(row: Row, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}
export function numberIn(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : wrong(row, column, "a number");
}
export function numberOrNullIn(row: Row, column: string): number | null {
  return row[column] === null ? null : numberIn(row, column);
}
