/**
 * Event cursors: `<generation>.<seq>`. The generation is random per conversation, so a cursor of another conversation,
 * or of one restored from a backup, is recognised instead of silently read as a position.
 */
import * as z from "zod";

export const Generation = z.string().regex(/^[a-z0-9]{8}$/);
export const Cursor = z.string().regex(/^[a-z0-9]{8}\.(0|[1-9][0-9]{0,14})$/);

export interface Position {
  readonly generation: string;
  readonly seq: number;
}

export const cursorOf = (generation: string, seq: number): string => `${generation}.${seq}`;

/** null for a malformed cursor: the caller answers `cursor_invalid`. */
export function parseCursor(text: string): Position | null {
  if (!Cursor.safeParse(text).success) return null;
  const [generation = "", seq = "0"] = text.split(".");
  return { generation, seq: Number(seq) };
}
