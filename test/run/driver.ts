/**
 * Drives the core as the actor does: what time did first, then the input, both kept; and holds every turn against the
 * laws. It knows the clock, the log and the causes, so a test says only what happens and reads what followed.
 */
import type { Command, Continuation, Decision, ResolutionRequest, ResumeRun } from "../../src/protocol/commands.ts";
import type { Event, EventOf, EventType, RunPolicy } from "../../src/protocol/events.ts";
import { runIdOf, runOf, toolCallIdOf } from "../../src/protocol/ids.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import type { Rejection } from "../../src/protocol/problems.ts";
import type { RunLimits, Usage } from "../../src/protocol/run.ts";
import type { ToolResult } from "../../src/protocol/tool-result.ts";
import { nextDeadline } from "../../src/run/deadlines.ts";
import { decide } from "../../src/run/decide.ts";
import type {
  Facts,
  Input,
  ModelResult,
  PartialText,
  PreparedCall,
  PreparedEdit,
  ToolAnswer,
} from "../../src/run/inputs.ts";
import { outstanding, type ModelEffect, type ToolEffect } from "../../src/run/outstanding.ts";
import { EMPTY, type CallState, type RunState, type State } from "../../src/run/state.ts";
import { findRun, statusOf } from "../../src/run/status.ts";
import { targetOf } from "../../src/run/targets.ts";
import * as kit from "./kit.ts";
import { Laws } from "./laws.ts";

export interface Cause {
  readonly input: Input;
  readonly now: number;
}
export interface Setting {
  readonly limits?: Partial<RunLimits>;
  readonly policy?: Partial<RunPolicy>;
}
type Answers = Partial<Facts["resume"]>;

export class Driver {
  state: State = EMPTY;
  now = kit.T0;
  readonly log: Event[] = [];
  readonly causes: Cause[] = [];
  /** What the last turn brought. */
  events: readonly Event[] = [];
  rejection: Rejection | null = null;
  /** What the model has shown of the answer in progress. */
  partial: PartialText | undefined;
  readonly #laws = new Laws();
  readonly #setting: Setting;

  constructor(setting: Setting = {}) {
    this.#setting = setting;
    this.command({ type: "create_conversation", body: { agent: "banker" } }, kit.alice, {
      create: { conversationId: kit.CONVERSATION, generation: kit.GENERATION },
    });
    for (const [who, role] of [
      [kit.bob, "editor"],
      [kit.carol, "approver"],
      [kit.dave, "viewer"],
    ] as const) {
      this.command({ type: "put_participant", userId: who.userId, body: { role } });
    }
  }

  /** One turn. Returns the refusal, or null. */
  input(input: Input): Rejection | null {
    const passed = this.#decide({ type: "time_passed", ...(this.partial ? { partial: this.partial } : {}) });
    const decided = input.type === "time_passed" ? passed : this.#decide(input);
    this.events = decided === passed ? passed.events : [...passed.events, ...decided.events];
    this.rejection = decided.rejection;
    if (this.events.some(({ type }) => type === "step.finished" || type === "step.superseded"))
      this.partial = undefined;
    this.#laws.afterTurn(this.state, this.now);
    return this.rejection;
  }

