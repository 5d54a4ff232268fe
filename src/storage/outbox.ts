/**
 * The outbox is a cursor over the log and the rows set aside (`parked`); there is no second copy of an event. It never
 * decides anything about a run (**I9**).
 */
import type { OutboxJournal } from "../actor/ports.ts";
import { cutText } from "../protocol/text.ts";
import { LIMITS } from "../protocol/limits.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { numberIn, textIn, type SqlDatabase } from "./sql-database.ts";

export type { OutboxJournal };

const PARK = `INSERT INTO parked (seq, reason, attempts) VALUES (?, ?, 1)
  ON CONFLICT (seq) DO UPDATE SET reason = excluded.reason, attempts = attempts + 1`;
const UNPARK = "DELETE FROM parked WHERE seq = ?";
const PARKED = "SELECT seq, reason, attempts FROM parked ORDER BY seq LIMIT 1000";

export const projectedSeq = (db: SqlDatabase): number => Number(readMeta(db, "projected_seq") ?? 0);

export const markProjected = (db: SqlDatabase, seq: number): void => writeMeta(db, "projected_seq", String(seq));

export function park(db: SqlDatabase, seq: number, reason: string): void {
  db.exec(PARK, seq, cutText(reason, LIMITS.reasonChars));
}

export const unpark = (db: SqlDatabase, seq: number): void => void db.exec(UNPARK, seq);

export function parked(db: SqlDatabase): { seq: number; reason: string; attempts: number }[] {
  return db
    .exec(PARKED)
    .map((row) => ({ seq: numberIn(row, "seq"), reason: textIn(row, "reason"), attempts: numberIn(row, "attempts") }));
}
