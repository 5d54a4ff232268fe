/** An actor's SQL in plain Node. */
import type { DatabaseSync } from "node:sqlite";
import type { Sql } from "../../src/sql/rows.ts";

export const nodeSql = (db: DatabaseSync): Sql => ({
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
});
