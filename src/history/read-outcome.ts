/**
 * What a read of the history may come to, as values: nothing there has three meanings, and they are never mixed up. A
 * failing database throws; the edge answers `history_unavailable`.
 */
import type { HistoryDatabase } from "./statement.ts";

/** The history of one tenant: there is no read without it. Made by `historyFor`. */
export interface TenantHistory {
  readonly tenantId: string;
  readonly db: HistoryDatabase;
}

/** Who reads. Conversations, search and messages go by the user; the inbox by roles and scopes of the sign-in too. */
export interface ReadScope {
  readonly userId: string;
}

/** `never_written` is also the answer for what is not the reader's. `lost`: it was there, and nobody erased it. */
export type Read<T> =
  | { readonly kind: "found"; readonly value: T }
  | { readonly kind: "never_written" | "not_yet" | "lost" };

/** Where a conversation's own log stands, as its actor says: without it, what is missing was never written. */
export interface Known {
  readonly generation: string;
  readonly headSeq: number;
  /** What the history has acknowledged. */
  readonly projectedSeq: number;
}

export interface Stands {
  readonly generation: string;
  readonly seq: number;
}

/** @param stands the row that was found for this reader; null: none */
export function judge(stands: Stands | null, known: Known | undefined): Read<Stands>["kind"] {
  if (!known) return stands ? "found" : "never_written";
  if (!stands) return known.projectedSeq > 0 ? "lost" : known.headSeq > 0 ? "not_yet" : "never_written";
  // Less than it acknowledged: a history restored from a backup, until the log is brought again.
  return stands.generation !== known.generation || stands.seq < known.projectedSeq ? "lost" : "found";
}

/** Part of a list, and where the next part begins; null: this was the last. */
export interface ListPage<T, P> {
  readonly data: readonly T[];
  readonly next: P | null;
}

/** @param rows one more than the limit where there is more */
export function pageOf<T, P>(rows: readonly T[], limit: number, placeOf: (row: T) => P): ListPage<T, P> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, next: rows.length > limit && last !== undefined ? placeOf(last) : null };
}
