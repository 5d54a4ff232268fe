/**
 * What the shell of a conversation needs from the world. The actor knows nothing else of it: in production these are
 * the object's SQLite, its sockets, the model and the tools; in the simulation they are fakes on virtual time.
 */
import type { BudgetWarning } from "../protocol/budget.ts";
import type { Event } from "../protocol/events.ts";
import type { Delta } from "../protocol/frames.ts";
import type { Message } from "../protocol/message.ts";
import type { Principal } from "../protocol/principal.ts";
import type { PartialLimits, Run, Usage } from "../protocol/run.ts";
import type { Page } from "../protocol/rpc.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import type { Facts, Input, ModelResult, PartialText, PreparedEdit, ToolAnswer } from "../run/inputs.ts";
import type { ModelEffect, ToolEffect } from "../run/outstanding.ts";
import type { CallState, RunState, State } from "../run/state.ts";
import type { KeyRegistry, BudgetPort, StandingPort } from "./tenant-ports.ts";

export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** In-memory timer: gone with the object, so never the only guard of a promise. Returns its cancellation. */
  after(ms: number, run: () => void): () => void;
}

export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, error: unknown, fields?: Record<string, unknown>): void;
}

/** An event with its JSON, encoded once for the log, for every watcher and for the history. */
export interface EncodedEvent {
  readonly event: Event;
  /** JSON of `event.data`. */
  readonly data: string;
  /** JSON of the whole event. */
  readonly json: string;
}

/** The input that caused the events from `seq` on; replay decides it again and must get the same events. */
export interface Cause {
  readonly seq: number;
  readonly now: number;
  readonly input: Input;
}

/** A body over the inline bound: stored once, named by the SHA-256 (base64url) of its text. */
export interface Payload {
  readonly digest: string;
  readonly body: string;
}

/** The first answer to a keyed command, kept as long as the conversation. */
export interface Receipt {
  readonly key: string;
  readonly digest: string;
  readonly status: number;
  /** JSON of the answer's body. */
  readonly body: string;
}

/** The text of a message in progress. A preview: recovery and late watchers read it, nothing else. */
export interface Checkpoint extends PartialText {
  readonly runId: string;
  readonly part: number;
}

/** Reasons to wake: each is one row, and the one alarm stands at or before the earliest of them. */
export type TimerKind = "deadline" | "watchdog" | "outbox";

export interface Commit {
  readonly state: State;
  readonly events: readonly EncodedEvent[];
  readonly causes: readonly Cause[];
  readonly payloads: readonly Payload[];
  readonly receipt?: Receipt;
  /** Views of runs that ended, or of ended runs whose calls changed, in this commit. */
  readonly endedRuns: readonly Run[];
  /** Timers to set (null: to clear). */
  readonly timers: Partial<Record<TimerKind, number | null>>;
}

/** The actor's own SQLite. Everything is synchronous: between reading state and committing there is no await. */
export interface Journal {
  /** The fold of the log; null for an object that was never initialised, which keeps no tables. */
  open(): State | null;
  /** One transaction: all of it, or an exception and nothing of it. */
  commit(commit: Commit): void;
  receipt(key: string): Receipt | null;
  payload(digest: string): string | null;
  /** Events after `seq`, oldest first, bounded by count and by bytes of JSON (at least one is returned). */
  events(query: { after: number; limit: number; maxBytes: number; runId?: string }): EncodedEvent[];
  /** Of these types only, over the whole log: what the transcript is built from on a cold start. */
  eventsOf(types: readonly Event["type"][]): Iterable<Event>;
  messages(query: { after: number; limit: number; order: "asc" | "desc" }): Page<Message>;
  endedRun(runId: string): Run | null;
  endedRuns(query: { before: number; limit: number }): Run[];
  checkpoint(): Checkpoint | null;
  saveCheckpoint(checkpoint: Checkpoint | null): void;
  timers(): Partial<Record<TimerKind, number>>;
  setTimers(timers: Partial<Record<TimerKind, number | null>>): void;
  /** When the one alarm stands, as last set; null: none. */
  alarmAt(): number | null;
  setAlarm(at: number): void;
  /** The alarm has fired and stands no more. */
  alarmFired(): void;
  /** Everything away, but for the tombstone. */
  erase(tombstone: Tombstone): Promise<void>;
  tombstone(): Tombstone | null;
  bytes(): number;
}

export interface Tombstone {
  readonly deletedAt: number;
  readonly generation: string;
  /** HMAC of tenant and owner: 410 for the owner, 404 for everybody else, and no name is kept. */
  readonly owner: string;
}

/** Everybody who watches. Called after the commit, in the same turn; the platform holds it until it is durable (I1). */
export interface Publisher {
  events(events: readonly EncodedEvent[], state: State): void;
  /** A preview of text; may be dropped for a watcher that does not read, who then gets a `partial`. */
  delta(delta: Delta): void;
  /** Ends sockets: all of them, or one user's. */
  close(code: number, reason: string, userId?: string): void;
}

