/**
 * A world for one actor, in plain Node: virtual time, scripted model and tools, watchers that record, and a journal that
 * outlives the actor's memory. `crash()` forgets everything but the journal, as a killed process does.
 */
import { createHash } from "node:crypto";
import type { ActorPorts, Clock, Journal, ModelIo, ToolIo } from "../../src/actor/ports.ts";
import { ConversationActor } from "../../src/actor/actor.ts";
import type { Command } from "../../src/protocol/commands.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Delta } from "../../src/protocol/frames.ts";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";
import type { RequestContext } from "../../src/protocol/principal.ts";
import type { ModelResult, PreparedReady, ToolAnswer } from "../../src/run/inputs.ts";
import type { ModelEffect, ToolEffect } from "../../src/run/outstanding.ts";
import { NO_USAGE } from "../../src/run/state.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Time that moves only when the test says so. */
export class VirtualClock implements Clock {
  #now = 1_800_000_000_000;
  #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Runs everything that is due up to then, in order, letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = until;
    await settle();
  }

  forget(): void {
    this.#timers.clear();
  }
}

/** Lets every promise that can settle without a timer do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}

export interface ModelCall {
  readonly effect: ModelEffect;
  readonly io: ModelIo;
  readonly answer: (result: ModelResult) => void;
}
export interface ToolCallSeen {
  readonly effect: ToolEffect;
  readonly io: ToolIo;
  readonly answer: (result: ToolAnswer) => void;
}

export const CONVERSATION = conversationIdOf(new Uint8Array(16).fill(7));

export class World {
  readonly clock = new VirtualClock();
  readonly frames: Event[] = [];
  readonly deltas: Delta[] = [];
  readonly errors: { event: string; error: unknown }[] = [];
  readonly modelCalls: ModelCall[] = [];
  readonly toolCalls: ToolCallSeen[] = [];
  readonly journal: Journal;
  /** The tenant's register: it outlives the actor. */
  readonly claims = new Map<string, string>();
  agentsFail = false;
  publishingFails = false;
  registerFails = false;
  /** How far the log was at each drain. */
  readonly drainedTo: number[] = [];
  actor: ConversationActor;

  readonly #more: Partial<ActorPorts>;

  /** @param more ports in the place of the world's own */
  constructor(journal: Journal, more: Partial<ActorPorts> = {}) {
    this.journal = journal;
    this.#more = more;
    this.actor = this.#boot();
  }

  /** Memory is lost, timers and what is in flight with it; the journal stays. */
  crash(): void {
    this.clock.forget();
    this.modelCalls.length = 0;
    this.toolCalls.length = 0;
    this.actor = this.#boot();
  }

  send(command: Command, options: { key?: string; context?: RequestContext } = {}) {
    const { key, context = user("alice") } = options;
    return this.actor.command(context, {
      conversationId: CONVERSATION,
      command,
      ...(key === undefined ? {} : { idempotencyKey: key }),
    });
  }

  async create(): Promise<void> {
    await this.send({ type: "create_conversation", body: { agent: "test" } });
    await settle();
  }

  async start(text: string, key = `key-${text}`) {
    const answer = await this.send({ type: "start_run", body: { input: { text } } }, { key });
    await this.clock.advance(0);
    return answer;
  }

  lastModelCall(): ModelCall {
    const call = this.modelCalls.at(-1);
    if (!call) throw new Error("the model was not asked");
    return call;
  }

  async answer(result: ModelResult): Promise<void> {
    this.lastModelCall().answer(result);
    await this.clock.advance(0);
  }

  #boot(): ConversationActor {
    const ports: ActorPorts = {
      clock: this.clock,
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (event, error) => this.errors.push({ event, error }),
      },
      journal: this.journal,
      publisher: {
        events: (encoded) => {
          if (this.publishingFails) throw new Error("no publishing");
          this.frames.push(...encoded.map(({ json }) => JSON.parse(json) as Event));
        },
        delta: (delta) => this.deltas.push(delta),
        close: () => undefined,
      },
      model: {
        ask: (effect, io) =>
          new Promise((resolve) => {
            this.modelCalls.push({ effect, io, answer: (result) => resolve({ result, payloads: [] }) });
            io.signal.addEventListener("abort", () =>
              resolve({ result: { kind: "aborted", text: { text: "" }, usage: NO_USAGE }, payloads: [] }),
            );
          }),
      },
      tools: {
        call: (effect, io) =>
          new Promise((resolve) => {
            this.toolCalls.push({ effect, io, answer: (result) => resolve({ result, payloads: [] }) });
          }),
      },
      agents: {
        exists: (agent) => agent === "test",
        start: async () => {
          if (this.agentsFail) throw new Error("no such agent any more");
          return {
            agentDigest: "a".repeat(43),
            limits: { ...RUN_LIMITS },
            policy: {
              onLimit: "stop",
              handoverOnLimit: false,
              modelRetries: 0,
              cancelGraceMs: 10_000,
              backoffMs: 1_000,
            },
          };
        },
        toolDigest: async () => DIGEST,
        prepareEdit: async (_state, _run, call, args) => ({
          kind: "ready",
          args,
          argsDigest: "e".repeat(43),
          gate: call.gate ?? GATE,
          changed: false,
        }),
        prepareResult: () => ({ invalid: "not in this test" }),
      },
      registry: {
        claim: async (_, { key, digest, conversationId }) => {
          if (this.registerFails) throw new Error("no register");
          const held = this.claims.get(key);
          this.claims.set(key, held ?? `${conversationId} ${digest}`);
          return held === undefined || held === `${conversationId} ${digest}`;
        },
        release: async (_, { key }) => void this.claims.delete(key),
      },
      projector: {
        drain: async () => {
          this.drainedTo.push(this.actor.state.seq);
          return null;
        },
      },
      transcript: () => ({ append: () => undefined, messages: () => "", leavesOut: () => 0 }),
      generation: () => "abcd1234",
      sha256: async (text) => createHash("sha256").update(text).digest("base64url"),
      settings: { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000 },
      ...this.#more,
    };
    return new ConversationActor(ports);
  }
}

