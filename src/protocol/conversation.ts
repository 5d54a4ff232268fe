/** A conversation's snapshot: what a client needs to draw the screen before the first live event. */
import * as z from "zod";
import { ConversationId } from "./ids.ts";
import { Role } from "./roles.ts";
import { Run } from "./run.ts";
import { ToolCall } from "./tool-call.ts";

export const HandoverState = z.enum(["none", "requested", "active"]);
export type HandoverState = z.infer<typeof HandoverState>;

export const Conversation = z.object({
  id: ConversationId,
  agent: z.string(),
  title: z.string(),
  role: Role,
  metadata: z.record(z.string(), z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  archived: z.boolean(),
  headCursor: z.string(),
  activeRun: Run.nullable(),
  queued: z.array(Run),
  needsConfirmation: z.boolean(),
  pending: z.array(ToolCall),
  handover: z.object({ state: HandoverState, operator: z.string().optional() }),
  participants: z.array(z.object({ userId: z.string(), role: Role })),
});
export type Conversation = z.infer<typeof Conversation>;
