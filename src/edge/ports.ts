/** What the edge needs from the world; `index.ts` wires it, tests hand in fakes. */
import type { AgentDescription } from "../protocol/agent.ts";
import type { BudgetLevels } from "../protocol/budget.ts";
import type { ConversationSummary, InboxItem } from "../protocol/history.ts";
import type { Message } from "../protocol/message.ts";
import type { Principal, RequestContext } from "../protocol/principal.ts";
import type { Rejection, Result } from "../protocol/problems.ts";
import type { HistoryAccount, RestoreMode } from "../protocol/restore.ts";
import type { TenantStanding, UserStanding } from "../protocol/standing.ts";
import type { ConversationRpc, MessageQuery, Page } from "../protocol/rpc.ts";
import type { UsageReport } from "../protocol/usage.ts";
import type { Settings } from "./settings.ts";
import type { Tenant } from "./stub-for.ts";

export interface EdgeLog {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, error: unknown, fields?: Record<string, unknown>): void;
}

/** An actor's stub. `fetch` is for the WebSocket upgrade alone. */
export interface Actor extends ConversationRpc {
  fetch(request: Request): Promise<Response>;
}

export interface ConversationListQuery {
  readonly q?: string;
  readonly agent?: string;
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** The `nextCursor` of the page before, as the reader gave it. */
  readonly after?: string;
}

export interface InboxQuery {
  /** Epoch ms: what has expired by then is nobody's to decide. */
  readonly now: number;
  readonly limit: number;
  readonly after?: string;
}

/** What the history knows, which may be less than there is by now. */
export interface StalePage<T> extends Page<T> {
  readonly stale: true;
  readonly asOfSeq: number;
}

/** Reads of the history. Throws when it cannot be read: the edge answers `history_unavailable`. */
export interface HistoryReader {
  list(tenantId: string, userId: string, query: ConversationListQuery): Promise<Result<Page<ConversationSummary>>>;
  confirmations(reader: Principal, query: InboxQuery): Promise<Result<Page<InboxItem>>>;
  /** null: the history knows of nothing here that is this reader's. */
  messages(reader: Principal, conversationId: string, query: MessageQuery): Promise<StalePage<Message> | null>;
  /** Of a range in epoch ms, half open. */
  usage(
    tenantId: string,
    query: { readonly from: number; readonly to: number; readonly agent?: string },
  ): Promise<UsageReport>;
}

/** A tenant's standing, for those who administer it. Throws when the tenant's object cannot be asked. */
export interface StandingDoor {
  user(tenantId: string, userId: string): Promise<UserStanding>;
  tenant(tenantId: string): Promise<TenantStanding>;
  /** Resolves when the change holds everywhere. */
  changeUser(what: "deactivate" | "reactivate", by: string, tenantId: string, userId: string): Promise<UserStanding>;
  changeTenant(
    what: "deactivate" | "reactivate" | "pause" | "resume",
    by: string,
    tenantId: string,
  ): Promise<TenantStanding>;
}

/** A conversation that the history names. */
export interface HistoryCandidate {
  readonly tenantId: string;
  readonly conversationId: string;
}

/** An object that is asked for its account of the history. `restore` throws when it cannot be asked, or the history. */
export interface HistoryObject {
  readonly objectId: string;
  readonly restore: (mode: RestoreMode) => Promise<HistoryAccount>;
}

/** Beyond tenants, for a platform's administrator. */
export interface RestoreDoor {
  /** In ascending order. Throws when the history cannot be read. */
  candidates(query: {
    readonly operator: string;
    readonly reason: string;
    readonly after?: HistoryCandidate;
    readonly limit: number;
  }): Promise<readonly HistoryCandidate[]>;
  named(candidate: HistoryCandidate): Promise<HistoryObject>;
  byId(objectId: string): HistoryObject;
}

export interface EdgePorts {
  readonly settings: Settings;
  /** A fresh stub at each call: after an exception a stub is spent. */
  readonly actor: (tenant: Tenant, conversationId: string) => Promise<Actor>;
  readonly log: EdgeLog;
  /** Epoch ms. */
  readonly now: () => number;
  /** Absent: the routes that read it are absent too. */
  readonly history?: HistoryReader;
  /** What is used of the tenant's limits; null: it has none. */
  readonly budget?: (tenantId: string) => Promise<BudgetLevels | null>;
  readonly agents?: (locale: string | undefined) => Promise<readonly AgentDescription[]>;
  /** Asked after the sign-in and before anything is read of the body. null: go on. */
  readonly admit?: (
    context: RequestContext,
    route: { readonly method: string; readonly path: string },
  ) => Promise<Rejection | null>;
  /** Whether this sign-in still counts. null: go on. Not asked for commands: their actor asks. Never rejects. */
  readonly standing?: (context: RequestContext) => Promise<Rejection | null>;
  /** Absent: the routes that administer it are absent too. */
  readonly tenants?: StandingDoor;
  /** Absent: the route that brings the history back is absent too. */
  readonly restore?: RestoreDoor;
  /** Each dependency by name: can it be used now? */
  readonly readiness?: () => Promise<Readonly<Record<string, boolean>>>;
  /** For the identity provider's keys. */
  readonly fetch?: typeof fetch;
}
