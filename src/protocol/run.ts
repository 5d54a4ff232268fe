/** A run, as clients see it: derived from the actor's state, never stored as a status. */
import * as z from "zod";
import { AttachmentId, ConversationId, RunId } from "./ids.ts";
import { LIMITS, RUN_LIMITS } from "./limits.ts";
import { By } from "./principal.ts";
import { Stop } from "./stops.ts";
import { boundedText, utf8Bytes } from "./text.ts";
import { SideEffect, ToolCall } from "./tool-call.ts";

export const RunStatus = z.enum(["queued", "running", "interrupted", "completed", "failed", "cancelled"]);
export type RunStatus = z.infer<typeof RunStatus>;
export const WaitsFor = z.enum(["resolution", "confirmation", "continuation", "budget", "handover"]);
export type WaitsFor = z.infer<typeof WaitsFor>;
export const Phase = z.enum([
  "awaiting_resolution",
  "awaiting_confirmation",
  "awaiting_continuation",
  "awaiting_budget",
  "handed_over",
]);
export type Phase = z.infer<typeof Phase>;

export const LimitName = z.enum(Object.keys(RUN_LIMITS) as [keyof typeof RUN_LIMITS, ...(keyof typeof RUN_LIMITS)[]]);
export type LimitName = z.infer<typeof LimitName>;
export type RunLimits = Record<LimitName, number>;
/** What a caller may set: any subset; a run cannot be given more than its agent allows. */
export const PartialLimits = z.partialRecord(LimitName, z.int().positive().max(1_000_000_000));
export type PartialLimits = z.infer<typeof PartialLimits>;

export const RunInput = z.strictObject({
  text: boundedText(LIMITS.textChars).refine((text) => text.trim().length > 0, { error: "must not be empty" }),
  attachments: z.array(AttachmentId).max(LIMITS.attachmentsPerMessage).optional(),
});
export type RunInput = z.infer<typeof RunInput>;

export const Metadata = z
  .record(z.string().min(1).max(LIMITS.metadataKeyChars), boundedText(LIMITS.metadataValueChars))
  .refine((map) => Object.keys(map).length <= LIMITS.metadataEntries, {
    error: `must have at most ${LIMITS.metadataEntries} entries`,
  })
  .refine((map) => utf8Bytes(JSON.stringify(map)) <= LIMITS.metadataBytes, {
    error: `must be at most ${LIMITS.metadataBytes} bytes as JSON`,
  });
export type Metadata = z.infer<typeof Metadata>;

export const Usage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative().optional(),
  reasoningTokens: z.int().nonnegative().optional(),
  /** Integer micro-dollars; null: the price is not known. */
  costMicroUsd: z.int().nullable(),
  estimated: z.boolean(),
  model: z.string().nullable(),
});
export type Usage = z.infer<typeof Usage>;

export const BlockedBy = z.object({ runId: RunId, phase: Phase.optional() });

export const Run = z.object({
  id: RunId,
  conversationId: ConversationId,
  agent: z.string(),
  agentDigest: z.string(),
  status: RunStatus,
  phase: Phase.optional(),
  waitsFor: z.array(WaitsFor),
  needsConfirmation: z.boolean(),
  position: z.int().positive().optional(),
  blockedBy: BlockedBy.optional(),
  cancelRequestedAt: z.string().optional(),
  stop: Stop.optional(),
  /** Of a retry: the input of the run that it retries. */
  input: z.object({ text: z.string(), attachments: z.array(z.string()).optional() }),
  metadata: z.record(z.string(), z.string()).optional(),
  by: By,
  createdAt: z.string(),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  deadlineAt: z.string().optional(),
  steps: z.int().nonnegative(),
  usage: Usage,
  pending: z.array(ToolCall),
  sideEffects: z.array(SideEffect),
  retryOf: RunId.optional(),
});
export type Run = z.infer<typeof Run>;
