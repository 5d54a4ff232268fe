/**
 * The tools and the backend behind them. The backend keeps what was really done, by key; what it answers, and whether the
 * answer arrives, is the schedule's.
 *
 * Its contract, which the effect classes rely on: `idempotent` and `probeable` tools take a key once; a probe's "absent"
 * also holds for requests with that key that are still on their way, and so does a refusal that answers for the key.
 */
import type { ToolIo } from "../src/actor/ports.ts";
import type { Gate } from "../src/protocol/events.ts";
import { DURATIONS } from "../src/protocol/limits.ts";
import type { EffectClass } from "../src/protocol/tool-call.ts";
import type { ToolResult } from "../src/protocol/tool-result.ts";
import type { PreparedCall, ToolAnswer } from "../src/run/inputs.ts";
import type { ToolEffect } from "../src/run/outstanding.ts";
import type { Kernel } from "./kernel.ts";
import type { LifePort } from "./life-port.ts";
import { sha256 } from "./digest.ts";
import type { Observation, ToolRequest } from "./observation.ts";
import type { Config, ToolKind } from "./config.ts";
import { randomOf, type Random } from "./random.ts";

interface SimTool {
  readonly effect: EffectClass;
  readonly gated: boolean;
  readonly scope?: string;
  readonly answersForKey?: boolean;
  readonly dedupeWindowMs?: number;
}

export const TOOLS: Readonly<Record<string, SimTool>> = {
  lookup: { effect: "read", gated: false },
  read_secret: { effect: "read", gated: true },
  note: { effect: "once", gated: false },
  transfer: { effect: "once", gated: true },
  restart: { effect: "once", gated: true, scope: "services:restart" },
  pay: { effect: "idempotent", gated: true },
  pay_now: { effect: "idempotent", gated: false, answersForKey: true },
  pay_soon: { effect: "idempotent", gated: false, dedupeWindowMs: 3_000 },
  wire: { effect: "probeable", gated: true },
  wire_now: { effect: "probeable", gated: false },
};

/** What the model proposes, by likelihood; the last is no tool at all. */
const PROPOSED = ["lookup", "lookup", "read_secret", ...Object.keys(TOOLS), "transfer", "transfer", "unknown"];

export class ToolBackend {
  readonly #kernel: Kernel;
  readonly #observation: Observation;
  readonly #config: Config;
  readonly #seed: number;
  readonly #versions = new Map<string, number>();
  /** How often something was done, by key. */
  readonly applied = new Map<string, number>();
  readonly #fenced = new Map<string, number>();
  /** Everything works from now on. */
  calm = false;
  order = 0;

  constructor(kernel: Kernel, observation: Observation, config: Config, seed: number) {
    this.#kernel = kernel;
    this.#observation = observation;
    this.#config = config;
    this.#seed = seed;
  }

  /** The tool, or its policy, becomes another: what was shown before is stale. */
  change(tool: string): void {
    this.#versions.set(tool, (this.#versions.get(tool) ?? 0) + 1);
  }

  digestOf(tool: string): string | null {
    return tool in TOOLS ? sha256(`${tool} ${this.#versions.get(tool) ?? 0}`) : null;
  }

  argsDigestOf(toolCallId: string, tool: string, args: unknown): string {
    return sha256(JSON.stringify({ toolCallId, tool, toolDigest: this.digestOf(tool), args }));
  }

  /** A call as the end of the model effect would prepare it. */
  prepare(random: Random, toolCallId: string, named?: string): PreparedCall {
    const tool = named ?? random.pick(PROPOSED) ?? "lookup";
    const known = TOOLS[tool];
    const args = { to: random.below(3), amount: random.below(1_000) };
    const fingerprint = `${tool} ${args.to}`;
    if (!known) {
      const error = {
        layer: "runtime" as const,
        code: "unknown_tool",
        message: "There is no such tool.",
        retryable: false,
      };
      return { kind: "refused", tool, modelArgs: args, fingerprint, payload: resultOf(toolCallId, tool, { error }) };
    }
    const { gates } = this.#config;
    const gate: Gate | null = known.gated ? { ...gates } : null;
    return {
      kind: "ready",
      tool,
      title: tool,
      effect: known.effect,
      args,
      argsDigest: this.argsDigestOf(toolCallId, tool, args),
      toolDigest: this.digestOf(tool) ?? "",
      gate,
      idempotencyKey: sha256(`key ${toolCallId}`),
      ...(known.scope === undefined ? {} : { scope: known.scope }),
      fingerprint,
      timeoutMs: random.pick([1_000, 5_000, 30_000]),
      dedupeWindowMs: known.dedupeWindowMs ?? 86_400_000,
      answersForKey: known.answersForKey ?? false,
      reversible: false,
    };
  }

