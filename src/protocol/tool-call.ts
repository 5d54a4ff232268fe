/** A call that the model proposed, as people see it. */
import * as z from "zod";
import { By } from "./principal.ts";
import { RunId, ToolCallId } from "./ids.ts";
import { ToolResult } from "./tool-result.ts";

export const CallStateName = z.enum([
  "proposed",
  "refused",
  "awaiting_confirmation",
  "approved",
  "rejected",
  "expired",
  "executing",
  "succeeded",
  "failed",
  "unknown",
  "cancelled",
]);
export type CallStateName = z.infer<typeof CallStateName>;

export const EffectClass = z.enum(["read", "idempotent", "probeable", "once"]);
export type EffectClass = z.infer<typeof EffectClass>;

export const PreviewRow = z.object({
  label: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
  value: z.string().optional(),
});
/** What will happen, as the server worked it out from the stored arguments. */
export const Preview = z.object({
  rows: z.array(PreviewRow).max(64),
  reversible: z.boolean().optional(),
  costMicroUsd: z.int().optional(),
});
export type Preview = z.infer<typeof Preview>;

export const DecisionKind = z.enum(["approve", "edit", "reject"]);
export const DecisionRecord = z.object({
  decision: DecisionKind,
  by: By,
  at: z.string(),
  argsDigest: z.string(),
  reason: z.string().optional(),
  /** An approval that a later edit made worthless. */
  voided: z.boolean().optional(),
});
export type DecisionRecord = z.infer<typeof DecisionRecord>;

export const ResolutionKind = z.enum(["happened", "did_not_happen", "give_up"]);
export type ResolutionKind = z.infer<typeof ResolutionKind>;
export const Resolution = z.object({ outcome: ResolutionKind, by: By, at: z.string() });
export type Resolution = z.infer<typeof Resolution>;

export const ToolCall = z.object({
  id: ToolCallId,
  runId: RunId,
  tool: z.string(),
  title: z.string(),
  args: z.unknown(),
  argsDigest: z.string(),
  effect: EffectClass,
  state: CallStateName,
  attempt: z.int().nonnegative(),
  preview: Preview.optional(),
  expiresAt: z.string().optional(),
  decisions: z.array(DecisionRecord),
  resolution: Resolution.optional(),
  allowed: z.array(DecisionKind),
  result: ToolResult.optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** A waiting call by reference: events stay small, the whole stands in `confirmation.requested` and the snapshot. */
export const PendingCall = ToolCall.pick({
  id: true,
  runId: true,
  tool: true,
  title: true,
  argsDigest: true,
  effect: true,
  state: true,
  attempt: true,
  expiresAt: true,
  allowed: true,
});
export type PendingCall = z.infer<typeof PendingCall>;

export const SideEffect = z.object({
  toolCallId: ToolCallId,
  tool: z.string(),
  state: CallStateName,
  reversible: z.boolean(),
  undo: z.string().optional(),
});
export type SideEffect = z.infer<typeof SideEffect>;
