/**
 * What was seen from outside in one schedule. The checker reads this and nothing else: what clients were told, what the
 * model's provider and the tools' backend were asked, the log as the API gives it, the rows in D1, and what was done to
 * the object. `head` is always the last event that was durable when a thing left.
 */
import type { Command } from "../src/protocol/commands.ts";
import type { Conversation } from "../src/protocol/conversation.ts";
import type { Event } from "../src/protocol/events.ts";
import type { RequestContext } from "../src/protocol/principal.ts";
import type { Rejection } from "../src/protocol/problems.ts";
import type { EffectClass } from "../src/protocol/tool-call.ts";

export type Outcome =
  | { readonly kind: "ok"; readonly status: number; readonly body: string; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly rejection: Rejection }
  /** It threw: nobody knows. */
  | { readonly kind: "broke"; readonly error: string };

export interface Told {
  readonly at: number;
  readonly head: number;
  readonly outcome: Outcome;
}

/** **H**: a command as its sender knows it; it may have been sent several times. */
export interface Asked {
  readonly id: string;
  readonly user: string;
  readonly command: Command;
  readonly key: string | null;
  readonly context: RequestContext;
  readonly invokedAt: number;
  sent: number;
  /** In the order of arrival at the sender. */
  readonly told: Told[];
  /** When it was first answered, whatever the answer. */
  answeredAt: number | null;
}

export type Frame = { readonly type: string; readonly [member: string]: unknown };

/** **W**: one connection. */
export interface Connection {
  readonly user: string;
  readonly openedAt: number;
  /** The cursor that it brought. */
  readonly after: { readonly generation: string; readonly seq: number } | null;
  readonly frames: { readonly text: string; readonly frame: Frame }[];
  closed: { readonly at: number; readonly code: number } | null;
}

/** A snapshot that somebody was given, by whatever way. */
export interface Snapshot {
  readonly at: number;
  readonly user: string;
  readonly conversation: Conversation;
}

/** **R**: a request as it left for the tool. */
export interface ToolRequest {
  readonly at: number;
  readonly head: number;
  readonly life: number;
  readonly toolCallId: string;
  readonly tool: string;
  readonly effect: EffectClass;
  readonly mode: "execute" | "probe";
  readonly attempt: number;
  readonly incarnation: number;
  readonly key: string;
  readonly argsDigest: string;
  readonly args: string;
  /** Sent by an old life beside the new one, which nothing can hold back. */
  readonly zombie: boolean;
  /** It reached the backend, and what it did there. */
  arrivedAt: number | null;
  applied: boolean;
  /** What the object was told, when it was. */
  answer: {
    readonly at: number;
    readonly kind: "ok" | "failed" | "ambiguous" | "absent";
    readonly life: number;
  } | null;
  aborted: boolean;
}

/** **L**: a request as it left for the model. */
export interface ModelRequest {
  readonly at: number;
  readonly head: number;
  readonly life: number;
  readonly runId: string;
  readonly step: number;
  readonly attempt: number;
  readonly incarnation: number;
  readonly transcript: string;
  readonly zombie: boolean;
  /** Shown so far, as the provider sent it and the object took it. */
  text: string;
  closedAt: number | null;
  aborted: boolean;
  answer: { readonly at: number; readonly kind: string } | null;
}

/** **K**: what was done to the object and its surroundings. */
export interface Blow {
  readonly at: number;
  readonly kind: string;
  readonly head: number;
}

/** **D**: the history, read at some moment. */
export interface HistoryRead {
  readonly at: number;
  readonly head: number;
  readonly seq: number;
}

export interface Observation {
  readonly seed: number;
  readonly conversationId: string;
  readonly asked: Asked[];
  readonly connections: Connection[];
  readonly snapshots: Snapshot[];
  readonly tools: ToolRequest[];
  readonly models: ModelRequest[];
  readonly blows: Blow[];
  readonly history: HistoryRead[];
  readonly logged: { readonly at: number; readonly level: string; readonly event: string; readonly detail: string }[];
  /** Some time after the last fault, before anybody did anything more. */
  rested: {
    readonly at: number;
    readonly head: number;
    readonly history: number;
    readonly alarmAt: number | null;
  } | null;
  /** When the last fault was over. */
  calmAt: number;
  /** At the end. */
  log: Event[];
  logJson: string[];
  historySeq: number;
  rows: Record<string, Record<string, unknown>[]>;
  /** The same log, brought over once into an empty history. */
  expectedRows: Record<string, Record<string, unknown>[]>;
  alarmAt: number | null;
  parked: number;
}

export const newObservation = (seed: number, conversationId: string): Observation => ({
  seed,
  conversationId,
  asked: [],
  connections: [],
  snapshots: [],
  tools: [],
  models: [],
  blows: [],
  history: [],
  logged: [],
  rested: null,
  calmAt: 0,
  log: [],
  logJson: [],
  historySeq: 0,
  rows: {},
  expectedRows: {},
  alarmAt: null,
  parked: 0,
});

export interface Violation {
  /** X1 … X19, or the name of another law. */
  readonly law: string;
  readonly says: string;
}

export const line = (at: number, level: string, event: string, error: unknown) => ({
  at,
  level,
  event,
  detail: error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error),
});
