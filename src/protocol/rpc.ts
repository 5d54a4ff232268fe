/**
 * What the edge may ask of an actor. RPC returns data: an expected refusal is a value, a throw is a bug or the weather.
 * Every call carries the request's context; there is no call that takes a conversation id alone. The WebSocket upgrade is
 * the one exception in form: a socket does not cross RPC, so the edge makes a fresh request for `fetch`, with the context
 * in the header below, `?conversation=&after=`, and nothing of the client's headers.
 */
import type { Command } from "./commands.ts";
import type { Conversation } from "./conversation.ts";
import type { Event } from "./events.ts";
import type { Message } from "./message.ts";
import type { RequestContext } from "./principal.ts";
import type { RateState, Result } from "./problems.ts";
import type { Run } from "./run.ts";

export const CONTEXT_HEADER = "x-holdpoint-context";

export interface CommandRequest {
  readonly conversationId: string;
  readonly command: Command;
  readonly idempotencyKey?: string;
}

/** The answer as first given; a replay gives the same again. */
export interface CommandAnswer {
  readonly status: 200 | 201 | 202 | 204;
  readonly body: Conversation | Run | Message | null;
  readonly replayed: boolean;
  /** Cursor before the first event of this command; absent in a replay. */
  readonly since?: string;
  /** Of the one who commands. */
  readonly rate?: RateState;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export interface MessageQuery {
  readonly after: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
}
export interface EventQuery {
  /** A cursor string; absent: from the beginning. */
  readonly after?: string;
  readonly limit: number;
  readonly runId?: string;
}
export interface RunQuery {
  /** Runs with a smaller number; absent: from the newest. */
  readonly before?: number;
  readonly limit: number;
}

/** A change of standing, on its way to a conversation. */
export interface SweepOrder {
  readonly tenantId: string;
  /** Absent: everybody of the tenant. */
  readonly userId?: string;
  readonly kind: "deactivated" | "paused" | "resumed";
}
/** What it had to be told; twice nothing: nothing of it is left. */
export interface Swept {
  readonly runs: number;
  readonly sockets: number;
}

export interface ConversationRpc {
  command(context: RequestContext, request: CommandRequest): Promise<Result<CommandAnswer>>;
  snapshot(context: RequestContext, conversationId: string): Promise<Result<Conversation>>;
  run(context: RequestContext, runId: string): Promise<Result<Run>>;
  runs(context: RequestContext, conversationId: string, query: RunQuery): Promise<Result<Page<Run>>>;
  messages(context: RequestContext, conversationId: string, query: MessageQuery): Promise<Result<Page<Message>>>;
  events(context: RequestContext, conversationId: string, query: EventQuery): Promise<Result<Page<Event>>>;
}
