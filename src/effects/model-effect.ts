/**
 * Asking the model once, from the state to the outcome that the core takes: build the body, send it, read the answer,
 * prepare its calls. One upstream request per attempt, whatever happens; whether there is another is the core's.
 *
 * It never rejects, and it stores nothing. What people saw of a failed answer is part of its outcome.
 */
import type { Clock, Log, ModelIo, ModelPort, Payload } from "../actor/ports.ts";
import { LIMITS } from "../protocol/limits.ts";
import { conversationOf } from "../protocol/ids.ts";
import type { Usage } from "../protocol/run.ts";
import { stopOf } from "../protocol/stops.ts";
import { cutText, utf8Bytes } from "../protocol/text.ts";
import type { ModelRequestRecord, ModelResult, PreparedCall } from "../run/inputs.ts";
import type { ModelEffect } from "../run/outstanding.ts";
import type { State } from "../run/state.ts";
import type { Agent } from "../tools/agent-definition.ts";
import type { CallToReserve, ReservedCall } from "./budgets.ts";
import type { ModelClient } from "./model-client.ts";
import { ModelClocks } from "./model-clocks.ts";
import { boundedReasoning, cutCalls, textBody, verdictOf } from "./model-outcome.ts";
import { readAnswer, type Reading } from "./model-reader.ts";
import { usageOf, usageOfLost } from "./model-usage.ts";
import { ownDeadline } from "./own-deadline.ts";
import type { Prices } from "./prices.ts";
import { requestBody, type RequestBody } from "./request-body.ts";
import { chat, chatEnded, NO_SPANS, type Spans } from "./spans.ts";
import { classifyHttpFailure, modelStop, timedOut } from "./stream/classify-failure.ts";
import type { DecodedToolCall } from "./stream/decoded-answer.ts";
import type { AnswerVerdict } from "./stream/judge-answer.ts";

/** Validated, authorised, previewed and digested, in the order of the calls; the signal ends previews. */
export type PrepareCalls = (
  effect: ModelEffect,
  io: { readonly state: State; readonly signal: AbortSignal },
  calls: readonly DecodedToolCall[],
) => Promise<readonly PreparedCall[]>;

export interface ModelDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly client: ModelClient;
  readonly prices: Prices;
  readonly agentOf: (name: string) => Agent | undefined;
  readonly prepareCalls: PrepareCalls;
  readonly sha256: (text: string) => Promise<string>;
  /** Absent: nothing is limited. */
  readonly budget?: ModelBudget;
  /** Absent: nothing is traced. */
  readonly spans?: Spans;
}

/** Reserves before a request is sent. Never rejects. */
export interface ModelBudget {
  reserve(call: CallToReserve): Promise<ReservedCall>;
  lost(call: Pick<CallToReserve, "tenantId" | "id">, usage: Usage): void;
}

type Outcome = { readonly result: ModelResult; readonly payloads: readonly Payload[] };
type Answer = Extract<Reading, { kind: "answer" }>;
const attemptOf = ({ id, attempt }: ModelEffect): string => `${id}#${attempt}`;
type Reserved = Extract<ReservedCall, { ok: true }>;
type Built = RequestBody & { readonly model: string };
type Asked = { readonly body: string; readonly model: string; readonly request: ModelRequestRecord };

export class ModelEffects implements ModelPort {
  readonly #deps: ModelDeps;

  constructor(deps: ModelDeps) {
    this.#deps = deps;
  }

