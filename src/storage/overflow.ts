/**
 * Texts that may be longer than a row should be: a run's view, a cause, a payload. Up to the bound they stand in their
 * own row; beyond it their column is NULL and the text stands in pieces under a reference. Keeps every row under 1 MB.
 */
import { cutText } from "../protocol/text.ts";
import { textIn, type SqlDatabase } from "./sql-database.ts";
import { StorageLostError } from "./storage-lost.ts";

/** UTF-16 units: at most 768 KiB of UTF-8. */
export const PIECE_CHARS = 256 * 1024;

const PUT = "INSERT INTO overflow (ref, piece, body) VALUES (?, ?, ?)";
const GET = "SELECT body FROM overflow WHERE ref = ? ORDER BY piece";
const DROP = "DELETE FROM overflow WHERE ref = ?";

export type Ref = `${"cause" | "payload" | "receipt" | "run"}:${string}` | "snapshot" | "checkpoint";

/** What goes into the row's own column: the text, or null once its pieces are stored. Replaces what `ref` had. */
export function spill(db: SqlDatabase, ref: Ref, text: string, inlineChars = PIECE_CHARS): string | null {
  db.exec(DROP, ref);
  return spillNew(db, ref, text, inlineChars);
}

/** The same for a `ref` that has no pieces yet: it saves looking for them. */
export function spillNew(db: SqlDatabase, ref: Ref, text: string, inlineChars = PIECE_CHARS): string | null {
  if (text.length <= inlineChars) return text;
  for (let piece = 0, rest = text; rest !== ""; piece++) {
    // A piece that began or ended in half a surrogate pair would come back as U+FFFD.
    const body = cutText(rest, PIECE_CHARS);
    db.exec(PUT, ref, piece, body);
    rest = rest.slice(body.length);
  }
  return null;
}

/** The inverse: the column's text, or its pieces. */
export function gather(db: SqlDatabase, ref: Ref, inline: string | null): string {
  if (inline !== null) return inline;
  const pieces = db.exec(GET, ref);
  if (pieces.length === 0) throw new StorageLostError(`the pieces of ${ref} are gone`);
  return pieces.map((row) => textIn(row, "body")).join("");
}

export const dropPieces = (db: SqlDatabase, ref: Ref): void => void db.exec(DROP, ref);
