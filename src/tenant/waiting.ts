/** The conversations' objects whose run waits for this budget, oldest first. Each is told once, and asks again itself. */
import type { Sql } from "../sql/rows.ts";

export class Waiting {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(tenantId: string, object: string, now: number): void {
    this.#sql.exec(
      "INSERT INTO waiting (tenant_id, object, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      tenantId,
      object,
      now,
    );
  }

  /** Takes the oldest out of the line. */
  next(tenantId: string, count: number): string[] {
    const rows = this.#sql
      .exec(
        `DELETE FROM waiting WHERE tenant_id = ?1 AND object IN
           (SELECT object FROM waiting WHERE tenant_id = ?1 ORDER BY since, object LIMIT ?2) RETURNING object`,
        tenantId,
        count,
      )
      .toArray();
    return rows.map((row) => String(row["object"]));
  }

  tenants(): string[] {
    const rows = this.#sql.exec("SELECT DISTINCT tenant_id FROM waiting").toArray();
    return rows.map((row) => String(row["tenant_id"]));
  }

  /** A run waits for a day at most. */
  sweep(before: number): void {
    this.#sql.exec("DELETE FROM waiting WHERE since <= ?", before);
  }
}
