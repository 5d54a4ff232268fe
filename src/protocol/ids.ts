/**
 * Ids route themselves: a run, call or message id begins with its conversation's id, so an edge that holds one knows
 * which actor to ask. Conversation: 128 random bits in 26 characters of Crockford base32.
 */
import * as z from "zod";

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const CONVERSATION = "[0-7][0-9a-hjkmnp-tv-z]{25}";

export const ConversationId = z.string().regex(new RegExp(`^${CONVERSATION}$`));
export const RunId = z.string().regex(new RegExp(`^${CONVERSATION}\\.r[1-9][0-9]{0,8}$`));
export const ToolCallId = z.string().regex(new RegExp(`^${CONVERSATION}\\.r[1-9][0-9]{0,8}\\.t[1-9][0-9]{0,8}$`));
export const MessageId = z.string().regex(new RegExp(`^${CONVERSATION}\\.m[1-9][0-9]{0,8}$`));
export const AttachmentId = z.string().regex(new RegExp(`^${CONVERSATION}\\.a[1-9][0-9]{0,8}$`));
export const UserId = z.string().min(1).max(255);
export const TenantId = z.string().min(1).max(255);
export const Digest = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** @param bytes 16 random bytes */
export function conversationIdOf(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let id = "";
  for (let place = 0; place < 26; place++) {
    id = (CROCKFORD[Number(value & 31n)] ?? "0") + id;
    value >>= 5n;
  }
  return id;
}

export const runIdOf = (conversationId: string, n: number): string => `${conversationId}.r${n}`;
export const toolCallIdOf = (runId: string, n: number): string => `${runId}.t${n}`;
export const messageIdOf = (conversationId: string, n: number): string => `${conversationId}.m${n}`;

export const conversationOf = (id: string): string => id.slice(0, 26);
export const runOf = (toolCallId: string): string => toolCallId.slice(0, toolCallId.lastIndexOf("."));
/** The number at the end of a run, call or message id; 0 for an id without one. */
export function numberOf(id: string): number {
  const found = /\.[rtma]([0-9]+)$/.exec(id);
  return found ? Number(found[1]) : 0;
}

/**
 * The id that the model sees: `c`, four base-36 digits of the run, four of the call. Mistral takes exactly nine
 * alphanumerics, OpenAI at most 40 characters; both numbers wrap at 36^4, far beyond one transcript.
 */
export function modelCallIdOf(toolCallId: string): string {
  const digits = (n: number) => (n % 1_679_616).toString(36).padStart(4, "0");
  return `c${digits(numberOf(runOf(toolCallId)))}${digits(numberOf(toolCallId))}`;
}

const WRITABLE = /^[\x21-\x7e]+$/;
export const IdempotencyKey = z.string().min(1).max(255).regex(WRITABLE);
