/**
 * A conversation for tests of the transcript: the real state machine, driven by short verbs, its events folded into a
 * transcript as the actor does it. Whatever history the core can make, it can make here.
 */
import { TRANSCRIPT_EVENTS } from "../../../src/actor/transcript-events.ts";
import { ModelTranscript } from "../../../src/effects/transcript.ts";
import type { Command } from "../../../src/protocol/commands.ts";
import type { Event } from "../../../src/protocol/events.ts";
import { conversationIdOf } from "../../../src/protocol/ids.ts";
import { RUN_LIMITS } from "../../../src/protocol/limits.ts";
import type { Principal } from "../../../src/protocol/principal.ts";
import type { ToolResult } from "../../../src/protocol/tool-result.ts";
import { decide } from "../../../src/run/decide.ts";
import type { Facts, Input, ModelResult, PreparedCall, PreparedReady, ToolAnswer } from "../../../src/run/inputs.ts";
import { outstanding, type ModelEffect, type ToolEffect } from "../../../src/run/outstanding.ts";
import { EMPTY, NO_USAGE, type CallState, type State } from "../../../src/run/state.ts";
import { inspectChatRequest, type Violation } from "../../support/chat-rules.ts";

export const ALICE: Principal = {
  tenantId: "t1",
  userId: "alice",
  roles: [],
  scopes: ["conversations:write", "confirmations:decide"],
};
export const OPERATOR: Principal = { tenantId: "t1", userId: "olga", roles: [], scopes: ["handover:operate"] };
const DIGEST = "d".repeat(43);
const GATE = { quorum: 1, selfApproval: true, expiresInMs: 3_600_000 };
const REQUEST = { digest: "q".repeat(43), model: "m", parameters: {} };

export const ready = (more: Partial<PreparedReady> = {}): PreparedReady => ({
  kind: "ready",
  tool: "transfer",
  title: "Transfer",
  effect: "once",
  args: { amount_cents: 500 },
  argsDigest: DIGEST,
  toolDigest: DIGEST,
  gate: GATE,
  idempotencyKey: "key",
  fingerprint: "transfer",
  timeoutMs: 60_000,
  dedupeWindowMs: 60_000,
  answersForKey: false,
  reversible: false,
  ...more,
});
export const read = (more: Partial<PreparedReady> = {}): PreparedReady =>
  ready({ tool: "lookup_order", effect: "read", gate: null, ...more });

export const payloadOf = (toolCallId: string, more: Partial<ToolResult> = {}): ToolResult => ({
  schemaVersion: 1,
  kind: "tool_execution_result",
  toolCallId,
  tool: "t",
  success: true,
  displayText: "for people",
  displayLang: "en",
  ...more,
});

export type ChatMessage = {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
};

export class Story {
  state: State = EMPTY;
  readonly events: Event[] = [];
  readonly payloads = new Map<string, string>();
  readonly #transcript = new ModelTranscript();
  #now = 1_800_000_000_000;

  constructor(agent = "lab") {
    this.command(
      { type: "create_conversation", body: { agent } },
      {
        create: { conversationId: conversationIdOf(new Uint8Array(16).fill(7)), generation: "abcd1234" },
      },
    );
  }

