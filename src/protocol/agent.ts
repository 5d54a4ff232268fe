/** An agent as the API shows it. */
import * as z from "zod";
import { LimitName } from "./run.ts";
import { EffectClass } from "./tool-call.ts";

export const ToolDescription = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown(),
  effect: EffectClass,
  scope: z.string().optional(),
  confirm: z.enum(["never", "always", "depends"]),
  quorum: z.int().optional(),
  selfApproval: z.boolean().optional(),
  approvers: z.array(z.string()).optional(),
});
export type ToolDescription = z.infer<typeof ToolDescription>;
export const AgentDescription = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  digest: z.string(),
  tools: z.array(ToolDescription),
  limits: z.record(LimitName, z.number()),
});
export type AgentDescription = z.infer<typeof AgentDescription>;
