/** Rows of either database, typed where they enter: what a column holds is checked, not believed. */

/** The synchronous SQL of an actor; of `node:sqlite` in tests. `exec` without parameters takes several statements. */
export interface Sql {
  exec(sql: string, ...params: SqlValue[]): { toArray(): Record<string, unknown>[] };
}
export type SqlValue = string | number | null | ArrayBuffer;

/** A zod schema, as far as rows need one. */
export interface RowSchema<T> {
  parse(row: unknown): T;
}

export const decodeRows = <T>(schema: RowSchema<T>, rows: readonly unknown[]): T[] =>
  rows.map((row) => schema.parse(row));

/** The first row, or null where there is none. */
export const decodeRow = <T>(schema: RowSchema<T>, rows: readonly unknown[]): T | null =>
  rows.length === 0 ? null : schema.parse(rows[0]);