export interface ModelPort {
  /**
   * Asks once, streams text through `onText`, and resolves with the outcome; it never rejects. After an abort it
   * resolves soon with `aborted`, the text shown so far and what it cost.
   */
  ask(
    effect: ModelEffect,
    io: ModelIo,
  ): Promise<{ readonly result: ModelResult; readonly payloads: readonly Payload[] }>;
  /** What a request has cost, about, that died with an earlier life after it had shown this text. */
  lost?(effect: ModelEffect, io: Pick<ModelIo, "state" | "transcript">, text: string): Usage;
}
export interface ModelIo {
  /** So much of a budget is used up now; may come after the outcome. */
  warned?(warning: BudgetWarning): void;
  readonly state: State;
  readonly signal: AbortSignal;
  readonly transcript: Transcript;
  /** Text newly shown, one call per network read; `part` indexes the message's parts. */
  onText(text: string, part: number): void;
}

/** The conversation as the model is told it: kept encoded, appended to, never rebuilt while the object lives. */
export interface Transcript {
  append(event: Event, payload: (digest: string) => string | null): void;
  /** The messages' JSON without the enclosing brackets. */
  messages(): string;
  /** How many messages are no longer told once a run has ended `context_too_long` here. */
  leavesOut(): number;
}

export interface ToolPort {
  /** Executes or probes once; never rejects. An abort resolves as `ambiguous`. */
  call(effect: ToolEffect, io: ToolIo): Promise<{ readonly result: ToolAnswer; readonly payloads: readonly Payload[] }>;
}
export interface ToolIo {
  readonly state: State;
  readonly signal: AbortSignal;
  /** Of the request that brought the run or its decision, if this life of the object still has it. */
  readonly authHeader: string | null;
}

/** What the agents say about commands: facts for the core, worked out before the decision. */
export interface AgentPort {
  exists(agent: string): boolean;
  start(state: State, limits: PartialLimits | undefined, principal: Principal): Promise<NonNullable<Facts["start"]>>;
  /** null: the tool is gone. */
  toolDigest(state: State, tool: string): Promise<string | null>;
  prepareEdit(state: State, run: RunState, call: CallState, args: unknown): Promise<PreparedEdit>;
  prepareResult(
    state: State,
    run: Pick<RunState, "principal">,
    call: CallState,
    result: unknown,
  ): ToolResult | { readonly invalid: string };
}

/**
 * The log as the outbox reads it: a cursor over it (`projectedSeq`), and the events that could not be brought over, set
 * aside so that they do not block the others.
 */
export interface OutboxJournal {
  /** Events after the cursor, oldest first, bounded by count and by bytes. */
  unprojected(limit: number): EncodedEvent[];
  projectedSeq(): number;
  /** Moves the cursor on to `seq`; never back. */
  markProjected(seq: number): void;
  /** Counts one more refusal of an event, the first of which sets it aside. Does not move the cursor. */
  park(seq: number, reason: string): void;
  /** It went through after all. */
  unpark(seq: number): void;
  parked(): { seq: number; reason: string; attempts: number }[];
  /** One event of the log: what a parked row is tried again with. */
  event(seq: number): EncodedEvent | null;
  /** As of the journal: with these a parked row is seen in the light of what came before and after it. */
  events(query: { after: number; limit: number; maxBytes: number; runId?: string }): EncodedEvent[];
  eventsOf(types: readonly Event["type"][]): Iterable<Event>;
  /** The whole of an excerpted text. */
  payload(digest: string): string | null;
  /** null: never initialised, or erased. */
  identity(): State["identity"];
}

/** Tickets that were used: each lets in once. */
export interface TicketBook {
  /** @param expiresAt epoch ms, of the ticket @returns false: it was used before */
  burnTicket(nonce: string, expiresAt: number, now: number): boolean;
}

/** Sign-ins of those who watch: they end with time, whatever else happens or does not. */
export interface SignIns {
  /** When the earliest of them ends, in epoch ms; null: nobody watches. */
  nextEnd(): number | null;
  /** Closes the sockets of those that have ended. */
  endDue(): void;
}

/** The outbox: brings the log to D1, in the background. */
export interface Projector {
  /** Resolves when nothing is left, or with the time (epoch ms) at which to try again. Never rejects. */
  drain(): Promise<number | null>;
}

export interface ActorSettings {
  readonly watchdogMs: number;
  readonly checkpointMs: number;
  readonly outboxMs: number;
  /** Commands of one person: what a full bucket holds, and how fast it fills. Absent: no limit. */
  readonly commandRate?: { readonly burst: number; readonly perMinute: number };
}

export interface ActorPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly publisher: Publisher;
  readonly model: ModelPort;
  readonly tools: ToolPort;
  readonly agents: AgentPort;
  readonly registry: KeyRegistry;
  readonly projector: Projector;
  /** Absent: nobody can watch. */
  readonly signIns?: SignIns;
  readonly budget?: BudgetPort;
  /** Absent: every sign-in counts until it expires. */
  readonly standing?: StandingPort;
  readonly transcript: () => Transcript;
  /** 8 characters `[a-z0-9]`, random. */
  readonly generation: () => string;
  readonly sha256: (text: string) => Promise<string>;
  readonly settings: ActorSettings;
}
