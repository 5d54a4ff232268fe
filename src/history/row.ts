/** Columns of a row, typed where they enter; a column of another type is a bug in a statement, and throws. */
import { isoOf } from "../protocol/time.ts";

export type Row = Record<string, unknown>;

export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`${column} holds no text`);
  return value;
}

export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`${column} holds no number`);
  return value;
}

const or = <T>(read: (row: Row, column: string) => T, row: Row, column: string): T | null =>
  row[column] === null || row[column] === undefined ? null : read(row, column);

export const textOrNull = (row: Row, column: string): string | null => or(textIn, row, column);
export const numberOrNull = (row: Row, column: string): number | null => or(numberIn, row, column);
export const flagIn = (row: Row, column: string): boolean => numberIn(row, column) !== 0;
export const timeIn = (row: Row, column: string): string => isoOf(numberIn(row, column));

/** A member that is absent where the column is NULL. */
export function optional<K extends string, T>(key: K, value: T | null): { [P in K]?: T } {
  return (value === null ? {} : { [key]: value }) as { [P in K]?: T };
}

/** JSON that the projection wrote from a validated event. */
export const jsonIn = <T>(row: Row, column: string): T => JSON.parse(textIn(row, column)) as T;
export const jsonOrNull = <T>(row: Row, column: string): T | null => or(jsonIn<T>, row, column);
