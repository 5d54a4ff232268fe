/**
 * Brings what is in flight into line with `outstanding(state)`: starts what is missing, aborts what is too much (**I4**).
 * Outcomes come back only as inputs, stamped with the attempt and the life that asked for them (**I5**).
 */
import { effectKey, outstanding, type Effect, type ModelEffect, type ToolEffect } from "../run/outstanding.ts";
import type { Usage } from "../protocol/run.ts";
import type { Input, ModelResult, Unstored } from "../run/inputs.ts";
import { ownResult } from "../run/results.ts";
import { NO_USAGE, type State } from "../run/state.ts";
import type { Clock, Log, ModelPort, Payload, ToolPort, Transcript } from "./ports.ts";
import type { StreamingText } from "./streaming-text.ts";

export interface PerformerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly model: ModelPort;
  readonly tools: ToolPort;
  readonly streaming: StreamingText;
  readonly state: () => State;
  readonly transcript: () => Transcript;
  readonly authHeader: (runId: string) => string | null;
  readonly deliver: (input: Input, payloads: readonly Payload[]) => void;
}

interface Flight {
  readonly effect: Effect;
  readonly controller: AbortController;
  /** It has its outcome: there is nothing left to abort. */
  settled: boolean;
  /** What it has cost, once that is known. */
  usage?: Usage;
}

export class Performer {
  readonly #deps: PerformerDeps;
  readonly #inFlight = new Map<string, Flight>();
  /** Attempts that were made and have no outcome in the log: making them again would be acting twice. */
  readonly #lost = new Map<string, Effect>();

  constructor(deps: PerformerDeps) {
    this.#deps = deps;
  }

  get busy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** Called after every commit and every alarm; doing it twice does nothing twice. */
  reconcile(): void {
    const wanted = new Map(outstanding(this.#deps.state(), this.#deps.clock.now()).map((one) => [effectKey(one), one]));
    for (const [key, flight] of this.#inFlight) if (!wanted.has(key) && !flight.settled) flight.controller.abort();
    for (const key of this.#lost.keys()) if (!wanted.has(key)) this.#lost.delete(key);
    for (const [key, effect] of wanted) {
      if (!this.#inFlight.has(key) && !this.#lost.has(key)) this.#start(key, effect);
    }
  }

  #start(key: string, effect: Effect): void {
    const flight = { effect, controller: new AbortController(), settled: false };
    this.#inFlight.set(key, flight);
    const work = effect.kind === "model" ? this.#ask(effect, flight) : this.#call(effect, flight);
    void work
      // The ports never reject; but where one does, or its outcome cannot be committed, the attempt has been made.
      .catch((error: unknown) => this.#lose(key, flight, error))
      .then(() => this.#inFlight.delete(key))
      .then(() => this.reconcile())
      .catch((error: unknown) => this.#deps.log.error("reconcile_failed", error));
  }

  /** The model request whose answer came and could not be written: not the model's failure, whatever ends it. */
  unstored(): Unstored | null {
    for (const { kind, id: effectId, attempt } of this.#lost.values())
      if (kind === "model") return { effectId, attempt };
    return null;
  }

  /** What a crash would have left: nobody knows. If not even that can be written, the attempt's deadline ends it. */
  #lose(key: string, { effect, usage }: Flight, error: unknown): void {
    const { log, deliver } = this.#deps;
    const { id: effectId, attempt, incarnation } = effect;
    this.#lost.set(key, effect);
    log.error("effect_failed", error, { effectId });
    const named = { effectId, attempt, incarnation };
    try {
      deliver(
        effect.kind === "model"
          ? { type: "model_answered", ...named, result: { ...LOST, ...(usage ? { usage } : {}) } }
          : toolLost(effect, named),
        [],
      );
    } catch (again) {
      log.error("outcome_lost", again, { effectId });
    }
  }

  async #ask(effect: ModelEffect, flight: Flight): Promise<void> {
    const { signal } = flight.controller;
    const { streaming, clock } = this.#deps;
    // The answer to the command leaves first; the prompt is built in a turn of its own.
    await anotherTurn(clock);
    const at = { runId: effect.run.id, messageId: effect.messageId, attempt: effect.attempt };
    const { result, payloads } = await this.#deps.model.ask(effect, {
      state: this.#deps.state(),
      signal,
      transcript: this.#deps.transcript(),
      warned: (warning) => this.#deps.deliver({ type: "budget_warned", ...warning }, []),
      onText: (text, part) => {
        if (!signal.aborted) streaming.append({ ...at, part }, text);
      },
    });
    flight.settled = true;
    if ("usage" in result) flight.usage = result.usage;
    // The provider is let go first: what is written in this turn would hold that back until it is on the disk.
    if (signal.aborted) await anotherTurn(clock);
    const { id: effectId, attempt, incarnation } = effect;
    this.#deps.deliver(
      { type: "model_answered", effectId, attempt, incarnation, result: this.#withLoss(result) },
      payloads,
    );
  }

  /** Counted in the turn that delivers it, so that it is what the transcript leaves out at that commit. */
  #withLoss(result: ModelResult): ModelResult {
    if (result.kind !== "failed" || result.stop.code !== "context_too_long") return result;
    return { ...result, leavesOut: this.#deps.transcript().leavesOut() };
  }

  async #call(effect: ToolEffect, flight: Flight): Promise<void> {
    const { signal } = flight.controller;
    const authHeader = this.#deps.authHeader(effect.run.id);
    const { result, payloads } = await this.#deps.tools.call(effect, { state: this.#deps.state(), signal, authHeader });
    flight.settled = true;
    const { id: effectId, attempt, incarnation } = effect;
    this.#deps.deliver({ type: "tool_answered", effectId, attempt, incarnation, result }, payloads);
  }
}

const anotherTurn = (clock: Clock): Promise<void> => new Promise((resolve) => clock.after(0, resolve));

const LOST = { kind: "aborted", text: { text: "" }, usage: { ...NO_USAGE, estimated: true }, unstored: true } as const;

function toolLost(
  { run, call }: ToolEffect,
  named: Pick<Extract<Input, { type: "tool_answered" }>, "effectId" | "attempt" | "incarnation">,
): Input {
  const payload = ownResult(run, call, "outcome_unknown");
  const error = payload.error ?? { layer: "runtime", code: "outcome_unknown", message: "", retryable: false };
  return {
    type: "tool_answered",
    ...named,
    result: { kind: "ambiguous", reason: "ambiguous", repeatable: true, error, payload },
  };
}
