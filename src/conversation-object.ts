/**
 * The Durable Object of one conversation: the platform's face of the actor. A root: it turns the
 * platform's calls into the actor's, and decides nothing.
 */
import { DurableObject } from "cloudflare:workers";
import { openLife, type Life } from "./conversation-life.ts";
import { deploymentOf } from "./deployment.ts";
import { TICKET_INVALID } from "./edge/tickets.ts";
import { parseCursor } from "./protocol/cursor.ts";
import { readHandshake } from "./edge/handshake.ts";
import { CLOSE } from "./protocol/frames.ts";
import { DURATIONS } from "./protocol/limits.ts";
import { platformOf, type Platform } from "./platform.ts";
import { principalOf, RequestContext } from "./protocol/principal.ts";
import { problemOf, reject, type Rejection, type Result } from "./protocol/problems.ts";
import type { HistoryAccount, RestoreMode } from "./protocol/restore.ts";
import {
  CONTEXT_HEADER,
  type CommandRequest,
  type ConversationRpc,
  type EventQuery,
  type MessageQuery,
  type RunQuery,
  type SweepOrder,
  type Swept,
} from "./protocol/rpc.ts";
import { StorageLostError } from "./storage/storage-lost.ts";
import { dispatch } from "./stream/dispatch.ts";
import { DurableSockets } from "./stream/durable-sockets.ts";
import { greet } from "./stream/greeting.ts";
import { refresh } from "./stream/refresh.ts";
import { closeSocket } from "./stream/sockets.ts";

const NOT_OPEN = "the object is not open";

export class ConversationObject extends DurableObject<Env> implements ConversationRpc {
  readonly #platform: Platform;
  readonly #sockets: DurableSockets;
  #life: Life | null = null;
  /** Why there is no life yet: a deployment that may not serve, or weather that may pass. */
  #cause: unknown = null;

  /** @param platform the runtime gives none: the object's own */
  constructor(ctx: DurableObjectState, env: Env, platform = platformOf(ctx, env)) {
    super(ctx, env);
    this.#platform = platform;
    this.#sockets = new DurableSockets(platform.sockets);
    void ctx.blockConcurrencyWhile(() => this.#open());
  }

  command(context: RequestContext, request: CommandRequest) {
    return this.#told(context, ({ actor }) => actor.command(context, request));
  }

  snapshot(context: RequestContext) {
    return this.#told(context, ({ actor }) => actor.reads.snapshot(principalOf(context)));
  }

  run(context: RequestContext, runId: string) {
    return this.#told(context, ({ actor }) => actor.reads.run(principalOf(context), runId));
  }

  runs(context: RequestContext, _conversationId: string, query: RunQuery) {
    return this.#told(context, ({ actor }) => actor.reads.runs(principalOf(context), query));
  }

  messages(context: RequestContext, _conversationId: string, query: MessageQuery) {
    return this.#told(context, ({ actor }) => actor.reads.messages(principalOf(context), query));
  }

  events(context: RequestContext, _conversationId: string, query: EventQuery) {
    return this.#told(context, ({ actor }) => actor.reads.events(principalOf(context), query));
  }

  /** A change of standing reaches this conversation. Asked of one that was never made, it leaves nothing behind. */
  async swept({ tenantId, userId, kind }: SweepOrder): Promise<Swept> {
    const { actor, publisher } = this.#life ?? (await this.#opened());
    if (actor.state.identity?.tenantId !== tenantId) return { runs: 0, sockets: 0 };
    if (kind !== "deactivated") return { runs: actor.pause(kind === "paused"), sockets: 0 };
    // First the sockets: those who are out are not told how their runs end.
    const sockets = publisher.close(CLOSE.forbidden, "deactivated", userId);
    return { runs: actor.deactivate(tenantId, userId), sockets };
  }

  /** The ledger's: there may be room again. */
  async budgetChanged(): Promise<void> {
    const { actor } = this.#life ?? (await this.#opened());
    actor.budgetChanged();
  }

  /** The history brought back from this log. Of an object that was never initialised it leaves nothing behind. */
  async restore(mode: RestoreMode): Promise<HistoryAccount> {
    const { restorer } = this.#life ?? (await this.#opened());
    return restorer.restore(mode);
  }

  /** What storage has lost is said as a value: thrown, it would pass for a bug that may be tried again. */
  async #told<T>(context: RequestContext, ask: (life: Life) => Result<T> | Promise<Result<T>>): Promise<Result<T>> {
    const life = this.#life ?? (await this.#opened());
    try {
      return await ask(life);
    } catch (error) {
      if (!(error instanceof StorageLostError)) throw error;
      life.deployment.log.error("storage_lost", error, { requestId: context.requestId, traceId: context.traceId });
      return { ok: false, rejection: reject("storage_lost", "Something that was stored cannot be found any more.") };
    }
  }

