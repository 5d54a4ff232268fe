/**
 * One example of each shape that the API takes or gives, all of one story: a transfer that waits for its yes. Data
 * only. A test holds each against its schema, so that no reader copies something that is refused.
 */
import type { Conversation } from "../../protocol/conversation.ts";
import type { ConversationSummary, InboxItem } from "../../protocol/history.ts";
import { RUN_LIMITS } from "../../protocol/limits.ts";
import type { Message } from "../../protocol/message.ts";
import type { Run } from "../../protocol/run.ts";
import type { ToolCall } from "../../protocol/tool-call.ts";
import type { Event } from "../../protocol/events.ts";

const ID = "3k6cfv3pakpc6e02hn2c4rmxab";
const RUN_ID = `${ID}.r1`;
const CALL_ID = `${RUN_ID}.t1`;
const T0 = "2026-11-29T12:00:00.000Z";
const T1 = "2026-11-29T12:00:02.000Z";
const EXPIRES = "2026-11-30T12:00:02.000Z";
const HEAD = "h4t2m7qa.9";
const DIGEST = "q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80";
const ANN = { kind: "user", id: "ann" } as const;

const page = <T>(row: T) => ({ data: [row], nextCursor: null });

const call: ToolCall = {
  id: CALL_ID,
  runId: RUN_ID,
  tool: "delete_plan",
  title: "Delete a plan",
  args: { planId: "p-7" },
  argsDigest: DIGEST,
  effect: "idempotent",
  state: "awaiting_confirmation",
  attempt: 0,
  preview: { rows: [{ label: "Plan", before: "Kyoto in May", after: "deleted" }], reversible: false },
  expiresAt: EXPIRES,
  decisions: [],
  allowed: ["approve", "edit", "reject"],
};

const run: Run = {
  id: RUN_ID,
  conversationId: ID,
  agent: "planner",
  agentDigest: DIGEST,
  status: "interrupted",
  phase: "awaiting_confirmation",
  waitsFor: ["confirmation"],
  needsConfirmation: true,
  input: { text: "Delete the Kyoto plan." },
  by: ANN,
  createdAt: T0,
  startedAt: T0,
  steps: 1,
  usage: { inputTokens: 412, outputTokens: 38, costMicroUsd: null, estimated: false, model: "rehearsal" },
  pending: [call],
  sideEffects: [],
};

const queuedRun: Run = {
  ...run,
  status: "queued",
  waitsFor: [],
  needsConfirmation: false,
  position: 1,
  steps: 0,
  usage: { ...run.usage, inputTokens: 0, outputTokens: 0, model: null },
  pending: [],
};
const { phase: _phase, startedAt: _startedAt, ...startedRun } = queuedRun;

const cancelledRun: Run = {
  ...run,
  status: "cancelled",
  waitsFor: [],
  needsConfirmation: false,
  stop: { code: "cancelled_by_user", detail: "A person cancelled the run.", retryable: false },
  finishedAt: T1,
  pending: [],
};
const { phase: _waited, ...endedRun } = cancelledRun;

const conversation: Conversation = {
  id: ID,
  agent: "planner",
  title: "Delete the Kyoto plan.",
  role: "owner",
  metadata: {},
  createdAt: T0,
  updatedAt: T1,
  archived: false,
  headCursor: HEAD,
  activeRun: run,
  queued: [],
  needsConfirmation: true,
  pending: [call],
  handover: { state: "none" },
  participants: [{ userId: "ann", role: "owner" }],
};

const summary: ConversationSummary = {
  id: ID,
  agent: "planner",
  title: "Delete the Kyoto plan.",
  role: "owner",
  createdAt: T0,
  updatedAt: T1,
  archived: false,
  asOfSeq: 9,
  generation: "h4t2m7qa",
  activeRun: { id: RUN_ID, status: "interrupted", phase: "awaiting_confirmation" },
  needsConfirmation: true,
  handover: { state: "none" },
};

const inboxItem: InboxItem = {
  ...call,
  conversationId: ID,
  conversationTitle: "Delete the Kyoto plan.",
  agent: "planner",
  startedBy: ANN,
  kind: "decision",
  openedAt: T1,
  remaining: 1,
  asOfSeq: 9,
  generation: "h4t2m7qa",
};

const message: Message = {
  id: `${ID}.m1`,
  runId: RUN_ID,
  role: "user",
  by: ANN,
  parts: [{ type: "text", text: "Delete the Kyoto plan." }],
  status: "complete",
  seq: 4,
  createdAt: T0,
};

const event: Event = {
  seq: 4,
  v: 1,
  type: "message.created",
  at: T0,
  runId: RUN_ID,
  by: ANN,
  data: { message },
};

