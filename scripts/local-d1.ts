/** Reads the local D1's file itself: evidence that does not go through the service that is being checked. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface HistoryRows {
  readonly asOfSeq: number;
  readonly messages: readonly { readonly id: string; readonly seq: number; readonly parts: unknown }[];
}

export function historyRows(stateDir: string, conversationId: string): HistoryRows | null {
  for (const file of sqliteFiles(stateDir)) {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const found = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'messages'").get();
      if (!found) continue;
      const head = db.prepare("SELECT seq FROM conversations WHERE conversation_id = ?").get(conversationId);
      if (!head) return null;
      const rows = db
        .prepare("SELECT message_n, seq, parts_json FROM messages WHERE conversation_id = ? ORDER BY seq")
        .all(conversationId);
      return {
        asOfSeq: Number(head["seq"]),
        messages: rows.map((row) => ({
          id: `${conversationId}.m${String(row["message_n"])}`,
          seq: Number(row["seq"]),
          parts: JSON.parse(String(row["parts_json"])),
        })),
      };
    } finally {
      db.close();
    }
  }
  return null;
}

const sqliteFiles = (stateDir: string): string[] =>
  readdirSync(stateDir, { recursive: true, encoding: "utf8" })
    .filter((file) => file.includes("d1") && file.endsWith(".sqlite"))
    .map((file) => join(stateDir, file));
