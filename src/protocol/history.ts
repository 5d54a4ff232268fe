/** What is read from the history: rows may lag behind the actor, and say up to which event they are. */
import * as z from "zod";
import { HandoverState } from "./conversation.ts";
import { Generation } from "./cursor.ts";
import { ConversationId, RunId } from "./ids.ts";
import { By } from "./principal.ts";
import { Role } from "./roles.ts";
import { Phase, RunStatus } from "./run.ts";
import { ToolCall } from "./tool-call.ts";

/** Every event up to `asOfSeq` of that generation is in the row. */
const AsOf = { asOfSeq: z.int().nonnegative(), generation: Generation };

export const ConversationSummary = z.object({
  id: ConversationId,
  agent: z.string(),
  title: z.string(),
  role: Role,
  createdAt: z.string(),
  updatedAt: z.string(),
  archived: z.boolean(),
  ...AsOf,
  activeRun: z.object({ id: RunId, status: RunStatus, phase: Phase.optional() }).nullable(),
  needsConfirmation: z.boolean(),
  handover: z.object({ state: HandoverState }),
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;

/** A call that waits for a decision, or for word of what became of it; where it stands, and since when. */
export const InboxItem = ToolCall.extend({
  conversationId: ConversationId,
  conversationTitle: z.string(),
  agent: z.string(),
  startedBy: By,
  kind: z.enum(["decision", "resolution"]),
  openedAt: z.string(),
  /** Approvals still missing, of a decision. */
  remaining: z.int().optional(),
  ...AsOf,
});
export type InboxItem = z.infer<typeof InboxItem>;