export const GATE = { quorum: 1, selfApproval: true, expiresInMs: 3_600_000 };
export const DIGEST = "d".repeat(43);
const SCOPES = ["conversations:read", "conversations:write", "confirmations:decide"];

export const user = (userId: string, more: Partial<RequestContext> = {}): RequestContext => ({
  tenantId: "t1",
  userId,
  roles: [],
  scopes: SCOPES,
  requestId: "req",
  traceId: "trace",
  expiresAt: Number.MAX_SAFE_INTEGER,
  ...more,
});

const REQUEST = { digest: "q".repeat(43), model: "scripted", parameters: {} };

export const said = (text: string): ModelResult => ({
  kind: "answered",
  verdict: "final",
  text: { text },
  finishReason: "stop",
  calls: [],
  usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 5 },
  request: REQUEST,
});

/** A plan of one call; gated and `once` unless told otherwise. */
export const planned = (more: Partial<PreparedReady> = {}): ModelResult => ({
  kind: "answered",
  verdict: "plan",
  text: { text: "" },
  finishReason: "tool_calls",
  usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 5 },
  request: REQUEST,
  calls: [
    {
      kind: "ready",
      tool: "transfer",
      title: "Transfer",
      effect: "once",
      args: { amount: 5 },
      argsDigest: DIGEST,
      toolDigest: DIGEST,
      gate: GATE,
      idempotencyKey: "outside-key",
      fingerprint: "transfer",
      timeoutMs: 30_000,
      dedupeWindowMs: 86_400_000,
      answersForKey: false,
      reversible: false,
      ...more,
    },
  ],
});

export const done = (toolCallId: string, data: unknown = {}): ToolAnswer => ({
  kind: "ok",
  payload: {
    schemaVersion: 1,
    kind: "tool_execution_result",
    toolCallId,
    tool: "transfer",
    success: true,
    displayText: "done",
    displayLang: "en",
    data,
  },
});
