/** The search index: one document per message and one for the title, readable by the participants as they are now. */
import { indexed, READER_SQL } from "./search-tokens.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject } from "./statement.ts";

const TITLE = 0;

const READERS = `coalesce((SELECT group_concat(${READER_SQL}, ' ') FROM participants p
  WHERE p.tenant_id = ?1 AND p.conversation_id = ?2 AND p.generation = ?3), '')`;

// The number counts over all tenants: it only joins a document of the index with its row, and tells nothing.
const NUMBER = `INSERT INTO search_docs (tenant_id, conversation_id, generation, n, doc)
  SELECT ?1, ?2, ?3, ?5, coalesce((SELECT max(doc) FROM search_docs), 0) + 1 WHERE ${GUARD} ON CONFLICT DO NOTHING`;
const INDEX = `INSERT OR REPLACE INTO search (rowid, readers, words, singles)
  SELECT d.doc, ${READERS}, ?6, ?7 FROM search_docs d
  WHERE d.tenant_id = ?1 AND d.conversation_id = ?2 AND d.generation = ?3 AND d.n = ?5 AND ${GUARD}`;
const UNTITLED = `EXISTS (SELECT 1 FROM conversations WHERE ${OF_CONVERSATION} AND title IS NULL)`;
const UNINDEX = `INSERT OR REPLACE INTO search (rowid, readers, words, singles)
  SELECT d.doc, '', '', '' FROM search_docs d
  WHERE d.tenant_id = ?1 AND d.conversation_id = ?2 AND d.generation = ?3 AND d.n = ?5 AND ${GUARD}`;
const READMIT = `UPDATE search SET readers = ${READERS} WHERE rowid IN
  (SELECT doc FROM search_docs WHERE ${OF_CONVERSATION}) AND ${GUARD}`;

export const indexMessage = (subject: Subject, seq: number, text: string): Statement[] =>
  document(subject, seq, seq, text, "");

export function indexTitle(subject: Subject, seq: number, title: string): Statement[] {
  const statements = document(subject, seq, TITLE, title, "");
  return statements.length > 0 ? statements : [guarded(subject, seq, UNINDEX, TITLE)];
}

/** Comes before the statement that gives the title. */
export const indexDefaultTitle = (subject: Subject, seq: number, title: string): Statement[] =>
  document(subject, seq, TITLE, title, ` AND ${UNTITLED}`);

/** After every change of who participates. */
export const readmit = (subject: Subject, seq: number): Statement => guarded(subject, seq, READMIT);

function document(subject: Subject, seq: number, n: number, text: string, condition: string): Statement[] {
  const found = indexed(text);
  if (!found) return [];
  return [
    guarded(subject, seq, NUMBER, n),
    guarded(subject, seq, `${INDEX}${condition}`, n, found.words, found.singles),
  ];
}
