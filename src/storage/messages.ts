/** What people read: the `message.*` events of the log as pages of messages, with their whole text. */
import type { Page } from "../protocol/rpc.ts";
import type { Message, MessagePart } from "../protocol/message.ts";
import { EVENT_COLUMNS, storedEvent } from "./stored-event.ts";
import { numberIn, type SqlDatabase } from "./sql-database.ts";
import { StorageLostError } from "./storage-lost.ts";

// The literal list, as in the partial index: otherwise a page would read the whole log.
const MESSAGES = "type IN ('message.created', 'message.completed')";
const ASCENDING = `SELECT ${EVENT_COLUMNS} FROM events WHERE ${MESSAGES} AND seq > ? ORDER BY seq LIMIT ?`;
const DESCENDING = `SELECT ${EVENT_COLUMNS} FROM events WHERE ${MESSAGES} AND seq < ? ORDER BY seq DESC LIMIT ?`;

const BATCH = 16;
/** UTF-16 units of text in one page: far under the 32 MiB of an RPC answer, whatever the messages are. */
const PAGE_CHARS = 4 * 1024 * 1024;

export interface MessageQuery {
  /** The last seen message's `seq`; 0: from the beginning of the order. */
  readonly after: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** `nextCursor` is the `after` of the next page. */
export function readMessages(
  db: SqlDatabase,
  conversationId: string,
  query: MessageQuery,
  payload: (digest: string) => string | null,
): Page<Message> {
  const ascending = query.order === "asc";
  const data: Message[] = [];
  let from = ascending || query.after > 0 ? query.after : Number.MAX_SAFE_INTEGER;
  let chars = 0;
  for (;;) {
    const rows = db.exec(ascending ? ASCENDING : DESCENDING, from, BATCH);
    for (const row of rows) {
      const last = data.at(-1);
      if (data.length === query.limit || (last && chars > PAGE_CHARS)) return { data, nextCursor: String(from) };
      const { event } = storedEvent(row, conversationId);
      if (event.type !== "message.created" && event.type !== "message.completed") continue;
      const message = whole(event.data.message, payload);
      chars += message.parts.reduce((sum, part) => sum + charsOf(part), 0);
      data.push(message);
      from = numberIn(row, "seq");
    }
    if (rows.length < BATCH) return { data, nextCursor: null };
  }
}

const charsOf = (part: MessagePart): number => ("text" in part ? (part.text?.length ?? 0) : 0);

function whole(message: Message, payload: (digest: string) => string | null): Message {
  return { ...message, parts: message.parts.map((part) => wholePart(part, payload)) };
}

function wholePart(part: MessagePart, payload: (digest: string) => string | null): MessagePart {
  if (part.type !== "text" || part.excerptOf === undefined) return part;
  const text = payload(part.excerptOf.digest);
  if (text === null) throw new StorageLostError(`the text ${part.excerptOf.digest} is gone`);
  return { type: "text", text };
}