  async call(
    port: LifePort,
    effect: ToolEffect,
    { signal }: ToolIo,
  ): Promise<{ result: ToolAnswer; payloads: readonly [] }> {
    const { call, mode, attempt } = effect;
    const random = randomOf(this.#seed, "tool", call.id, attempt, mode, this.calm ? 1 : 0);
    const kind: ToolKind = this.calm ? "ok" : random.weighted(this.#config.tool);
    if (kind === "not_sent") {
      await port.later(random.below(5));
      return { result: failed(call.id, call.tool, "not_sent", "TOOL_CLOSED"), payloads: [] };
    }
    const request: ToolRequest = {
      at: 0,
      head: 0,
      life: port.n,
      toolCallId: call.id,
      tool: call.tool,
      effect: call.effect,
      mode,
      attempt,
      incarnation: effect.incarnation,
      key: call.idempotencyKey,
      argsDigest: call.argsDigest,
      args: JSON.stringify(call.args),
      zombie: false,
      arrivedAt: null,
      applied: false,
      answer: null,
      aborted: false,
    };
    const answered = new Promise<ToolAnswer>((resolve) => {
      port.gate(() => {
        // Held until it was durable, and by then nobody wanted it any more.
        if (signal.aborted) return;
        const sent = { ...request, at: this.#kernel.now, head: port.head(), zombie: port.isZombie() };
        this.#observation.tools.push(sent);
        port.strike("tool");
        this.#travel(
          random,
          kind,
          sent,
          (answer, ms) => {
            void port.later(ms).then(() => {
              sent.answer ??= { at: this.#kernel.now, kind: answer.kind, life: port.n };
              resolve(answer);
            });
          },
          call.timeoutMs,
        );
        signal.addEventListener("abort", () => (sent.aborted = true));
      });
      const abort = () => {
        void port.later(DURATIONS.abortSettleMs).then(() => resolve(ambiguous(call.id, call.tool, "cancelled", true)));
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort);
    });
    return { result: await answered, payloads: [] };
  }

  #travel(
    random: Random,
    kind: ToolKind,
    request: ToolRequest,
    answer: (answer: ToolAnswer, ms: number) => void,
    timeoutMs: number,
  ): void {
    if (kind === "lost") return;
    const slow = random.chance(this.#config.lateLanding * 0.2);
    const back = random.between(1, 60);
    this.#kernel.after(slow ? random.between(500, 20_000) : random.between(1, 80), () => {
      if (request.aborted && random.chance(0.5)) return;
      request.arrivedAt = this.#kernel.now;
      const said = request.mode === "probe" ? this.#probe(request, kind) : this.#execute(request, kind, random);
      if (said) answer(said, kind === "late" ? Math.max(back, timeoutMs + random.between(-100, 200)) : back);
    });
  }

  #probe({ toolCallId, tool, key, attempt }: ToolRequest, kind: ToolKind): ToolAnswer | null {
    switch (kind) {
      case "hangs":
      case "hangs_applied":
        return null;
      case "broken_before":
      case "broken_after":
      case "reset_after":
        return ambiguous(toolCallId, tool, "ambiguous", true);
      default: {
        const done = this.applied.get(key) ?? 0;
        if (done > 0) return { kind: "ok", payload: resultOf(toolCallId, tool, { data: { done }, source: "probe" }) };
        this.#fenced.set(key, attempt);
        return { kind: "absent" };
      }
    }
  }

  #execute(request: ToolRequest, kind: ToolKind, random: Random): ToolAnswer | null {
    const { toolCallId, tool } = request;
    const ok = (): ToolAnswer => {
      const order = this.#apply(request);
      return { kind: "ok", payload: resultOf(toolCallId, tool, { data: { order } }) };
    };
    switch (kind) {
      case "ok":
      case "late":
        return ok();
      case "refused":
      case "not_sent":
        // It knows the key already: what it says then is what was done.
        if (request.effect !== "once" && (this.applied.get(request.key) ?? 0) > 0) return ok();
        if (TOOLS[tool]?.answersForKey) this.#fenced.set(request.key, request.attempt);
        return failed(toolCallId, tool, "definitive", "TOOL_REFUSES");
      case "broken_before":
      case "lost":
        return ambiguous(toolCallId, tool, "ambiguous", true);
      case "broken_after":
      case "reset_after":
        this.#apply(request);
        return ambiguous(toolCallId, tool, "ambiguous", true);
      case "hangs":
        return null;
      case "hangs_applied":
        this.#apply(request);
        return null;
      case "contract":
        if (random.chance(0.5)) this.#apply(request);
        return ambiguous(toolCallId, tool, "ambiguous", false);
    }
  }

  #apply(request: ToolRequest): number {
    const { effect, key, attempt } = request;
    this.order += 1;
    if (effect === "read") return this.order;
    const done = this.applied.get(key) ?? 0;
    const knowsKeys = effect === "idempotent" || effect === "probeable";
    if (knowsKeys && (done > 0 || (this.#fenced.get(key) ?? 0) > attempt)) return done;
    this.applied.set(key, done + 1);
    request.applied = true;
    return this.order;
  }
}

type Said = Pick<ToolResult, "data" | "error" | "source">;

export function resultOf(toolCallId: string, tool: string, said: Partial<Said>): ToolResult {
  const { data, error, source } = said;
  return {
    schemaVersion: 1,
    kind: "tool_execution_result",
    toolCallId,
    tool,
    success: error === undefined,
    displayText: error === undefined ? "done" : error.message,
    displayLang: "en",
    ...(data === undefined ? {} : { data }),
    ...(error === undefined ? {} : { error }),
    ...(source === undefined ? {} : { source }),
  };
}

function failed(toolCallId: string, tool: string, proof: "not_sent" | "definitive", code: string): ToolAnswer {
  const error = { layer: "gateway" as const, code, message: "The tool refuses.", retryable: false };
  return { kind: "failed", proof, payload: resultOf(toolCallId, tool, { error }) };
}

function ambiguous(
  toolCallId: string,
  tool: string,
  reason: "ambiguous" | "cancelled",
  repeatable: boolean,
): ToolAnswer {
  const code = repeatable ? "timeout" : "tool_contract_violated";
  const error = { layer: "transport" as const, code, message: "Nobody knows.", retryable: repeatable };
  return { kind: "ambiguous", reason, repeatable, error, payload: resultOf(toolCallId, tool, { error }) };
}
