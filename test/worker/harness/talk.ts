/**
 * One conversation with the lab agent, with a script of its own at the provider and a person of its own at the backend,
 * so that cases run side by side. It is watched over WebSocket from its first event.
 */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { isTerminal, type Event, type EventOf, type TERMINAL_EVENTS } from "../../../src/protocol/events.ts";
import type { LimitName, Run } from "../../../src/protocol/run.ts";
import type { ToolCall } from "../../../src/protocol/tool-call.ts";
import { stubFor } from "../../../src/edge/stub-for.ts";
import type { Answer } from "../../support/answer-script.ts";
import { backend, chatIn, provider, type ChatRequest } from "./fakes.ts";
import { signIn, type Answered, type Person } from "./people.ts";
import { Watcher } from "./watcher.ts";

export type TerminalEvent = EventOf<(typeof TERMINAL_EVENTS)[number]>;

export interface TalkOptions {
  readonly person?: Person;
  readonly limits?: Partial<Record<LimitName, number>>;
  readonly confirmationTtlMs?: number;
  /** Answers of the model, in turn. */
  readonly answers?: readonly Answer[];
  /** The answer once they are used up. */
  readonly otherwise?: Answer;
}

export const COMMON_TEXT: Answer = { fixture: "common_text" };

export class Talk {
  readonly person: Person;
  readonly id: string;
  readonly generation: string;
  readonly scope: string;
  readonly watcher: Watcher;

  constructor(person: Person, id: string, generation: string, scope: string) {
    this.person = person;
    this.id = id;
    this.generation = generation;
    this.scope = scope;
    this.watcher = this.newWatcher();
  }

  static async open(options: TalkOptions = {}): Promise<Talk> {
    const { person = await signIn(), limits, confirmationTtlMs, answers = [], otherwise = COMMON_TEXT } = options;
    const scope = `case-${crypto.randomUUID()}`;
    await provider.script({ scope, queue: answers, default: otherwise });
    const metadata = {
      model: scope,
      ...(limits ? { limits: JSON.stringify(limits) } : {}),
      ...(confirmationTtlMs === undefined ? {} : { confirmationTtlMs: String(confirmationTtlMs) }),
    };
    const { id, headCursor } = await person.client.createConversation({ agent: "lab", metadata });
    const talk = new Talk(person, id, headCursor.slice(0, headCursor.indexOf(".")), scope);
    await talk.watcher.connect();
    return talk;
  }

  /** The beginning of the log, as a cursor. */
  get beginning(): string {
    return `${this.generation}.0`;
  }

  get events(): readonly Event[] {
    return this.watcher.view.events;
  }

  newWatcher(person = this.person): Watcher {
    return new Watcher(person, this.id, this.beginning);
  }

  stub() {
    return stubFor(env, { id: this.person.tenantId }, this.id);
  }

  script(...queue: Answer[]): Promise<void> {
    return provider.script({ scope: this.scope, queue });
  }

  start(text = "go on", more: { whenBusy?: "enqueue" | "reject" | "replace" } = {}): Promise<Run> {
    return this.person.client.startRun(this.id, { text, ...more });
  }

  async ended(run: Run): Promise<TerminalEvent> {
    const isEnd = (event: Event): event is TerminalEvent => isTerminal(event.type) && event.runId === run.id;
    return this.watcher.until(`the end of ${run.id}`, () => this.events.find(isEnd));
  }

  /** Starts a run and waits for its end. */
  async play(text?: string): Promise<{ readonly run: Run; readonly end: TerminalEvent }> {
    const started = await this.start(text);
    const end = await this.ended(started);
    return { run: await this.person.client.run(started.id), end };
  }

  /** Starts a run and waits until it asks. */
  async ask(text?: string): Promise<{ readonly run: Run; readonly calls: readonly ToolCall[] }> {
    const started = await this.start(text);
    return this.asked(started);
  }

  async asked(started: Run): Promise<{ readonly run: Run; readonly calls: readonly ToolCall[] }> {
    await this.watcher.until(`${started.id} to ask`, () => this.watcher.event("run.interrupted", started.id));
    const run = await this.person.client.run(started.id);
    return { run, calls: run.pending };
  }

  decide(
    run: Run,
    call: Pick<ToolCall, "id" | "argsDigest"> | undefined,
    decision: "approve" | "reject",
    key?: string,
  ) {
    const { id: toolCallId = "", argsDigest = "" } = call ?? {};
    return this.person.client.resume(run.id, { decisions: [{ toolCallId, argsDigest, decision }] }, key);
  }

  /** Answers what a run waits for, by REST; refusals are values. */
  answer(run: Run, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return this.person.ask("POST", `/v1/runs/${run.id}/resume`, { body, headers });
  }

  /** The object leaves memory; its sockets stay open. */
  async evict(): Promise<void> {
    await evictDurableObject(await this.stub());
  }

  of<T extends Event["type"]>(type: T, run?: Run): EventOf<T>[] {
    const found = this.events.filter((event) => event.type === type && (!run || event.runId === run.id));
    return found as EventOf<T>[];
  }

  /** What the model was asked, in order. */
  async requests(): Promise<ChatRequest[]> {
    return (await provider.requests(this.scope)).map(chatIn);
  }

  bookings() {
    return backend.bookings(this.person.userId);
  }
}
