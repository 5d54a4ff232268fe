/**
 * The breaker of each tool of a tenant, over all its runs: so many failures in a row open it for a while; then one
 * failure more opens it again, and one success closes it. Nobody asks before a call while all is well: who has a failure
 * tells it, and is told what holds now.
 */
import * as z from "zod";
import { decodeRow, type Sql } from "../sql/rows.ts";

export interface CircuitRules {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open. */
  readonly openMs: number;
}

export interface Circuit {
  readonly failures: number;
  /** Epoch ms; 0: it is closed. */
  readonly openUntil: number;
  /** This report has opened it. */
  readonly opened: boolean;
}

const Row = z.object({ failures: z.number(), failed_at: z.number(), open_until: z.number() });
/** Failures that are as far apart as this are no row. */
const ROW_MS = 10 * 60_000;

export class Circuits {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  failed(tenantId: string, tool: string, rules: CircuitRules, now: number): Circuit {
    const row = this.#row(tenantId, tool);
    const before = row && now - row.failed_at < Math.max(ROW_MS, rules.openMs) ? row.failures : 0;
    const failures = before + 1;
    const wasOpen = (row?.open_until ?? 0) > now;
    // What was sent before it opened comes in late, and is no news.
    const opens = failures >= rules.failures && !wasOpen;
    const openUntil = opens ? now + rules.openMs : wasOpen ? (row?.open_until ?? 0) : 0;
    this.#sql.exec(
      `INSERT INTO circuits (tenant_id, tool, failures, failed_at, open_until) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (tenant_id, tool) DO UPDATE SET failures = ?3, failed_at = ?4, open_until = ?5`,
      tenantId,
      tool,
      failures,
      now,
      openUntil,
    );
    return { failures, openUntil, opened: opens };
  }

  worked(tenantId: string, tool: string): void {
    this.#sql.exec("DELETE FROM circuits WHERE tenant_id = ? AND tool = ?", tenantId, tool);
  }

  #row(tenantId: string, tool: string): z.infer<typeof Row> | null {
    const rows = this.#sql.exec(
      "SELECT failures, failed_at, open_until FROM circuits WHERE tenant_id = ? AND tool = ?",
      tenantId,
      tool,
    );
    return decodeRow(Row, rows.toArray());
  }
}
