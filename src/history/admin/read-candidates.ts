/**
 * Which conversations the history names, over all tenants: for a platform's administrator who brings it back, with a
 * reason. Names ids and nothing else.
 */
import { textIn } from "../row.ts";
import { prepared, type HistoryDatabase } from "../statement.ts";

/** Who crosses tenants, and why. */
export interface Crossing {
  readonly operator: string;
  readonly reason: string;
}

export interface Candidate {
  readonly tenantId: string;
  readonly conversationId: string;
}

export interface CandidatesQuery extends Crossing {
  /** The last of the page before; absent: from the first. */
  readonly after?: Candidate;
  readonly limit: number;
}

const CANDIDATES = `SELECT tenant_id, conversation_id FROM conversations WHERE (tenant_id, conversation_id) > (?1, ?2)
  ORDER BY tenant_id, conversation_id LIMIT ?3`;

/** In ascending order. */
export async function readCandidates(db: HistoryDatabase, { after, limit }: CandidatesQuery): Promise<Candidate[]> {
  const params = [after?.tenantId ?? "", after?.conversationId ?? "", limit];
  const { results } = await prepared(db, { sql: CANDIDATES, params }).all();
  return results.map((row) => ({
    tenantId: textIn(row, "tenant_id"),
    conversationId: textIn(row, "conversation_id"),
  }));
}
