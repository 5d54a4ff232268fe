/** A house for tools under test: one agent with them, a clock that is turned by hand, a log that is kept. */
import type { Clock, Log, ToolIo } from "../../../src/actor/ports.ts";
import { deriveKey } from "../../../src/effects/derive-key.ts";
import { ToolExecution } from "../../../src/effects/execute-call.ts";
import type { StandingOf } from "../../../src/effects/execute-standing.ts";
import { Preparation } from "../../../src/effects/preparation.ts";
import { OUTSIDE_KEY_PURPOSE } from "../../../src/effects/outside-key.ts";
import { ToolCatalogue } from "../../../src/effects/tool-catalogue.ts";
import type { ToolCircuits } from "../../../src/effects/tool-circuits.ts";
import { toolSettings } from "../../../src/effects/tool-settings.ts";
import { RUN_LIMITS } from "../../../src/protocol/limits.ts";
import type { Principal } from "../../../src/protocol/principal.ts";
import type { Metadata } from "../../../src/protocol/run.ts";
import type { PreparedCall, PreparedReady } from "../../../src/run/inputs.ts";
import type { ToolEffect } from "../../../src/run/outstanding.ts";
import { EMPTY, NO_USAGE, type CallState, type RunState, type State } from "../../../src/run/state.ts";
import { defineAgent, type AgentDefinition, type AgentEnvironment } from "../../../src/tools/agent-definition.ts";
import type { Tool } from "../../../src/tools/define-tool.ts";

export const CONVERSATION = "0123456789abcdefghjkmnpqrs";
export const RUN = `${CONVERSATION}.r1`;

export class HandClock implements Clock {
  #now = 1_000_000;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  now() {
    return this.#now;
  }
  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }
  /** Runs what is due by then, in order. */
  turn(ms: number) {
    this.#now += ms;
    for (const { run } of this.#timers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)) run();
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
  }
  get standing() {
    return this.#timers.length;
  }
}

export function principal(more: Partial<Principal> = {}): Principal {
  return { tenantId: "t1", userId: "user-a", roles: [], scopes: ["acts"], locale: "en", ...more };
}

export function runOf(more: Partial<RunState> = {}): RunState {
  return {
    n: 1,
    id: RUN,
    principal: principal(),
    input: { text: "hi" },
    limits: RUN_LIMITS,
    granted: RUN_LIMITS,
    policy: { onLimit: "stop", handoverOnLimit: false, modelRetries: 0, cancelGraceMs: 10_000, backoffMs: 1_000 },
    agentDigest: "",
    metadata: {},
    retryOf: null,
    continues: false,
    createdAt: 0,
    startedAt: 0,
    finishedAt: null,
    stop: null,
    deadlineAt: null,
    runningMs: 0,
    runningSince: null,
    interrupted: false,
    steps: 1,
    step: null,
    calls: [],
    callCount: 0,
    usage: NO_USAGE,
    toolErrors: 0,
    failures: [],
    streaks: [],
    worked: [],
    truncations: 0,
    halt: null,
    continuation: null,
    budget: null,
    ...more,
  };
}

export function stateOf(agent: string, metadata: Metadata = {}): State {
  const identity = {
    conversationId: CONVERSATION,
    tenantId: "t1",
    generation: "aaaaaaaa",
    owner: "user-a",
    agent,
    metadata,
  };
  return { ...EMPTY, identity };
}

const nowhere: AgentEnvironment = {
  app: {} as D1Database,
  fetch: () => Promise.reject(new Error("no network here")),
  variable: () => undefined,
  now: () => 0,
};

export interface Logged {
  readonly event: string;
  readonly error?: unknown;
  readonly fields?: Record<string, unknown>;
}

export async function house(
  tools: readonly Tool<never>[],
  more: Partial<AgentDefinition<unknown>> & {
    readonly metadata?: Metadata;
    readonly circuits?: ToolCircuits;
    readonly standingOf?: StandingOf;
  } = {},
) {
  const { metadata, circuits, standingOf, ...definition } = more;
  const agent = defineAgent<unknown>({
    name: "test",
    title: { en: "Test", zh: "测试" },
    description: { en: "", zh: "" },
    prompt: ({ locale }) => `You test (${locale ?? "en"}).`,
    tools: tools as readonly Tool<unknown>[],
    deps: () => null,
    ...definition,
  });
  const logged: Logged[] = [];
  const log: Log = {
    info: (event, fields = {}) => void logged.push({ event, fields }),
    warn: (event, fields = {}) => void logged.push({ event, fields }),
    error: (event, error, fields = {}) => void logged.push({ event, error, fields }),
  };
  const clock = new HandClock();
  const settings = toolSettings({ model: "m" });
  const key = await deriveKey("a master secret", OUTSIDE_KEY_PURPOSE);
  const catalogue = new ToolCatalogue([agent], nowhere);
  const preparation = new Preparation(catalogue, { clock, log, settings, key });
  const execution = new ToolExecution(catalogue, {
    clock,
    log,
    settings,
    ...(circuits ? { circuits } : {}),
    ...(standingOf ? { standingOf } : {}),
  });
  const state = stateOf("test", metadata);

  const prepare = (
    calls: readonly { name: string; arguments: string; providerId?: string | null }[],
    at: { run?: RunState; signal?: AbortSignal } = {},
  ): Promise<PreparedCall[]> =>
    preparation.calls(
      { run: at.run ?? runOf(), firstCall: 1 },
      { state, signal: at.signal ?? new AbortController().signal },
      calls.map((call) => ({ providerId: null, ...call })),
    );
  /** One call that is expected to be prepared. */
  const ready = async (name: string, args: unknown, run?: RunState): Promise<PreparedReady> => {
    const [call] = await prepare([{ name, arguments: JSON.stringify(args) }], run ? { run } : {});
    if (call?.kind !== "ready") throw new Error(`refused: ${JSON.stringify(call)}`);
    return call;
  };
  const execute = (call: CallState, io: Partial<ToolIo> & Partial<Pick<ToolEffect, "mode" | "run" | "attempt">> = {}) =>
    execution.call(
      {
        kind: "tool",
        id: call.id,
        attempt: io.attempt ?? 1,
        incarnation: 1,
        run: io.run ?? runOf(),
        call,
        mode: io.mode ?? "execute",
        deadlineAt: clock.now() + call.timeoutMs,
      },
      { state, signal: io.signal ?? new AbortController().signal, authHeader: io.authHeader ?? null },
    );
  return { agent, catalogue, preparation, execution, clock, logged, settings, state, prepare, ready, execute };
}

/** The call as the core keeps it once it has been proposed and started. */
export function callOf(prepared: PreparedReady, more: Partial<CallState> = {}): CallState {
  const { kind: _, modelArgs: _m, providerId: _p, expect, preview, scope, undo, ...rest } = prepared;
  return {
    ...rest,
    n: 1,
    id: `${RUN}.t1`,
    step: 1,
    expect,
    preview: preview ?? null,
    scope: scope ?? null,
    undo: undo ?? null,
    state: "executing",
    attempt: 1,
    mode: "execute",
    firstStartedAt: 0,
    deadlineAt: null,
    notBefore: null,
    ambiguous: false,
    repeats: 0,
    expiresAt: null,
    decisions: [],
    closed: true,
    expiredUndecided: false,
    resolution: null,
    deniedAttempt: 0,
    ...more,
  };
}