  #decide(input: Input) {
    const before = this.state;
    const decided = decide(before, input, this.now);
    this.#laws.check(before, input, this.now, decided);
    if (decided.events.length > 0) this.causes.push({ input, now: this.now });
    this.log.push(...decided.events);
    this.state = decided.state;
    return decided;
  }

  /** The laws about whole logs: the fold from nothing, and the replay of the causes. */
  finish(): void {
    this.#laws.whole(this.log, this.causes, this.state);
  }

  // What followed.

  get types(): EventType[] {
    return this.events.map(({ type }) => type);
  }
  /** The only event of this type in the last turn. */
  event<T extends EventType>(type: T): EventOf<T> {
    const found = this.events.filter((event): event is EventOf<T> => event.type === type);
    const [one] = found;
    if (!one || found.length > 1) throw new Error(`${found.length} events ${type} in ${this.types.join(", ")}`);
    return one;
  }
  all<T extends EventType>(type: T): EventOf<T>[] {
    return this.log.filter((event): event is EventOf<T> => event.type === type);
  }
  get run(): RunState {
    const run = this.state.active;
    if (!run) throw new Error("no active run");
    return run;
  }
  runN(n: number): RunState | null {
    return findRun(this.state, runIdOf(kit.CONVERSATION, n));
  }
  status(n: number): string {
    const run = this.runN(n);
    return run ? statusOf(this.state, run) : "gone";
  }
  /** A call of the newest started run, by its number. */
  call(n: number): CallState {
    const call = targetOf(this.state, this.id(n))?.call;
    if (!call) throw new Error(`no call ${n}`);
    return call;
  }
  calls(): string[] {
    return (this.state.active ?? this.state.latest)?.calls.map(({ state }) => state) ?? [];
  }
  /** `3` is the third call of the active (else the latest) run; an id stays as it is. */
  id(call: number | string): string {
    if (typeof call === "string") return call;
    const run = this.state.active ?? this.state.latest;
    return toolCallIdOf(run?.id ?? runIdOf(kit.CONVERSATION, 1), call);
  }

  // Time and crashes.

  wait(ms: number): this {
    this.now += ms;
    this.input({ type: "time_passed" });
    return this;
  }
  /** To the next deadline; false: there is none. */
  toDeadline(): boolean {
    const at = nextDeadline(this.state, this.now);
    if (at === null) return false;
    this.wait(Math.max(0, at - this.now));
    return true;
  }
  crash(usage?: Usage): this {
    const partial = this.partial;
    this.partial = undefined;
    this.input({ type: "woke", ...(partial ? { partial } : {}), ...(usage ? { usage } : {}) });
    return this;
  }
  shows(text: string): this {
    const { step } = this.run;
    if (!step) throw new Error("no step");
    this.partial = { messageId: step.messageId, attempt: step.attempt, text };
    return this;
  }

  // Commands.

  command(command: Command, who: Principal = kit.alice, facts: Facts = {}): Rejection | null {
    return this.input({ type: "command", command, principal: who, facts });
  }
  start(
    text = "hello",
    over: { whenBusy?: "enqueue" | "reject" | "replace"; who?: Principal; refused?: Rejection } = {},
  ): Rejection | null {
    const body = { input: { text }, ...(over.whenBusy ? { whenBusy: over.whenBusy } : {}) };
    return this.command({ type: "start_run", body }, over.who, this.#startFacts(over.refused));
  }
  #startFacts(refused?: Rejection): Facts {
    const limits = { ...kit.BOUNDS, ...this.#setting.limits };
    const policy = { ...kit.POLICY, ...this.#setting.policy };
    return { start: { agentDigest: "agent", limits, policy, ...(refused ? { refused } : {}) } };
  }
  cancel(n = this.#newest(), who?: Principal, reason?: string): Rejection | null {
    const body = reason === undefined ? {} : { reason };
    return this.command({ type: "cancel_run", runId: runIdOf(kit.CONVERSATION, n), body }, who);
  }
  retry(n = this.#newest(), who?: Principal): Rejection | null {
    return this.command({ type: "retry_run", runId: runIdOf(kit.CONVERSATION, n), body: {} }, who, this.#startFacts());
  }
  editRun(n: number, text: string, who?: Principal): Rejection | null {
    return this.command({ type: "edit_run", runId: runIdOf(kit.CONVERSATION, n), body: { input: { text } } }, who);
  }
  drop(n: number, who?: Principal): Rejection | null {
    return this.command({ type: "drop_run", runId: runIdOf(kit.CONVERSATION, n), body: {} }, who);
  }
  takeOver(who: Principal = kit.olga): Rejection | null {
    return this.command({ type: "take_over", body: {} }, who);
  }
  say(text: string, who: Principal = kit.olga): Rejection | null {
    return this.command({ type: "say_as_operator", body: { text } }, who);
  }
  release(who: Principal = kit.olga): Rejection | null {
    return this.command({ type: "release_handover", body: {} }, who);
  }
  erase(who?: Principal): Rejection | null {
    return this.command({ type: "delete_conversation", body: {} }, who);
  }
  #newest(): number {
    return this.state.active?.n ?? this.state.latest?.n ?? 1;
  }

  resume(body: ResumeRun, who?: Principal, facts: Answers = {}, runId = this.#runOf(body)): Rejection | null {
    const named = [...(body.decisions ?? []), ...(body.resolutions ?? [])].map(({ toolCallId }) => toolCallId);
    const digests = named.map((id) => [id, targetOf(this.state, id)?.call.toolDigest ?? null] as const);
    const resume = { edits: {}, results: {}, toolDigests: Object.fromEntries(digests), ...facts };
    return this.command({ type: "resume", runId, body }, who, { resume });
  }
  #runOf({ decisions, resolutions }: ResumeRun): string {
    const named = decisions?.[0]?.toolCallId ?? resolutions?.[0]?.toolCallId;
    return named === undefined ? runIdOf(kit.CONVERSATION, this.#newest()) : runOf(named);
  }
  decision(call: number | string, decision: "approve" | "reject" = "approve", over: Partial<Decision> = {}): Decision {
    const toolCallId = this.id(call);
    const argsDigest = targetOf(this.state, toolCallId)?.call.argsDigest ?? "none";
    return { toolCallId, argsDigest, decision, ...over };
  }
  approve(call: number | string, who?: Principal, over: Partial<Decision> = {}): Rejection | null {
    return this.resume({ decisions: [this.decision(call, "approve", over)] }, who);
  }
  reject(call: number | string, who?: Principal, reason?: string): Rejection | null {
    return this.resume({ decisions: [this.decision(call, "reject", reason === undefined ? {} : { reason })] }, who);
  }
  edit(call: number | string, edit: PreparedEdit, who?: Principal): Rejection | null {
    const decision = { ...this.decision(call), decision: "edit", args: {} } as const;
    return this.resume({ decisions: [decision] }, who, { edits: { [decision.toolCallId]: edit } });
  }
  resolution(call: number | string, outcome: ResolutionRequest["outcome"]): ResolutionRequest {
    const { toolCallId, argsDigest } = this.decision(call);
    const attempt = targetOf(this.state, toolCallId)?.call.attempt ?? 0;
    const about = attempt > 0 ? { attempt } : {};
    return { toolCallId, outcome, ...about, ...(outcome === "did_not_happen" ? { argsDigest } : {}) };
  }
  resolve(
    call: number | string,
    outcome: ResolutionRequest["outcome"],
    who?: Principal,
    result?: ToolResult,
  ): Rejection | null {
    const resolution = this.resolution(call, outcome);
    return this.resume(
      { resolutions: [resolution] },
      who,
      result ? { results: { [resolution.toolCallId]: result } } : {},
    );
  }
  continue(limit: Continuation["limit"], decision: Continuation["decision"], who?: Principal): Rejection | null {
    return this.resume({ continuations: [{ limit, decision }] }, who);
  }

  // Outcomes.

  get modelEffect(): ModelEffect {
    const [effect] = outstanding(this.state, this.now);
    if (effect?.kind !== "model") throw new Error("the model is not being asked");
    return effect;
  }
  toolEffect(call: number | string): ToolEffect {
    const id = this.id(call);
    const effect = outstanding(this.state, this.now).find((one) => one.id === id);
    if (effect?.kind !== "tool") throw new Error(`${id} is not in flight`);
    return effect;
  }
  answer(result: ModelResult, from: Pick<ModelEffect, "id" | "attempt" | "incarnation"> = this.modelEffect): this {
    const { id: effectId, attempt, incarnation } = from;
    this.input({ type: "model_answered", effectId, attempt, incarnation, result });
    return this;
  }
  plan(...calls: PreparedCall[]): this {
    return this.answer(kit.planOf(calls));
  }
  final(text = "done"): this {
    return this.answer(kit.finalOf(text));
  }
  tool(
    call: number | string,
    answerOf: (id: string, tool: string) => ToolAnswer = kit.okAnswer,
    from: Pick<ToolEffect, "id" | "attempt" | "incarnation"> = this.toolEffect(call),
  ): this {
    const { id: effectId, attempt, incarnation } = from;
    const tool = targetOf(this.state, effectId)?.call.tool ?? "gone";
    this.input({ type: "tool_answered", effectId, attempt, incarnation, result: answerOf(effectId, tool) });
    return this;
  }
}

/** A conversation whose run has proposed these calls. */
export function planned(calls: readonly PreparedCall[], setting: Setting = {}): Driver {
  const driver = new Driver(setting);
  driver.start();
  return driver.plan(...calls);
}
