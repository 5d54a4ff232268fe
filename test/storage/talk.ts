/** A conversation driven by the real core over a journal, without the actor: inputs in, commits out. */
import type { Commit, Journal, Payload, Receipt, TimerKind } from "../../src/actor/ports.ts";
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import type { Event } from "../../src/protocol/events.ts";
import { isTerminal } from "../../src/protocol/events.ts";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import { decide } from "../../src/run/decide.ts";
import type { Input, ModelResult, PreparedReady, TextBody } from "../../src/run/inputs.ts";
import { EMPTY, NO_USAGE, type State } from "../../src/run/state.ts";
import { runView } from "../../src/run/views.ts";

export const CONVERSATION = conversationIdOf(new Uint8Array(16).fill(7));
export const RUN = `${CONVERSATION}.r1`;
export const ALICE: Principal = {
  tenantId: "t1",
  userId: "alice",
  roles: ["staff"],
  scopes: ["conversations:read", "conversations:write", "confirmations:decide"],
};
const DIGEST = "d".repeat(43);
const START = { agentDigest: "a".repeat(43), limits: { ...RUN_LIMITS } };
const POLICY = {
  onLimit: "stop",
  handoverOnLimit: false,
  modelRetries: 0,
  cancelGraceMs: 10_000,
  backoffMs: 1_000,
} as const;
const REQUEST = { digest: "q".repeat(43), model: "scripted", parameters: {} };

export interface Extras {
  readonly payloads?: readonly Payload[];
  readonly receipt?: Receipt;
  readonly timers?: Partial<Record<TimerKind, number | null>>;
}

export class Talk {
  readonly journal: Journal;
  readonly committed: Event[] = [];
  state: State;
  now = 1_800_000_000_123;

  constructor(journal: Journal) {
    this.journal = journal;
    this.state = journal.open() ?? EMPTY;
  }

  /** What the input would commit, without committing it. */
  prepare(input: Input, extras: Extras = {}): Commit {
    this.now += 1_000;
    const decided = decide(this.state, input, this.now);
    const [first] = decided.events;
    const ended = decided.events.filter(({ type }) => isTerminal(type));
    const { latest } = decided.state;
    return {
      state: decided.state,
      events: decided.events.map(encodeEvent),
      causes: first ? [{ seq: first.seq, now: this.now, input }] : [],
      payloads: extras.payloads ?? [],
      ...(extras.receipt ? { receipt: extras.receipt } : {}),
      endedRuns: ended.length > 0 && latest ? [runView(decided.state, latest)] : [],
      timers: extras.timers ?? {},
    };
  }

  turn(input: Input, extras: Extras = {}): Commit {
    const commit = this.prepare(input, extras);
    this.journal.commit(commit);
    this.state = commit.state;
    this.committed.push(...commit.events.map(({ event }) => event));
    return commit;
  }

  create(metadata: Record<string, string> = {}): Commit {
    return this.turn(created(metadata));
  }

  say(text: string, extras: Extras = {}): Commit {
    return this.turn(started(text), extras);
  }

  answer(text: TextBody, calls: readonly PreparedReady[] = [], extras: Extras = {}): Commit {
    const step = this.state.active?.step;
    return this.turn(
      {
        type: "model_answered",
        effectId: `${this.state.active?.id ?? ""}.s${step?.n ?? 0}`,
        attempt: step?.attempt ?? 0,
        incarnation: this.state.incarnation,
        result: answered(text, calls),
      },
      extras,
    );
  }

  /** A whole run: asked, answered. */
  chat(n: number): void {
    this.say(`question ${n}`);
    this.answer({ text: `answer ${n}` });
  }
}

export const created = (metadata: Record<string, string> = {}): Input => ({
  type: "command",
  command: { type: "create_conversation", body: { agent: "test", metadata } },
  principal: ALICE,
  facts: { create: { conversationId: CONVERSATION, generation: "abcd1234" } },
});

export const started = (text: string): Input => ({
  type: "command",
  command: { type: "start_run", body: { input: { text } } },
  principal: ALICE,
  facts: { start: { ...START, policy: POLICY } },
});

const answered = (text: TextBody, calls: readonly PreparedReady[]): ModelResult => ({
  kind: "answered",
  verdict: calls.length > 0 ? "plan" : "final",
  text,
  finishReason: calls.length > 0 ? "tool_calls" : "stop",
  calls,
  usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 5 },
  request: REQUEST,
});

/** A gated call that may not be sent twice. */
export const call = (args: unknown = { amount: 5 }): PreparedReady => ({
  kind: "ready",
  tool: "transfer",
  title: "Transfer",
  effect: "once",
  args,
  argsDigest: DIGEST,
  toolDigest: DIGEST,
  gate: { quorum: 1, selfApproval: true, expiresInMs: 3_600_000 },
  idempotencyKey: "outside-key",
  fingerprint: "transfer",
  timeoutMs: 30_000,
  dedupeWindowMs: 86_400_000,
  answersForKey: false,
  reversible: false,
});
