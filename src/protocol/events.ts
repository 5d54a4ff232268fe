/**
 * The durable events: one zod schema per type for `data`. The log is made of these; everything that anybody is shown
 * derives from them. A persisted shape never changes: a new one gets a new `v` and an upcast in `storage/upcast.ts`.
 */
import * as z from "zod";
import { HandoverState } from "./conversation.ts";
import { ConversationId, MessageId, RunId, ToolCallId } from "./ids.ts";
import { Message } from "./message.ts";
import { By, Principal } from "./principal.ts";
import { Role } from "./roles.ts";
import { BlockedBy, LimitName, Usage, WaitsFor } from "./run.ts";
import { Stop } from "./stops.ts";
import {
  CallStateName,
  DecisionKind,
  EffectClass,
  PendingCall,
  Preview,
  ResolutionKind,
  SideEffect,
} from "./tool-call.ts";
import { ToolError, ToolResult } from "./tool-result.ts";

const Time = z.string();
const Input = z.object({ text: z.string(), attachments: z.array(z.string()).optional() });
const Limits = z.record(LimitName, z.number());
const CallRef = z.object({ toolCallId: ToolCallId });

/** What of the agent's policy the state machine needs; pinned with each run. */
export const RunPolicy = z.object({
  onLimit: z.enum(["stop", "ask"]),
  handoverOnLimit: z.boolean(),
  modelRetries: z.int().min(0).max(2),
  cancelGraceMs: z.int().nonnegative(),
  /** How long the first repeat of a call waits; each further one waits twice as long. */
  backoffMs: z.int().nonnegative(),
});
export type RunPolicy = z.infer<typeof RunPolicy>;

/** Who must say yes, how many of them, and for how long the question stands. */
export const Gate = z.object({
  quorum: z.int().positive(),
  selfApproval: z.boolean(),
  /** Roles of the sign-in that may decide; absent: everybody whose place in the conversation allows it. */
  approvers: z.array(z.string()).optional(),
  expiresInMs: z.int().positive(),
});
export type Gate = z.infer<typeof Gate>;

/** Of one model request: until its first byte (null: none came), until its end, and the bytes of its body. */
export const Timing = z.object({
  firstByteMs: z.int().nonnegative().nullable(),
  ms: z.int().nonnegative(),
  requestBytes: z.int().nonnegative(),
});
export type Timing = z.infer<typeof Timing>;

const Terminal = z.object({
  stop: Stop,
  usage: Usage,
  sideEffects: z.array(SideEffect),
  needsConfirmation: z.literal(false),
  steps: z.int(),
});

