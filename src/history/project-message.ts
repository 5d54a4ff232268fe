/** What people read, as statements: the message with its whole text, and its words for the search. */
import type { EventOf } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import type { Message, MessagePart } from "../protocol/message.ts";
import { utf8Bytes } from "../protocol/text.ts";
import { epochOf } from "../protocol/time.ts";
import { indexMessage } from "./project-search.ts";
import { guarded, GUARD, type Statement, type Subject } from "./statement.ts";

/** A row of D1 holds 2,000,000 bytes. A longer text stays the excerpt that the event has, and says so. */
const PARTS_BYTES = 1_800_000;

const WRITE = `INSERT INTO messages (tenant_id, conversation_id, generation, seq, message_n, run_n, role, by_kind, by_id,
    parts_json, status, created_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 WHERE ${GUARD} ON CONFLICT DO NOTHING`;

export function said(
  subject: Subject,
  { seq, data }: EventOf<"message.created" | "message.completed">,
  payload: (digest: string) => string | null,
): Statement[] {
  const { message } = data;
  const parts = message.parts.map((part) => whole(part, payload));
  const json = JSON.stringify(parts);
  const write = guarded(
    subject,
    seq,
    WRITE,
    numberOf(message.id),
    message.runId === undefined ? null : numberOf(message.runId),
    message.role,
    message.by.kind,
    message.by.id ?? null,
    utf8Bytes(json) <= PARTS_BYTES ? json : JSON.stringify(message.parts),
    message.status,
    epochOf(message.createdAt),
  );
  return [write, ...indexMessage(subject, seq, textOf({ ...message, parts }))];
}

const textOf = (message: Message): string =>
  message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

function whole(part: MessagePart, payload: (digest: string) => string | null): MessagePart {
  if (part.type !== "text" || part.excerptOf === undefined) return part;
  const text = payload(part.excerptOf.digest);
  return text === null ? part : { type: "text", text };
}
