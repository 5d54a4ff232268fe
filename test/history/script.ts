/** Real logs: inputs driven through the core, with the state beside them that the history must agree with. */
import type { Command, ResumeRun } from "../../src/protocol/commands.ts";
import type { Event } from "../../src/protocol/events.ts";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import type { ToolResult } from "../../src/protocol/tool-result.ts";
import type { Rejection } from "../../src/protocol/problems.ts";
import { decide } from "../../src/run/decide.ts";
import type { Facts, Input, ModelResult, PreparedCall, PreparedReady, ToolAnswer } from "../../src/run/inputs.ts";
import { outstanding } from "../../src/run/outstanding.ts";
import { EMPTY, type State } from "../../src/run/state.ts";

export const START = 1_800_000_000_000;
const USAGE = { inputTokens: 10, outputTokens: 5, costMicroUsd: 7, estimated: false, model: "scripted" };

export const conversationId = (n: number): string => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, n);
  return conversationIdOf(bytes);
};

export const person = (userId: string, more: Partial<Principal> = {}): Principal => ({
  tenantId: "acme",
  userId,
  roles: [],
  scopes: ["confirmations:decide", "lab:transfer"],
  ...more,
});

export function transfer(n: number, more: Partial<PreparedReady> = {}): PreparedReady {
  return {
    kind: "ready",
    tool: "transfer",
    title: "Transfer",
    effect: "once",
    args: { recipient_id: `r${n}`, amount_cents: n },
    argsDigest: `digest-${n}`,
    toolDigest: "tool-1",
    gate: { quorum: 1, selfApproval: true, expiresInMs: 3_600_000 },
    preview: { rows: [{ label: "To", value: `r${n}` }] },
    idempotencyKey: `key-${n}`,
    scope: "lab:transfer",
    fingerprint: `transfer-${n}`,
    timeoutMs: 60_000,
    dedupeWindowMs: 86_400_000,
    answersForKey: false,
    reversible: false,
    undo: "transfer it back",
    ...more,
  };
}

export class Script {
  readonly events: Event[] = [];
  /** The state after each commit, by the seq of its last event. */
  readonly states = new Map<number, State>();
  readonly id: string;
  state: State = EMPTY;
  now = START;
  readonly #owner: Principal;

  constructor({
    n = 1,
    owner = person("ann"),
    agent = "lab",
    title = undefined as string | undefined,
    at = START,
  } = {}) {
    this.id = conversationId(n);
    this.now = at;
    this.#owner = owner;
    const body = { agent, ...(title === undefined ? {} : { title }), metadata: { colour: "green" } };
    const create = { conversationId: this.id, generation: `gen${String(n).padStart(5, "0")}` };
    this.command({ type: "create_conversation", body }, owner, { create });
  }

  get subject(): { tenantId: string; conversationId: string; generation: string } {
    const { identity } = this.state;
    if (!identity) throw new Error("not created");
    return identity;
  }

  feed(input: Input): this {
    const refused = this.offer(input);
    if (refused) throw new Error(`${refused.code}: ${refused.detail}`);
    return this;
  }

  /** What time did is kept even when the input is then refused. */
  offer(input: Input): Rejection | null {
    let refused: Rejection | null = null;
    for (const each of [{ type: "time_passed" } as const, input]) {
      const { events, state, rejection } = decide(this.state, each, this.now);
      refused = rejection;
      this.events.push(...events);
      this.state = state;
      this.states.set(state.seq, state);
    }
    this.now += 1_000;
    return refused;
  }

  command(command: Command, principal: Principal = this.#owner, facts: Facts = {}): this {
    return this.feed({ type: "command", command, principal, facts });
  }

  say(text: string, principal?: Principal, whenBusy: "enqueue" | "replace" = "enqueue", policy = {}): this {
    const start = {
      agentDigest: "agent-1",
      limits: RUN_LIMITS,
      policy: {
        onLimit: "stop",
        handoverOnLimit: false,
        modelRetries: 0,
        cancelGraceMs: 10_000,
        backoffMs: 1_000,
        ...policy,
      },
    } as const;
    return this.command({ type: "start_run", body: { input: { text }, whenBusy } }, principal, { start });
  }