export const EVENT_DATA = {
  "conversation.created": z.object({
    conversationId: ConversationId,
    tenantId: z.string(),
    generation: z.string(),
    owner: z.string(),
    agent: z.string(),
    title: z.string().optional(),
    metadata: z.record(z.string(), z.string()),
  }),
  "conversation.updated": z.object({ title: z.string().optional(), archived: z.boolean().optional() }),
  "conversation.deleted": z.object({}),
  "participant.added": z.object({ userId: z.string(), role: Role }),
  "participant.role_changed": z.object({ userId: z.string(), role: Role }),
  "participant.removed": z.object({ userId: z.string() }),
  "message.created": z.object({ message: Message }),
  "message.completed": z.object({ message: Message, step: z.int().optional() }),
  "run.queued": z.object({
    input: Input,
    principal: Principal,
    agentDigest: z.string(),
    limits: Limits,
    policy: RunPolicy,
    metadata: z.record(z.string(), z.string()),
    /** The head of the queue is 1. */
    position: z.int().positive(),
    blockedBy: BlockedBy.optional(),
    retryOf: RunId.optional(),
    /** True: the run goes on from the log as it is, without a message of its own. */
    continues: z.boolean(),
  }),
  "run.input_edited": z.object({ input: Input }),
  "run.started": z.object({ deadlineAt: Time }),
  "run.interrupted": z.object({
    waitsFor: z.array(WaitsFor),
    pending: z.array(PendingCall),
    needsConfirmation: z.boolean(),
  }),
  "run.resumed": z.object({ deadlineAt: Time.optional() }),
  "run.cancel_requested": z.object({ code: z.string(), reason: z.string().optional(), graceUntil: Time }),
  "run.completed": Terminal,
  "run.failed": Terminal,
  "run.cancelled": Terminal,
  "step.started": z.object({
    n: z.int().positive(),
    attempt: z.int().positive(),
    messageId: MessageId,
    agentDigest: z.string().optional(),
    incarnation: z.int(),
    deadlineAt: Time,
  }),
  "step.superseded": z.object({
    n: z.int().positive(),
    attempt: z.int().positive(),
    reason: z.enum(["interrupted", "handover", "empty_answer", "retry", "budget"]),
    incarnation: z.int(),
    /** What the given-up attempt cost, where it is known. */
    usage: Usage.optional(),
  }),
  "step.finished": z.object({
    n: z.int().positive(),
    attempt: z.int().positive(),
    finishReason: z.string().nullable(),
    usage: Usage,
    timing: Timing.optional(),
    /** SHA-256 of the request body, the model and its parameters: what replay compares. */
    request: z
      .object({ digest: z.string(), model: z.string(), parameters: z.record(z.string(), z.unknown()) })
      .optional(),
  }),
  "tool_call.proposed": CallRef.extend({
    step: z.int(),
    tool: z.string(),
    title: z.string(),
    effect: EffectClass,
    args: z.unknown(),
    /** As the model wrote them, where normalising changed them. */
    modelArgs: z.unknown().optional(),
    argsDigest: z.string(),
    toolDigest: z.string(),
    expect: z.unknown().optional(),
    gate: Gate.nullable(),
    preview: Preview.optional(),
    idempotencyKey: z.string(),
    scope: z.string().optional(),
    /** Tool and arguments without their volatile parts: equal for "the same call again". */
    fingerprint: z.string(),
    timeoutMs: z.int().positive(),
    dedupeWindowMs: z.int().positive(),
    answersForKey: z.boolean(),
    reversible: z.boolean(),
    undo: z.string().optional(),
    providerId: z.string().optional(),
  }),
  "tool_call.refused": CallRef.extend({
    step: z.int(),
    tool: z.string(),
    /** JSON text that any model API accepts as arguments: the model's own where it is an object, else `{}`. */
    modelArgs: z.unknown(),
    fingerprint: z.string(),
    payload: ToolResult,
    providerId: z.string().optional(),
  }),
  "confirmation.requested": CallRef.extend({
    tool: z.string(),
    title: z.string(),
    effect: EffectClass,
    args: z.unknown(),
    argsDigest: z.string(),
    expect: z.unknown().optional(),
    preview: Preview.optional(),
    gate: Gate,
    expiresAt: Time,
    allowed: z.array(DecisionKind),
  }),
  "confirmation.decided": CallRef.extend({
    by: By,
    decision: DecisionKind,
    argsDigest: z.string(),
    /** Of an edit: what runs instead. */
    args: z.unknown().optional(),
    expect: z.unknown().optional(),
    preview: Preview.optional(),
    reason: z.string().optional(),
    /** Approvals still missing; 0: the confirmation is closed. */
    remaining: z.int().nonnegative(),
    closed: z.boolean(),
    /** An edit that has to be seen again: it is no approval. */
    voided: z.boolean().optional(),
    payload: ToolResult.optional(),
  }),
  "confirmation.expired": CallRef.extend({
    reason: z.enum(["undecided", "not_started", "stale"]),
    payload: ToolResult,
  }),
  "tool_call.started": CallRef.extend({
    tool: z.string(),
    mode: z.enum(["execute", "probe"]),
    attempt: z.int().positive(),
    argsDigest: z.string(),
    idempotencyKey: z.string(),
    incarnation: z.int(),
    deadlineAt: Time,
    /** Of a repeat after an ambiguous outcome: not before this time. */
    notBefore: Time.optional(),
  }),
  "tool_call.finished": CallRef.extend({
    state: z.enum(["succeeded", "failed", "cancelled"]),
    attempt: z.int().nonnegative(),
    payload: ToolResult,
  }),
  "tool_call.became_unknown": CallRef.extend({
    attempt: z.int(),
    reason: z.enum(["interrupted", "timeout", "ambiguous", "cancelled", "attempts_exhausted", "window_passed"]),
    incarnation: z.int(),
    error: ToolError.optional(),
  }),
  "tool_call.resolved": CallRef.extend({
    outcome: ResolutionKind,
    by: By,
    /** The call's state from now on. */
    state: CallStateName,
    payload: ToolResult.optional(),
  }),
  "tool_call.late_result": CallRef.extend({ attempt: z.int(), incarnation: z.int(), payload: ToolResult }),
  "limit.tripped": z.object({
    limit: z.string(),
    figure: z.number(),
    bound: z.number(),
    code: z.string(),
    ask: z.boolean(),
    expiresAt: Time.optional(),
    /** Of a failure that repeats: the same call, back and forth between tools, or other arguments without progress. */
    pattern: z.enum(["same_call", "ping_pong", "no_progress"]).optional(),
    tool: z.string().optional(),
  }),
  "limit.continued": z.object({ limit: z.string(), decision: z.enum(["continue", "stop"]), bound: z.number(), by: By }),
  "budget.awaited": z.object({ expiresAt: Time, retryAt: Time.optional(), reason: z.enum(["budget", "paused"]) }),
  /** Of the whole tenant, told to conversations that have runs: nothing of them starts until it is resumed. */
  "tenant.paused": z.object({}),
  "tenant.resumed": z.object({}),
  "budget.warned": z.object({ percent: z.int(), scope: z.string() }),
  "context.trimmed": z.object({ messages: z.int(), reason: z.string() }),
  "handover.requested": z.object({ reason: z.string() }),
  "handover.accepted": z.object({ operator: z.string() }),
  "handover.released": z.object({ operator: z.string().optional(), state: HandoverState }),
} as const;

export type EventType = keyof typeof EVENT_DATA;
export const EventType = z.enum(Object.keys(EVENT_DATA) as [EventType, ...EventType[]]);
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>;

interface Envelope<T extends EventType> {
  readonly seq: number;
  readonly v: number;
  readonly type: T;
  readonly at: string;
  readonly runId?: string;
  readonly by: By;
  readonly data: EventData<T>;
}
/** Distributes over the types, so that `switch (event.type)` narrows `event.data`. */
export type Event = { [T in EventType]: Envelope<T> }[EventType];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;

export const EventEnvelope = z.object({
  seq: z.int().positive(),
  v: z.int().positive(),
  type: EventType,
  at: Time,
  runId: RunId.optional(),
  by: By,
  data: z.unknown(),
});

export const TERMINAL_EVENTS = ["run.completed", "run.failed", "run.cancelled"] as const;
export const isTerminal = (type: EventType): boolean => (TERMINAL_EVENTS as readonly string[]).includes(type);
