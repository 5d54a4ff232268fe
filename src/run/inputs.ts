/**
 * What can happen to a conversation. Commands carry the facts that their adapters worked out beforehand (digests,
 * prepared edits, limits): the core never asks, it is told. Every input stands in the log as the cause of its events.
 */
import type { Command } from "../protocol/commands.ts";
import type { Gate, RunPolicy, Timing } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import type { RunLimits, Usage } from "../protocol/run.ts";
import type { Rejection } from "../protocol/problems.ts";
import type { Stop } from "../protocol/stops.ts";
import type { EffectClass, Preview } from "../protocol/tool-call.ts";
import type { ToolError, ToolResult } from "../protocol/tool-result.ts";

/** Text that may be an excerpt; the whole stands in the payload of that digest, written in the same transaction. */
export interface TextBody {
  readonly text: string;
  readonly excerptOf?: { readonly digest: string; readonly bytes: number };
}

/** A call as the end of the model effect prepared it: validated, authorised, previewed, digested. */
export type PreparedCall = PreparedRefusal | PreparedReady;
export interface PreparedRefusal {
  readonly kind: "refused";
  readonly tool: string;
  readonly modelArgs: unknown;
  readonly fingerprint: string;
  readonly payload: ToolResult;
  readonly providerId?: string;
}
export interface PreparedReady {
  readonly kind: "ready";
  readonly tool: string;
  readonly title: string;
  readonly effect: EffectClass;
  readonly args: unknown;
  readonly modelArgs?: unknown;
  readonly argsDigest: string;
  readonly toolDigest: string;
  readonly expect?: unknown;
  readonly gate: Gate | null;
  readonly preview?: Preview;
  readonly idempotencyKey: string;
  readonly scope?: string;
  readonly fingerprint: string;
  readonly timeoutMs: number;
  readonly dedupeWindowMs: number;
  readonly answersForKey: boolean;
  readonly reversible: boolean;
  readonly undo?: string;
  readonly providerId?: string;
}

export type PreparedEdit =
  | {
      readonly kind: "ready";
      readonly args: unknown;
      readonly argsDigest: string;
      readonly expect?: unknown;
      readonly preview?: Preview;
      readonly gate: Gate;
      /** Normalising made other arguments of it, or policy asks for more: the person must see it again. */
      readonly changed: boolean;
    }
  | { readonly kind: "refused"; readonly detail: string; readonly pointer?: string };

export interface ModelRequestRecord {
  readonly digest: string;
  readonly model: string;
  readonly parameters: Record<string, unknown>;
}

export type ModelResult =
  | {
      readonly kind: "answered";
      readonly verdict: "plan" | "final" | "truncated_calls" | "truncated_text" | "refused" | "empty";
      readonly text: TextBody;
      readonly reasoning?: string;
      readonly finishReason: string | null;
      readonly calls: readonly PreparedCall[];
      readonly usage: Usage;
      readonly timing?: Timing;
      readonly request: ModelRequestRecord;
    }
  | {
      readonly kind: "failed";
      readonly stop: Stop;
      /** Of a request that was too long: how many messages the model is no longer told from here on. */
      readonly leavesOut?: number;
      readonly text: TextBody;
      readonly finishReason: string | null;
      readonly usage: Usage;
      readonly timing?: Timing;
      readonly request?: ModelRequestRecord;
    }
  | {
      readonly kind: "aborted";
      /** The answer came, and could not be written: our storage's failure and not the model's. */
      readonly unstored?: true;
      readonly text: TextBody;
      readonly usage: Usage;
      readonly timing?: Timing;
      readonly request?: ModelRequestRecord;
    }
  | { readonly kind: "no_budget"; readonly retryAt?: number; readonly reason: "budget" | "paused" };

export type ToolAnswer =
  | { readonly kind: "ok"; readonly payload: ToolResult }
  /** `proof`: nothing was sent, or the other side said no for good. */
  | { readonly kind: "failed"; readonly payload: ToolResult; readonly proof: "not_sent" | "definitive" }
  /** It may have happened. `repeatable` false: trying again cannot tell more (a broken contract). */
  | {
      readonly kind: "ambiguous";
      readonly error: ToolError;
      readonly payload: ToolResult;
      readonly reason: "timeout" | "ambiguous" | "cancelled";
      readonly repeatable: boolean;
    }
  | { readonly kind: "absent" };

/** The unfinished text of the step in progress, as the last checkpoint or the memory has it. */
export interface PartialText extends TextBody {
  readonly messageId: string;
  readonly attempt: number;
}

export type ResumeFacts = NonNullable<Facts["resume"]>;
export interface Facts {
  readonly create?: { readonly conversationId: string; readonly generation: string };
  readonly start?: {
    readonly agentDigest: string;
    readonly limits: RunLimits;
    readonly policy: RunPolicy;
    /** True: the conversation has the bytes that one may have. */
    readonly full?: boolean;
    /** Why no run may begin now: the tenant's budget, or as many runs as it may have at once. */
    readonly refused?: Rejection;
  };
  readonly resume?: {
    /** Of each named call's tool as it is now; null: there is no such tool any more. */
    readonly toolDigests: Readonly<Record<string, string | null>>;
    readonly edits: Readonly<Record<string, PreparedEdit>>;
    readonly results: Readonly<Record<string, ToolResult | { readonly invalid: string }>>;
  };
}

/** The model request of an attempt whose answer could not be written. */
export interface Unstored {
  readonly effectId: string;
  readonly attempt: number;
}

export type Input =
  | { readonly type: "time_passed"; readonly partial?: PartialText; readonly unstored?: Unstored }
  | { readonly type: "command"; readonly command: Command; readonly principal: Principal; readonly facts: Facts }
  | {
      readonly type: "model_answered";
      readonly effectId: string;
      readonly attempt: number;
      readonly incarnation: number;
      readonly result: ModelResult;
    }
  | {
      readonly type: "tool_answered";
      readonly effectId: string;
      readonly attempt: number;
      readonly incarnation: number;
      readonly result: ToolAnswer;
    }
  /** A new life of the actor found unfinished work. `usage`: what the lost model request has cost, about. */
  | { readonly type: "woke"; readonly partial?: PartialText; readonly usage?: Usage }
  /** Of a user, or of the whole tenant. */
  | { readonly type: "deactivated"; readonly userId?: string }
  /** The tenant: nothing starts until it is resumed. */
  | { readonly type: "paused" }
  | { readonly type: "resumed" }
  | { readonly type: "budget_changed" }
  /** So much of a budget is used up. */
  | { readonly type: "budget_warned"; readonly percent: number; readonly scope: string };
