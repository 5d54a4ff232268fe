/** An object's SQLite, in memory. */
import { DatabaseSync } from "node:sqlite";
import type { Sql } from "../../src/sql/rows.ts";

export function memorySql(): Sql & { readonly tables: () => string[] } {
  const db = new DatabaseSync(":memory:");
  return {
    exec: (text, ...params) => {
      if (params.length === 0 && text.includes(";")) {
        db.exec(text);
        return { toArray: () => [] };
      }
      const bound = params.map((param) => (param instanceof ArrayBuffer ? new Uint8Array(param) : param));
      // SQLite numbers its parameters; node:sqlite binds them by position, which is the same for `?` and `?1`.
      const rows = db.prepare(text).all(...bound);
      return { toArray: () => rows };
    },
    tables: () =>
      db
        .prepare("SELECT name FROM sqlite_master")
        .all()
        .map((row) => String(row["name"])),
  };
}
