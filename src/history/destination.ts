/**
 * Where the outbox brings things: one transaction of statements, answered with where the history stands afterwards. It
 * does not judge failures; it throws what the database threw.
 */
import { prepared, type HistoryDatabase, type Statement, type Subject } from "./statement.ts";

/** `superseded`: the row is another generation's. `missing`: there is no row, and no tombstone that explains it. */
export type Landed =
  | { readonly kind: "at"; readonly seq: number }
  | { readonly kind: "erased" | "superseded" | "missing" };

export interface Destination {
  write(subject: Subject, statements: readonly Statement[]): Promise<Landed>;
  /** Writes nothing new, but as a write: rejects while the database takes none. */
  probe(subject: Subject): Promise<void>;
}

const STANDS = `SELECT generation, seq FROM conversations WHERE tenant_id = ?1 AND conversation_id = ?2
  UNION ALL SELECT generation, -1 FROM tombstones WHERE tenant_id = ?1 AND conversation_id = ?2`;
const PROBE = "UPDATE conversations SET seq = seq WHERE tenant_id = ?1 AND conversation_id = ?2";

export function d1Destination(db: HistoryDatabase): Destination {
  return {
    async write(subject, statements) {
      const stands: Statement = { sql: STANDS, params: [subject.tenantId, subject.conversationId] };
      const results = await db.batch([...statements, stands].map((statement) => prepared(db, statement)));
      return landed(subject, results.at(-1)?.results ?? []);
    },
    async probe({ tenantId, conversationId }) {
      await db.batch([prepared(db, { sql: PROBE, params: [tenantId, conversationId] })]);
    },
  };
}

function landed({ generation }: Subject, rows: readonly Record<string, unknown>[]): Landed {
  if (rows.some((row) => row["seq"] === -1)) return { kind: "erased" };
  const [row] = rows;
  if (!row) return { kind: "missing" };
  return row["generation"] === generation ? { kind: "at", seq: Number(row["seq"]) } : { kind: "superseded" };
}
