/** What people read: kept apart from what happened inside (steps, calls, arguments). */
import * as z from "zod";
import { AttachmentId, MessageId, RunId } from "./ids.ts";
import { By } from "./principal.ts";

export const TextPart = z.object({
  type: z.literal("text"),
  text: z.string(),
  /** Present when `text` is an excerpt: `GET …/messages` has the whole. */
  excerptOf: z.object({ digest: z.string(), bytes: z.int() }).optional(),
});
export const FilePart = z.object({
  type: z.enum(["image", "file"]),
  attachmentId: AttachmentId,
  mediaType: z.string(),
  bytes: z.int(),
  alt: z.string().optional(),
});
export const ReasoningPart = z.object({ type: z.literal("reasoning"), text: z.string().optional() });
/** One of our own sentences: stored as code and parameters, rendered in the reader's language. */
export const NoticePart = z.object({
  type: z.literal("notice"),
  code: z.string(),
  params: z.record(z.string(), z.union([z.string(), z.number()])),
  /** The sentence, rendered for this answer; never stored. */
  text: z.string().optional(),
});
export const MessagePart = z.union([TextPart, FilePart, ReasoningPart, NoticePart]);
export type MessagePart = z.infer<typeof MessagePart>;

export const MessageStatus = z.enum(["complete", "incomplete", "superseded"]);
export const Message = z.object({
  id: MessageId,
  runId: RunId.optional(),
  role: z.enum(["user", "assistant", "operator"]),
  by: By,
  parts: z.array(MessagePart),
  status: MessageStatus,
  seq: z.int(),
  createdAt: z.string(),
});
export type Message = z.infer<typeof Message>;
