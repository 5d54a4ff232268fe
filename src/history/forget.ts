/** What the history has of one conversation, taken away; what an erasure left behind stays, and keeps it away. */
import type { Statement, Subject } from "./statement.ts";
import { CONVERSATION_TABLES } from "./tables.ts";

const SQL = [
  `DELETE FROM search WHERE rowid IN (SELECT doc FROM search_docs WHERE tenant_id = ?1 AND conversation_id = ?2)`,
  ...CONVERSATION_TABLES.map((table) => `DELETE FROM ${table} WHERE tenant_id = ?1 AND conversation_id = ?2`),
];

/** To be brought again from the first event, in the same order of things that any batch has. */
export const forgotten = ({ tenantId, conversationId }: Subject): Statement[] =>
  SQL.map((sql) => ({ sql, params: [tenantId, conversationId] }));