export const EXAMPLES = {
  conversation,
  conversations: page(summary),
  confirmations: page(inboxItem),
  messages: page(message),
  events: { data: [event], nextCursor: "h4t2m7qa.4" },
  run,
  startedRun,
  endedRun,
  runs: page(run),
  ticket: { ticket: "eyJ2IjoxfQ.c2VhbA", expiresAt: "2026-11-29T12:00:30.000Z" },
  createConversation: { agent: "planner", metadata: { team: "travel" } },
  updateConversation: { title: "Trips" },
  putParticipant: { role: "approver" },
  startRun: { input: { text: "Delete the Kyoto plan." }, whenBusy: "enqueue" },
  editRun: { input: { text: "Delete the Osaka plan." } },
  resume: { decisions: [{ toolCallId: CALL_ID, argsDigest: DIGEST, decision: "approve" }] },
  cancelRun: { reason: "Changed my mind." },
  nothing: {},
  about: {
    name: "Holdpoint",
    description: "Runs AI-agent conversations, and holds before every act that needs a person's yes.",
    protocol: { version: 1, subprotocol: "holdpoint.v1" },
    model: { scripted: true },
    links: { docs: "/docs", openapi: "/v1/openapi.json", events: "/v1/events.schema.json" },
  },
  health: { status: "ok", environment: "development", developmentSignIn: true },
  readiness: { ready: true, checks: { history: true, app: true } },
  me: {
    tenantId: "acme",
    userId: "ann",
    roles: [],
    scopes: ["conversations:read"],
    expiresAt: "2026-11-29T13:00:00.000Z",
  },
  agents: {
    data: [
      {
        name: "planner",
        title: "Planner",
        description: "Keeps plans.",
        digest: DIGEST,
        tools: [
          {
            name: "delete_plan",
            title: "Delete a plan",
            description: "Deletes a plan for good.",
            inputSchema: { type: "object", properties: { planId: { type: "string" } }, required: ["planId"] },
            outputSchema: { type: "object" },
            effect: "idempotent",
            scope: "plans:write",
            confirm: "always",
          },
        ],
        limits: RUN_LIMITS,
      },
    ],
    nextCursor: null,
  },
  usage: {
    tenantId: "acme",
    from: "2026-11-28T12:00:00.000Z",
    to: "2026-11-29T12:00:00.000Z",
    agents: [
      {
        agent: "planner",
        runs: { completed: 118, failed: 3, cancelled: 4 },
        rounds: 241,
        inputTokens: 301_200,
        outputTokens: 18_450,
        cachedInputTokens: 120_000,
        reasoningTokens: 0,
        costMicroUsd: 112_200,
        unpricedRuns: 0,
        estimatedRuns: 4,
        queueWaitMs: { p50: 0, p95: 1_200, max: 9_000 },
        firstByteMs: { p50: 420, p95: 900, max: 2_100 },
        modelMs: { p50: 1_900, p95: 6_100, max: 21_000 },
        runMs: { p50: 2_300, p95: 61_000, max: 7_200_000 },
        requestBytes: 48_211,
        stops: { final_answer: 118, model_rate_limited: 2, tool_circuit_open: 1, cancelled_by_user: 4 },
        trips: { tool_circuit_open: 1 },
        toolErrors: [{ tool: "create_plan", code: "GATEWAY_UNAUTHORIZED", count: 3 }],
      },
    ],
    lagMs: 640,
    crossings: [
      {
        name: "toolErrors",
        hour: "2026-11-29T11:00:00.000Z",
        value: 61,
        threshold: 50,
        seenAt: "2026-11-29T11:20:00.000Z",
      },
    ],
    budget: {
      microUsdPerHour: { used: 90_000, reserved: 8_000, bound: 1_000_000, resetsAt: "2026-11-29T13:00:00.000Z" },
    },
  },
  userStanding: {
    tenantId: "acme",
    userId: "bob",
    state: "deactivated",
    validFrom: "2026-11-29T12:00:01.000Z",
    sweep: { state: "running", passes: 1, conversations: 12, runs: 1, sockets: 2 },
  },
  tenantStanding: {
    tenantId: "acme",
    state: "active",
    paused: true,
    sweep: { state: "done", passes: 2, conversations: 240, runs: 3, sockets: 0 },
  },
  restoreOrder: { mode: "bring", objectIds: ["5f".repeat(32)] },
  restored: {
    data: [
      {
        objectId: "5f".repeat(32),
        account: {
          kind: "conversation",
          tenantId: "acme",
          conversationId: ID,
          head: 240,
          stood: 0,
          stands: 240,
          lagMs: 0,
          parked: [{ seq: 87, reason: "the database refuses it: string or blob too big", attempts: 8 }],
        },
      },
    ],
    nextCursor: null,
  },
  developmentToken: { userId: "ann" },
  token: { token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2VhbA" },
} as const;