  input(input: Input): void {
    for (const one of [{ type: "time_passed" } as const, input]) {
      const decided = decide(this.state, one, this.#now);
      this.state = decided.state;
      this.events.push(...decided.events);
      for (const event of decided.events) this.#transcript.append(event, (digest) => this.payloads.get(digest) ?? null);
    }
  }

  command(command: Command, facts: Facts = {}, principal = ALICE): void {
    this.input({ type: "command", command, principal, facts });
  }

  start(text: string, more: Partial<Principal> = {}): void {
    this.command(
      { type: "start_run", body: { input: { text } } },
      {
        start: {
          agentDigest: DIGEST,
          limits: { ...RUN_LIMITS },
          policy: { onLimit: "stop", handoverOnLimit: false, modelRetries: 0, cancelGraceMs: 10_000, backoffMs: 1_000 },
        },
      },
      { ...ALICE, ...more },
    );
  }

  retry(): void {
    const { latest } = this.state;
    this.command(
      { type: "retry_run", runId: latest?.id ?? "", body: {} },
      {
        start: {
          agentDigest: DIGEST,
          limits: { ...RUN_LIMITS },
          policy: { onLimit: "stop", handoverOnLimit: false, modelRetries: 0, cancelGraceMs: 10_000, backoffMs: 1_000 },
        },
      },
    );
  }

  cancel(): void {
    this.command({ type: "cancel_run", runId: this.state.active?.id ?? "", body: {} });
  }

  get asking(): ModelEffect | undefined {
    return outstanding(this.state, this.#now).find((effect) => effect.kind === "model");
  }

  get executing(): ToolEffect[] {
    return outstanding(this.state, this.#now).filter((effect) => effect.kind === "tool");
  }

  model(result: ModelResult): void {
    const { id, attempt } = this.asking ?? {
      id: `${this.state.active?.id}.s${this.state.active?.step?.n}`,
      attempt: 1,
    };
    const { incarnation } = this.state;
    this.input({ type: "model_answered", effectId: id, attempt, incarnation, result });
  }

  says(text: string): void {
    this.model(answered("final", text));
  }

  plans(calls: readonly PreparedCall[], text = ""): void {
    this.model(answered("plan", text, calls));
  }

  tool(effect: ToolEffect, result: ToolAnswer): void {
    const { id: effectId, attempt, incarnation } = effect;
    this.input({ type: "tool_answered", effectId, attempt, incarnation, result });
  }

  /** The next tool call in flight succeeds with these data. */
  works(data: unknown): void {
    const [effect] = this.executing;
    if (effect) this.tool(effect, { kind: "ok", payload: payloadOf(effect.id, { data }) });
  }

  decideOn(call: CallState | undefined, decision: "approve" | "reject" | "edit", args?: Record<string, unknown>): void {
    if (!call) return;
    const one = { toolCallId: call.id, argsDigest: call.argsDigest, decision, ...(args ? { args } : {}) };
    const edits = args
      ? { [call.id]: { kind: "ready" as const, args, argsDigest: DIGEST, gate: GATE, changed: false } }
      : {};
    this.command(
      { type: "resume", runId: this.state.active?.id ?? "", body: { decisions: [one] } },
      { resume: { toolDigests: { [call.id]: DIGEST }, edits, results: {} } },
    );
  }

  resolve(call: CallState | undefined, outcome: "happened" | "did_not_happen" | "give_up"): void {
    if (!call) return;
    const runId = call.id.slice(0, call.id.lastIndexOf("."));
    const one = { toolCallId: call.id, outcome, argsDigest: call.argsDigest };
    this.command(
      { type: "resume", runId, body: { resolutions: [one] } },
      { resume: { toolDigests: { [call.id]: DIGEST }, edits: {}, results: {} } },
    );
  }

  pass(ms: number): void {
    this.#now += ms;
    this.input({ type: "time_passed" });
  }

  crash(): void {
    this.input({ type: "woke" });
  }

  operator(verb: "take_over" | "release_handover" | { say: string }): void {
    if (verb === "take_over") this.command({ type: verb, body: {} }); // The user asks for a person first.
    if (typeof verb === "string") this.command({ type: verb, body: {} }, {}, OPERATOR);
    else this.command({ type: "say_as_operator", body: { text: verb.say } }, {}, OPERATOR);
  }

  get json(): string {
    return this.#transcript.messages();
  }

  get leavesOut(): number {
    return this.#transcript.leavesOut();
  }

  messages(): ChatMessage[] {
    return JSON.parse(`[${this.json}]`) as ChatMessage[];
  }

  /** What a strict provider has against a request made of the transcript as it is now. */
  violations(): readonly Violation[] {
    const body = `{"model":"m","messages":[{"role":"system","content":"s"}${this.json && ","}${this.json}]}`;
    return inspectChatRequest(new TextEncoder().encode(body)).violations;
  }

  /** The transcript of a cold start: folded anew, and only from the types that the actor reads for it. */
  cold(): string {
    const transcript = new ModelTranscript();
    const types: readonly string[] = TRANSCRIPT_EVENTS;
    for (const event of this.events) {
      if (types.includes(event.type)) transcript.append(event, (digest) => this.payloads.get(digest) ?? null);
    }
    return transcript.messages();
  }
}

export function answered(
  verdict: Extract<ModelResult, { kind: "answered" }>["verdict"],
  text = "",
  calls: readonly PreparedCall[] = [],
): ModelResult {
  const finishReason = calls.length > 0 ? "tool_calls" : "stop";
  return { kind: "answered", verdict, text: { text }, finishReason, calls, usage: NO_USAGE, request: REQUEST };
}
