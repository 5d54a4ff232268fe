/** What the server says on a WebSocket, and how a socket closes. Deltas and partials are previews, never a source. */
import * as z from "zod";
import { Conversation } from "./conversation.ts";
import { EventEnvelope } from "./events.ts";
import { MessageId } from "./ids.ts";
import { Problem } from "./problems.ts";

const Preview = { messageId: MessageId, attempt: z.int().positive(), part: z.int().nonnegative(), text: z.string() };

/** Append only where `offset` (UTF-16 units) equals the length that you have; each attempt starts at 0. */
export const Delta = z.object({ type: z.literal("delta"), ...Preview, offset: z.int().nonnegative() });
export type Delta = z.infer<typeof Delta>;

export const ServerFrame = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("welcome"),
    protocol: z.string(),
    conversation: Conversation,
    headCursor: z.string(),
    serverTime: z.string(),
  }),
  z.object({ type: z.literal("events"), events: z.array(EventEnvelope), cursor: z.string() }),
  z.object({
    type: z.literal("reset"),
    snapshot: Conversation,
    reason: z.enum(["too_far_behind", "ahead_of_head", "other_generation"]),
    headCursor: z.string(),
  }),
  /** The text of a message in progress so far; replaces what the client has of that attempt. */
  z.object({ type: z.literal("partial"), ...Preview }),
  z.object({ type: z.literal("event"), cursor: z.string(), event: EventEnvelope }),
  Delta,
  z.object({ type: z.literal("ack"), id: z.string(), result: z.unknown(), replayed: z.boolean().optional() }),
  z.object({ type: z.literal("problem"), id: z.string().optional(), problem: Problem }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

export const CLOSE = {
  done: 1000,
  policy: 1008,
  too_big: 1009,
  internal: 1011,
  restart: 1012,
  slow: 1013,
  token_expired: 3000,
  forbidden: 3003,
  erased: 4410,
} as const;
export type CloseName = keyof typeof CLOSE;
