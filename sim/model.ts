/** The model's provider: it streams, plans, refuses, fails, is cut, goes silent, as the schedule says. */
import type { ModelIo, Payload } from "../src/actor/ports.ts";
import { toolCallIdOf } from "../src/protocol/ids.ts";
import { LIMITS } from "../src/protocol/limits.ts";
import { stopOf, type StopCode } from "../src/protocol/stops.ts";
import { cutText, utf8Bytes } from "../src/protocol/text.ts";
import type { ModelResult, PreparedCall, TextBody } from "../src/run/inputs.ts";
import type { ModelEffect } from "../src/run/outstanding.ts";
import { NO_USAGE } from "../src/run/state.ts";
import { sha256 } from "./digest.ts";
import type { Kernel } from "./kernel.ts";
import { leaving, type LifePort } from "./life-port.ts";
import type { ModelRequest, Observation } from "./observation.ts";
import type { Config, ModelKind } from "./config.ts";
import type { Plan, Script } from "./plan.ts";
import { randomOf, type Random } from "./random.ts";
import type { ToolBackend } from "./tools.ts";

interface Answered {
  readonly result: ModelResult;
  readonly payloads: readonly Payload[];
}

/** After so many steps it comes to an end. */
const LAST_STEP = 5;
const FAILURES = ["model_error", "model_rate_limited", "model_overloaded", "model_unauthorized"] as const;
const TEXTLESS: readonly ModelKind[] = ["empty", "refused", "failed", "silent", "no_budget"];

export class ModelProvider {
  readonly #kernel: Kernel;
  readonly #observation: Observation;
  readonly #config: Config;
  readonly #tools: ToolBackend;
  readonly #seed: number;
  readonly #script: Script | undefined;
  calm = false;

  constructor(kernel: Kernel, observation: Observation, config: Config, tools: ToolBackend, { seed, script }: Plan) {
    this.#kernel = kernel;
    this.#observation = observation;
    this.#config = config;
    this.#tools = tools;
    this.#seed = seed;
    this.#script = script;
  }

  async ask(port: LifePort, effect: ModelEffect, { signal, transcript, onText }: ModelIo): Promise<Answered> {
    const n = Number(effect.id.slice(effect.id.lastIndexOf(".s") + 2));
    const random = randomOf(this.#seed, "model", effect.id, effect.attempt);
    const script = this.#script?.calls(effect.run.n, n);
    const planned: ModelKind = (script ?? []).length > 0 ? "plan" : "text";
    const drawn = () => (n >= LAST_STEP ? "text" : random.weighted(this.#config.model));
    const kind: ModelKind = this.calm ? "text" : script ? planned : drawn();
    let text = "";
    const usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 5, model: "scripted" };
    const aborted = async (): Promise<Answered> => {
      await port.later(random.below(3));
      return { result: { kind: "aborted", text: { text }, usage }, payloads: [] };
    };
    if (signal.aborted) return aborted();
    if (kind === "no_budget") {
      await port.later(random.below(5));
      const retryAt = random.chance(0.7) ? { retryAt: this.#kernel.now + random.between(0, 20_000) } : {};
      return { result: { kind: "no_budget", reason: random.pick(["budget", "paused"]), ...retryAt }, payloads: [] };
    }
    const request: ModelRequest = {
      at: 0,
      head: 0,
      life: port.n,
      runId: effect.run.id,
      step: n,
      attempt: effect.attempt,
      incarnation: effect.incarnation,
      transcript: transcript.messages(),
      zombie: false,
      text: "",
      closedAt: null,
      aborted: false,
      answer: null,
    };
    signal.addEventListener("abort", () => {
      request.aborted = true;
      request.closedAt ??= this.#kernel.now;
    });
    /** False: aborted meanwhile. */
    const wait = (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        signal.addEventListener("abort", () => resolve(false), { once: true });
        if (Number.isFinite(ms)) void port.later(ms).then(() => resolve(!signal.aborted));
      });
    await leaving(port, random.between(1, 40), () => {
      if (signal.aborted) return;
      Object.assign(request, { at: this.#kernel.now, head: port.head(), zombie: port.isZombie() });
      this.#observation.models.push(request);
      port.strike("model");
    });
    const big = random.chance(0.01);
    const chunks = TEXTLESS.includes(kind) ? 0 : random.below(4) + (kind === "plan" ? 0 : 1);
    for (let at = 0; at < chunks; at++) {
      if (!(await wait(random.pick([1, 10, 60, 700])))) return aborted();
      const chunk = big ? `${"word ".repeat(2_000)}` : `word${random.below(100)} `;
      text += chunk;
      request.text = text;
      onText(chunk, 0);
    }
    const last =
      kind === "silent" ? effect.run.limits.maxFirstByteMs : kind === "stalls" ? Infinity : random.between(1, 30);
    if (!(await wait(last))) return aborted();
    request.closedAt ??= this.#kernel.now;
    const calls = kind === "plan" || kind === "truncated_calls" ? this.#calls(random, effect, script) : [];
    const { body, payloads } = bodyOf(text);
    const result = this.#result(kind, random, body, calls);
    request.answer = { at: this.#kernel.now, kind: result.kind };
    return { result, payloads };
  }

  #calls(random: Random, effect: ModelEffect, script: readonly string[] | undefined): PreparedCall[] {
    const tools = script ?? Array.from({ length: random.between(1, this.#config.calls) }, () => undefined);
    return tools.map((tool, at) =>
      this.#tools.prepare(random, toolCallIdOf(effect.run.id, effect.firstCall + at), tool),
    );
  }

  #result(kind: ModelKind, random: Random, text: TextBody, calls: readonly PreparedCall[]): ModelResult {
    const usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 5, costMicroUsd: 3, model: "scripted" };
    const request = { digest: sha256("request"), model: "scripted", parameters: {} };
    const answered = (
      verdict: Extract<ModelResult, { kind: "answered" }>["verdict"],
      finishReason: string,
    ): ModelResult => ({ kind: "answered", verdict, text, finishReason, calls, usage, request });
    const failed = (code: StopCode): ModelResult => ({
      kind: "failed",
      stop: stopOf(code, "The provider failed."),
      text,
      finishReason: null,
      usage,
      request,
    });
    switch (kind) {
      case "text":
        return answered("final", "stop");
      case "plan":
        return answered("plan", "tool_calls");
      case "truncated_calls":
        return answered("truncated_calls", "length");
      case "truncated_text":
        return answered("truncated_text", "length");
      case "empty":
        return answered("empty", "stop");
      case "refused":
        return answered("refused", "content_filter");
      case "failed":
      case "failed_after_text":
        return failed(random.pick(FAILURES));
      case "cut":
        return failed("model_protocol_error");
      case "silent":
        return failed("model_timeout");
      case "stalls":
      case "no_budget":
        throw new Error(`${kind} has no answer`);
    }
  }
}

/** A long text stands in a payload, and the event has an excerpt of it. */
function bodyOf(text: string): { body: TextBody; payloads: Payload[] } {
  const bytes = utf8Bytes(text);
  if (bytes <= LIMITS.payloadInlineBytes) return { body: { text }, payloads: [] };
  const digest = sha256(text);
  return {
    body: { text: cutText(text, LIMITS.excerptChars), excerptOf: { digest, bytes } },
    payloads: [{ digest, body: text }],
  };
}