  /** The upgrade to a WebSocket. Only the edge calls it, with a request that it made itself. */
  override async fetch(request: Request): Promise<Response> {
    const { actor, journal } = this.#life ?? (await this.#opened());
    const context = RequestContext.parse(JSON.parse(request.headers.get(CONTEXT_HEADER) ?? "null"));
    const { after, origin, nonce, nonceUntil = 0 } = readHandshake(request.url);
    const position = after === undefined ? null : parseCursor(after);
    if (after !== undefined && !position) return refused(reject("cursor_invalid", "The cursor is malformed."), context);
    const watching = actor.watch(principalOf(context));
    if (!watching.ok) return refused(watching.rejection, context);
    const { requestId, traceId, expiresAt } = context;
    const principal = principalOf(context);
    const watcher = { principal, requestId, traceId, expiresAt, ...(origin === undefined ? {} : { origin }) };
    const full = actor.rates.spend(context.userId) ?? this.#sockets.refusal(watcher);
    if (full) return refused(full, context);
    // Last: a ticket that came to nothing for another reason is still good.
    if (nonce !== undefined && !journal.burnTicket(nonce, nonceUntil, Date.now()))
      return refused(TICKET_INVALID, context);
    const greeting = greet({
      ...watching.value,
      userId: context.userId,
      position,
      now: Date.now(),
      events: (query) => journal.events(query),
      inProgress: actor.inProgress() ?? journal.checkpoint(),
    });
    const accepted = this.#sockets.accept(watcher, greeting);
    actor.watched();
    return accepted;
  }

  override async webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const { actor, publisher, deployment, journal, tickets } = this.#life ?? (await this.#opened());
    const socket = this.#sockets.of(ws);
    if (!publisher.admits(socket)) return;
    const { userId = "" } = socket.watcher?.principal ?? {};
    const conversationId = actor.state.identity?.conversationId ?? "";
    await dispatch(socket, message, {
      conversationId,
      command: (context, request, acknowledge) =>
        this.#told(context, (life) => life.actor.command(context, request, acknowledge)),
      // A frame that is none costs what a command costs.
      wasted: () => actor.rates.spend(userId),
      overdrawn: () => actor.rates.overdrawn(userId),
      refresh: async (ticket, watcher) => {
        const refreshed = await refresh(socket, watcher, ticket, {
          open: async (text, origin) => {
            const opened = await tickets.open(text, { conversationId, origin, now: Date.now() });
            const refusal = opened.ok ? await deployment.standing.refusal(opened.value.principal) : null;
            return refusal ? { ok: false, rejection: refusal } : opened;
          },
          hidden: (principal) => {
            const watching = actor.watch(principal);
            return watching.ok ? null : watching.rejection;
          },
          burn: (nonce, exp) => journal.burnTicket(nonce, exp, Date.now()),
        });
        // The new sign-in may end earlier than the old one.
        actor.watched();
        return refreshed;
      },
      failed: (error, { requestId, traceId }) =>
        deployment.log.error("frame_failed", error, { requestId, traceId, conversationId }),
    });
  }

  /** Closing a socket cancels nothing. Answered by hand: a local runtime leaves the other side waiting otherwise. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    closeSocket(this.#sockets.of(ws), code, reason);
  }

  override webSocketError(_ws: WebSocket, error: unknown): void {
    this.#life?.deployment.log.warn("socket_error", { error: error instanceof Error ? error.name : typeof error });
  }

  /** A deployment that may not serve keeps its alarms: what is due is done by the one that mends it. */
  override async alarm(): Promise<void> {
    if (!this.#life) await this.ctx.blockConcurrencyWhile(() => this.#open());
    if (this.#life) this.#life.actor.alarm();
    else await this.ctx.storage.setAlarm(Date.now() + DURATIONS.watchdogMs);
  }

  /** What could not be opened is tried again by whoever comes next: an object may live for long under traffic. */
  async #opened(): Promise<Life> {
    await this.ctx.blockConcurrencyWhile(() => this.#open());
    if (!this.#life) throw new Error(NOT_OPEN, { cause: this.#cause });
    return this.#life;
  }

  async #open(): Promise<void> {
    // Of several that waited, one opens.
    if (this.#life) return;
    try {
      const deployment = await deploymentOf(this.env);
      this.#life = openLife(this.ctx, this.#platform, this.#sockets, deployment);
    } catch (error) {
      // Thrown from here it would reset the object, and its alarm would be dropped after a few tries.
      this.#cause = error;
    }
  }
}

function refused(rejection: Rejection, { requestId }: RequestContext): Response {
  const problem = problemOf(rejection, requestId);
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