  async ask(effect: ModelEffect, io: ModelIo): Promise<Outcome> {
    const { clock, log } = this.#deps;
    const { maxFirstByteMs: firstByteMs, maxIdleMs: idleMs, maxModelMs } = effect.run.limits;
    const deadlineAt = ownDeadline(effect.deadlineAt, maxModelMs);
    const clocks = new ModelClocks(clock, { firstByteMs, idleMs, deadlineAt }, io.signal);
    let shown = "";
    const onText = (text: string, part: number): void => {
      shown += text;
      io.onText(text, part);
    };
    try {
      const built = this.#build(effect, io);
      if (built === null) return this.#broken("The conversation's agent is not part of this deployment.");
      if (clocks.ended === "aborted") return this.#unsent(built.model);
      const reserved = await this.#reserve(effect, built);
      if (!reserved.ok)
        return { result: { kind: "no_budget", reason: "budget", retryAt: reserved.retryAt }, payloads: [] };
      let outcome: Outcome | null = null;
      try {
        if (!io.signal.aborted) outcome = await this.#traced(effect, io, clocks, built, onText);
        outcome ??= this.#unsent(built.model);
        return outcome;
      } finally {
        this.#settle(reserved, io, built, outcome, shown);
      }
    } catch (error) {
      log.error("model_effect_failed", error, { effectId: effect.id, attempt: effect.attempt });
      return this.#broken("The service failed while it asked the model.", shown);
    } finally {
      clocks.close();
    }
  }

  lost(effect: ModelEffect, io: Pick<ModelIo, "state" | "transcript">, text: string): Usage {
    const built = this.#build(effect, io);
    const { prices, client, budget } = this.#deps;
    const usage = usageOfLost({ prices, model: built?.model ?? client.model, body: built?.body ?? "" }, text);
    budget?.lost({ tenantId: effect.run.principal.tenantId, id: attemptOf(effect) }, usage);
    return usage;
  }