  #answer(result: ModelResult): this {
    const effect = outstanding(this.state, this.now).find(({ kind }) => kind === "model");
    if (!effect) throw new Error("the model is not asked");
    const { id: effectId, attempt, incarnation } = effect;
    return this.feed({ type: "model_answered", effectId, attempt, incarnation, result });
  }

  plan(calls: readonly PreparedCall[], text = ""): this {
    return this.#answer({
      kind: "answered",
      verdict: calls.length > 0 ? "plan" : "final",
      text: { text },
      finishReason: calls.length > 0 ? "tool_calls" : "stop",
      calls,
      usage: USAGE,
      request: { digest: "request-1", model: "scripted", parameters: {} },
    });
  }

  model(result: ModelResult): this {
    return this.#answer(result);
  }

  tool(call: number, result: ToolAnswer): this {
    const effect = outstanding(this.state, Number.MAX_SAFE_INTEGER).find(({ id }) => id.endsWith(`.t${call}`));
    if (!effect) throw new Error(`call ${call} is not out`);
    const { id: effectId, attempt, incarnation } = effect;
    return this.feed({ type: "tool_answered", effectId, attempt, incarnation, result });
  }

  call(n: number, run = 1): string {
    return `${this.id}.r${run}.t${n}`;
  }

  resume(body: ResumeRun, principal?: Principal, run = 1, more: Partial<NonNullable<Facts["resume"]>> = {}): this {
    const named = [...(body.decisions ?? []), ...(body.resolutions ?? [])].map(({ toolCallId }) => toolCallId);
    const toolDigests = Object.fromEntries(named.map((id) => [id, "tool-1"]));
    return this.command({ type: "resume", runId: `${this.id}.r${run}`, body }, principal, {
      resume: { toolDigests, edits: {}, results: {}, ...more },
    });
  }

  approve(call: number, principal?: Principal, digest = `digest-${call}`): this {
    return this.resume(
      { decisions: [{ toolCallId: this.call(call), argsDigest: digest, decision: "approve" }] },
      principal,
    );
  }

  cancel(run = 1): this {
    return this.command({ type: "cancel_run", runId: `${this.id}.r${run}`, body: {} });
  }

  share(userId: string, role: "owner" | "editor" | "approver" | "viewer"): this {
    return this.command({ type: "put_participant", userId, body: { role } });
  }

  payload(call: number): ToolResult {
    return {
      schemaVersion: 1,
      kind: "tool_execution_result",
      toolCallId: this.call(call),
      tool: "transfer",
      success: true,
      displayText: `done ${call}`,
      displayLang: "en",
      data: { receipt: call, note: "Zażółć 你好 🚀" },
    };
  }

  result(call: number): ToolAnswer {
    return { kind: "ok", payload: this.payload(call) };
  }
}

export const ambiguous = (call: string): ToolAnswer => {
  const error = { layer: "transport", code: "timeout", message: "No answer.", retryable: false } as const;
  return {
    kind: "ambiguous",
    error,
    payload: {
      schemaVersion: 1,
      kind: "tool_execution_result",
      toolCallId: call,
      tool: "transfer",
      success: false,
      displayText: "",
      displayLang: "en",
      error,
    },
    reason: "timeout",
    repeatable: true,
  };
};

/** One log with a bit of everything: shared, two approvals, a refusal, an unknown, a queue, a cancel, a hand-over. */
export function longStory(n = 1): Script {
  const s = new Script({ n });
  s.share("bob", "approver").share("eve", "viewer").share("joe", "editor");
  s.say("Please transfer 两笔钱 to them");
  s.plan(
    [
      transfer(1, { gate: { quorum: 2, selfApproval: true, expiresInMs: 3_600_000 } }),
      transfer(2),
      { kind: "refused", tool: "nothing", modelArgs: {}, fingerprint: "x", payload: refusal(s.call(3)) },
      transfer(4, { effect: "read", gate: null, tool: "lookup" }),
    ],
    "I will move the money",
  );
  s.tool(4, s.result(4)).approve(1).approve(1, person("bob"));
  s.resume({ decisions: [{ toolCallId: s.call(2), argsDigest: "digest-2", decision: "reject", reason: "no" }] });
  s.tool(1, ambiguous(s.call(1)));
  s.say("another one", person("joe")).say("and a third");
  s.resume({ resolutions: [{ toolCallId: s.call(1), outcome: "did_not_happen", argsDigest: "digest-1" }] });
  s.tool(1, ambiguous(s.call(1)));
  s.resume({ resolutions: [{ toolCallId: s.call(1), outcome: "happened" }] });
  s.plan([], "All done.");
  s.plan([transfer(1)]).cancel(2);
  s.command({ type: "update_conversation", body: { title: "Two transfers", archived: true } });
  const operator = person("oscar", { scopes: ["handover:operate"] });
  s.command({ type: "take_over", body: {} }).command({ type: "take_over", body: {} }, operator);
  s.command({ type: "say_as_operator", body: { text: "Let me look." } }, operator);
  return s.command({ type: "release_handover", body: {} }, operator).plan([transfer(1)]);
}

function refusal(toolCallId: string): ToolResult {
  return {
    schemaVersion: 1,
    kind: "tool_execution_result",
    toolCallId,
    tool: "nothing",
    success: false,
    displayText: "No such tool.",
    displayLang: "en",
  };
}
