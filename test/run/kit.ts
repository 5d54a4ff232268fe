/** People, calls and answers that the tests of the core speak of. Data only. */
import type { Gate, RunPolicy } from "../../src/protocol/events.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import { reject } from "../../src/protocol/problems.ts";
import { SCOPES } from "../../src/protocol/roles.ts";
import type { RunLimits, Usage } from "../../src/protocol/run.ts";
import { stopOf, type StopCode } from "../../src/protocol/stops.ts";
import type { EffectClass } from "../../src/protocol/tool-call.ts";
import type { ToolError, ToolResult } from "../../src/protocol/tool-result.ts";
import type { ModelResult, PreparedCall, PreparedReady, ToolAnswer } from "../../src/run/inputs.ts";

export const T0 = Date.UTC(2026, 10, 1, 8);
export const CONVERSATION = "01hq3vezx8k2m4n6p7r9s0t1w5";
export const GENERATION = "gen0gen0";
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const person = (userId: string, scopes: string[], roles: string[] = []): Principal => ({
  tenantId: "acme",
  userId,
  roles,
  scopes,
  locale: "en",
});
const usual = [SCOPES.conversationsRead, SCOPES.conversationsWrite, SCOPES.confirmationsDecide, "bank:transfer"];

/** Owner. */
export const alice = person("alice", usual, ["lead"]);
/** Editor. */
export const bob = person("bob", usual);
/** Approver. */
export const carol = person("carol", usual, ["lead"]);
/** Viewer. */
export const dave = person("dave", usual);
/** No participant; may operate hand-overs. */
export const olga = person("olga", [SCOPES.handoverOperate]);
/** No participant. */
export const eve = person("eve", usual);

export const POLICY: RunPolicy = {
  onLimit: "stop",
  handoverOnLimit: false,
  modelRetries: 0,
  cancelGraceMs: 10_000,
  backoffMs: 1_000,
};
export const BOUNDS: RunLimits = { ...RUN_LIMITS };
export const GATE: Gate = { quorum: 1, selfApproval: true, expiresInMs: DAY };

export const usageOf = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  costMicroUsd: inputTokens + outputTokens,
  estimated: false,
  model: "scripted",
});
export const USAGE = usageOf(100, 10);
export const REQUEST = { digest: "request", model: "scripted", parameters: {} };

let serial = 0;
/** A fresh digest, as 43 characters like a real one. */
export const digest = (): string => `d${String(++serial).padStart(42, "0")}`;

export function callOf(tool: string, effect: EffectClass, over: Partial<PreparedReady> = {}): PreparedReady {
  return {
    kind: "ready",
    tool,
    title: tool,
    effect,
    args: { of: tool },
    argsDigest: digest(),
    toolDigest: `tool:${tool}`,
    gate: effect === "read" ? null : GATE,
    idempotencyKey: `key:${serial}`,
    fingerprint: `${tool}:${serial}`,
    timeoutMs: MINUTE,
    dedupeWindowMs: DAY,
    answersForKey: false,
    reversible: false,
    ...over,
  };
}

export const read = (over: Partial<PreparedReady> = {}): PreparedReady => callOf("lookup", "read", over);
/** Gated. */
export const transfer = (over: Partial<PreparedReady> = {}): PreparedReady =>
  callOf("transfer", "once", { scope: "bank:transfer", ...over });
export const idempotent = (over: Partial<PreparedReady> = {}): PreparedReady => callOf("put", "idempotent", over);
export const probeable = (over: Partial<PreparedReady> = {}): PreparedReady => callOf("order", "probeable", over);
/** Acts once, and never asks. */
export const note = (over: Partial<PreparedReady> = {}): PreparedReady =>
  callOf("note", "once", { gate: null, ...over });

export function refusedCall(tool: string, toolCallId: string, fingerprint = `${tool}:refused`): PreparedCall {
  const payload = failure(toolCallId, tool, { ...ERROR, code: "invalid_arguments" });
  return { kind: "refused", tool, modelArgs: {}, fingerprint, payload };
}

const payloadOf = (toolCallId: string, tool: string) =>
  ({ schemaVersion: 1, kind: "tool_execution_result", toolCallId, tool, displayLang: "en" }) as const;
export const success = (toolCallId: string, tool: string, data: unknown = {}): ToolResult => ({
  ...payloadOf(toolCallId, tool),
  success: true,
  displayText: "done",
  data,
});
export const ERROR: ToolError = { layer: "gateway", code: "GATEWAY_UNAVAILABLE", message: "No.", retryable: false };
export const failure = (toolCallId: string, tool: string, error: ToolError = ERROR): ToolResult => ({
  ...payloadOf(toolCallId, tool),
  success: false,
  displayText: error.message,
  error,
});

type Answered = Extract<ModelResult, { kind: "answered" }>;
const answered = (over: Partial<Answered>): Answered => ({
  kind: "answered",
  verdict: "final",
  text: { text: "" },
  finishReason: "stop",
  calls: [],
  usage: USAGE,
  request: REQUEST,
  ...over,
});
export const planOf = (calls: readonly PreparedCall[], over: Partial<Answered> = {}): Answered =>
  answered({ verdict: "plan", finishReason: "tool_calls", calls, ...over });
export const finalOf = (text: string): Answered => answered({ text: { text } });
export const emptyOf = (): Answered => answered({ verdict: "empty" });
export const refusedOf = (text = ""): Answered =>
  answered({ verdict: "refused", text: { text }, finishReason: "content_filter" });
export const cutTextOf = (text: string): Answered =>
  answered({ verdict: "truncated_text", text: { text }, finishReason: "length" });
export const cutCallsOf = (calls: readonly PreparedCall[]): Answered =>
  answered({ verdict: "truncated_calls", finishReason: "length", calls });
export const failedOf = (code: StopCode, text = ""): Extract<ModelResult, { kind: "failed" }> => ({
  kind: "failed",
  stop: stopOf(code, "The provider said no."),
  text: { text },
  finishReason: null,
  usage: USAGE,
});
export const abortedOf = (text: string): ModelResult => ({ kind: "aborted", text: { text }, usage: USAGE });
export const noBudgetOf = (retryAt?: number): ModelResult => ({
  kind: "no_budget",
  reason: "budget",
  ...(retryAt === undefined ? {} : { retryAt }),
});

export const NO_BUDGET = reject("budget_exhausted", "The budget is used up.");

export const okAnswer = (id: string, tool: string): ToolAnswer => ({ kind: "ok", payload: success(id, tool) });
export const failedAnswer = (
  id: string,
  tool: string,
  proof: "not_sent" | "definitive" = "definitive",
  error = ERROR,
): ToolAnswer => ({ kind: "failed", payload: failure(id, tool, error), proof });
export const doubtfulAnswer = (id: string, tool: string, repeatable = true): ToolAnswer => ({
  kind: "ambiguous",
  error: ERROR,
  payload: failure(id, tool),
  reason: "ambiguous",
  repeatable,
});
