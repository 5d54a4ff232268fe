/**
 * D1 takes no writes for a while: another process (this one) holds the lock on its file, so that every write is refused
 * as a database's own failure. Nothing in the service knows of it.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** For a write that is under way; this waits in the rig's only thread. */
const WAIT_MS = 200;

export class HistoryOutage {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @throws where there is no history yet */
  static open(dataDir: string): HistoryOutage {
    const folder = join(dataDir, "d1/miniflare-D1DatabaseObject");
    for (const name of readdirSync(folder)) {
      if (!/^[0-9a-f]{64}\.sqlite$/.test(name)) continue;
      const db = new DatabaseSync(join(folder, name), { timeout: WAIT_MS });
      if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tool_calls'").get()) return new HistoryOutage(db);
      db.close();
    }
    throw new Error("there is no history yet");
  }

  /** @throws where the lock cannot be had just now */
  begin(): void {
    this.#db.exec("BEGIN IMMEDIATE");
  }

  end(): void {
    this.#db.exec("ROLLBACK");
  }

  close(): void {
    this.#db.close();
  }
}
