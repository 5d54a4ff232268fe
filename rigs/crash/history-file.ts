/** The rows of a conversation from D1's own file: evidence that does not go through the service. */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CONVERSATION_TABLES } from "../../src/history/tables.ts";

const TABLES = [...CONVERSATION_TABLES.filter((table) => table !== "search_docs"), "tombstones"] as const;

export type Rows = Record<string, Record<string, unknown>[]>;

/**
 * Reads a copy: opening the file itself would recover its log, which is the service's to do.
 * @returns null while there is no history yet
 */
export function withHistory<T>(dataDir: string, read: (history: HistoryFile) => T): T | null {
  const folder = join(dataDir, "d1/miniflare-D1DatabaseObject");
  if (!existsSync(folder)) return null;
  const copies = mkdtempSync(join(tmpdir(), "holdpoint-d1-"));
  try {
    for (const name of readdirSync(folder)) {
      if (!/^[0-9a-f]{64}\.sqlite$/.test(name)) continue;
      copyFileSync(join(folder, name), join(copies, name));
      const log = join(folder, `${name}-wal`);
      if (existsSync(log)) copyFileSync(log, join(copies, `${name}-wal`));
      const db = new DatabaseSync(join(copies, name));
      try {
        const found = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tool_calls'").get();
        if (found) return read(new HistoryFile(db));
      } finally {
        db.close();
      }
    }
    return null;
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

export class HistoryFile {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Up to which event the history has a conversation; 0: it does not know it. */
  seq(conversationId: string): number {
    const row = this.#db.prepare("SELECT seq FROM conversations WHERE conversation_id = ?").get(conversationId);
    return Number(row?.["seq"] ?? 0);
  }

  rows(conversationId: string): Rows {
    return Object.fromEntries(
      TABLES.map((table) => [
        table,
        this.#db.prepare(`SELECT * FROM ${table} WHERE conversation_id = ?`).all(conversationId),
      ]),
    );
  }
}