  #traced(effect: ModelEffect, io: ModelIo, clocks: ModelClocks, built: Built, onText: ModelIo["onText"]) {
    const { clock, spans = NO_SPANS } = this.#deps;
    const startedAt = clock.now();
    return spans.within(...chat(io.state, effect, built.model), async (span): Promise<Outcome> => {
      const { result, payloads } = await this.#send(effect, io, clocks, built, onText);
      const { firstByteMs } = clocks;
      const timing = { firstByteMs, ms: clock.now() - startedAt, requestBytes: utf8Bytes(built.body) };
      const timed = result.kind === "no_budget" ? result : { ...result, timing };
      chatEnded(span, timed);
      return { result: timed, payloads };
    });
  }

  async #send(effect: ModelEffect, io: ModelIo, clocks: ModelClocks, built: Built, onText: ModelIo["onText"]) {
    const { clock, client, sha256 } = this.#deps;
    const { body, model, parameters } = built;
    const digest = sha256(body);
    const reading = await readAnswer({ client, clock, clocks, body, onText });
    clocks.answered();
    const asked = { body, model, request: { digest: await digest, model, parameters } };
    if (reading.kind === "answer") return this.#answered(effect, io, clocks, asked, reading);
    return this.#unanswered(asked, reading);
  }

  #reserve(effect: ModelEffect, { body, model }: Built): Promise<ReservedCall> | ReservedCall {
    const { budget } = this.#deps;
    if (!budget) return { ok: true, settle: () => Promise.resolve([]) };
    const { tenantId } = effect.run.principal;
    const conversationId = conversationOf(effect.run.id);
    return budget.reserve({
      tenantId,
      conversationId,
      id: attemptOf(effect),
      model,
      body,
      deadlineAt: effect.deadlineAt,
    });
  }

  /** Whatever became of it is paid; nobody waits for that. */
  #settle(reserved: Reserved, io: ModelIo, built: Built, outcome: Outcome | null, shown: string): void {
    const told = outcome && "usage" in outcome.result ? outcome.result.usage : null;
    const usage = told ?? usageOfLost({ ...this.#deps, ...built }, shown);
    void reserved
      .settle(usage)
      .then((warnings) => warnings.forEach((warning) => io.warned?.(warning)))
      .catch((error: unknown) => this.#deps.log.error("settlement_failed", error));
  }

  #build(effect: ModelEffect, io: Pick<ModelIo, "state" | "transcript">): Built | null {
    const { identity } = io.state;
    const agent = this.#deps.agentOf(identity?.agent ?? "");
    if (!agent) return null;
    const model = agent.model?.(identity?.metadata ?? {}) ?? this.#deps.client.model;
    const { principal } = effect.run;
    return { model, ...requestBody({ agent, model, principal, messages: io.transcript.messages() }) };
  }

  #unsent(model: string): Outcome {
    const usage = usageOf({ prices: this.#deps.prices, model, body: null, answer: null });
    return { result: { kind: "aborted", text: { text: "" }, usage }, payloads: [] };
  }

  /** Refused, or never reached: no token was read, so it costs nothing. */
  #unanswered({ model, request }: Asked, reading: Exclude<Reading, Answer>): Outcome {
    const { clock, log, prices } = this.#deps;
    const unreachable = reading.kind === "unreachable";
    if (unreachable) log.error("model_unreachable", reading.cause, { model });
    const stop = unreachable
      ? modelStop("model_error", "The model provider could not be reached.")
      : classifyHttpFailure({ ...reading, now: clock.now() });
    const usage = usageOf({ prices, model, body: null, answer: null });
    return { result: { kind: "failed", stop, text: { text: "" }, finishReason: null, usage, request }, payloads: [] };
  }

  async #answered(
    effect: ModelEffect,
    io: ModelIo,
    clocks: ModelClocks,
    { body, model, request }: Asked,
    { answer, ended, part }: Answer,
  ): Promise<Outcome> {
    const { prices, sha256 } = this.#deps;
    const verdict = verdictOf(answer, ended);
    const { finishReason } = answer;
    const usage = usageOf({ prices, model, body, answer });
    // What a model says when it refuses is its answer to the user.
    const said = verdict.kind === "refused" && answer.text === "" ? answer.refusal : answer.text;
    const { text, payloads } = await textBody(said, sha256);
    if (verdict.kind === "aborted") return { result: { kind: "aborted", text, usage, request }, payloads };
    if (verdict.kind === "failed") {
      return { result: { kind: "failed", stop: verdict.stop, text, finishReason, usage, request }, payloads };
    }
    const calls = await this.#calls(effect, io, clocks, verdict);
    if (calls === null && clocks.ended === "aborted") {
      return { result: { kind: "aborted", text, usage, request }, payloads };
    }
    if (calls === null) {
      return { result: { kind: "failed", stop: timedOut("total"), text, finishReason, usage, request }, payloads };
    }
    // Text that was streamed as part 0 stays part 0: reasoning that came after it would move it.
    const keepsReasoning = answer.reasoning !== "" && (part === 1 || answer.text === "");
    return {
      result: {
        kind: "answered",
        verdict: verdict.kind,
        text,
        ...(keepsReasoning ? { reasoning: boundedReasoning(answer.reasoning) } : {}),
        finishReason,
        calls,
        usage,
        request,
      },
      payloads,
    };
  }

  /** null: the call was ended while its tool calls were prepared. */
  async #calls(
    effect: ModelEffect,
    io: ModelIo,
    clocks: ModelClocks,
    verdict: AnswerVerdict,
  ): Promise<readonly PreparedCall[] | null> {
    if (verdict.kind === "truncated_calls") return cutCalls(effect, verdict.calls);
    if (verdict.kind !== "plan") return [];
    return clocks.orEnded(this.#deps.prepareCalls(effect, { state: io.state, signal: clocks.signal }, verdict.calls));
  }

  #broken(detail: string, shown = ""): Outcome {
    const usage = usageOf({ prices: this.#deps.prices, model: this.#deps.client.model, body: null, answer: null });
    // Bounded without a digest: whatever failed here, this must not.
    const text = { text: cutText(shown, LIMITS.excerptChars) };
    return {
      result: { kind: "failed", stop: stopOf("internal", detail), text, finishReason: null, usage },
      payloads: [],
    };
  }
}
