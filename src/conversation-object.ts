/**
 * The Durable Object of one conversation: the platform's face of the actor. A root: it wires storage, sockets, history
 * and effects to the ports, and turns the platform's calls into the actor's. It decides nothing.
 */
import { DurableObject } from "cloudflare:workers";
import { ConversationActor } from "./actor/actor.ts";
import { deploymentOf, type Deployment } from "./deployment.ts";
import { sha256 } from "./effects/digests.ts";
import { ModelEffects } from "./effects/model-effect.ts";
import { ModelTranscript } from "./effects/transcript.ts";
import { d1Destination } from "./history/destination.ts";
import { HistoryDrain } from "./history/drain.ts";
import { watchedDrain } from "./history/watched-drain.ts";
import { TICKET_INVALID, tickets, type Tickets } from "./edge/tickets.ts";
import { parseCursor } from "./protocol/cursor.ts";
import { readHandshake } from "./edge/handshake.ts";
import { CLOSE } from "./protocol/frames.ts";
import { DURATIONS } from "./protocol/limits.ts";
import { platformOf, type Platform } from "./platform.ts";
import { principalOf, RequestContext } from "./protocol/principal.ts";
import { problemOf, reject, type Rejection, type Result } from "./protocol/problems.ts";
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
import { durableJournal } from "./storage/durable-journal.ts";
import { StorageLostError } from "./storage/storage-lost.ts";
import { dispatch } from "./stream/dispatch.ts";
import { DurableSockets } from "./stream/durable-sockets.ts";
import { greet } from "./stream/greeting.ts";
import { SocketPublisher } from "./stream/publisher.ts";
import { refresh } from "./stream/refresh.ts";
import { Revalidation } from "./stream/revalidation.ts";
import { closeSocket } from "./stream/sockets.ts";
import { registryName } from "./tenant/registry-name.ts";

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

interface Life {
  readonly actor: ConversationActor;
  readonly journal: ReturnType<typeof durableJournal>;
  readonly publisher: SocketPublisher;
  readonly deployment: Deployment;
  readonly tickets: Tickets;
}

function openLife(ctx: DurableObjectState, platform: Platform, sockets: DurableSockets, deployment: Deployment): Life {
  const { clock, log, agents, execution, preparation, catalogue, model, prices, settings, standing } = deployment;
  const now = () => clock.now();
  const budgets = deployment.budgetsOf(ctx.id.name ?? "");
  const journal = durableJournal(platform.storage, (error) => log.error("alarm_not_set", error));
  // The publisher asks the actor what it is streaming, and the actor publishes: one of them is known to the other late.
  let actor: ConversationActor | null = null;
  const publisher = new SocketPublisher({
    sockets,
    now,
    inProgress: () => actor?.inProgress() ?? null,
    log,
    revoked: (principal) => standing.revoked(principal),
  });
  const revalidation = new Revalidation({
    sockets,
    now,
    everyMs: DURATIONS.watchersCheckedMs,
    check: (principal) => standing.refusal(principal),
    checked: () => publisher.endDue(),
  });
  actor = new ConversationActor({
    clock,
    log,
    journal,
    publisher: {
      events: (events, state) => {
        publisher.events(events, state);
        const checking = revalidation.begin();
        if (checking) ctx.waitUntil(checking);
      },
      delta: (delta) => publisher.delta(delta),
      close: (code, reason, userId) => void publisher.close(code, reason, userId),
    },
    signIns: publisher,
    standing,
    model: new ModelEffects({
      clock,
      log,
      client: model,
      prices,
      agentOf: (name) => catalogue.agent(name)?.agent,
      prepareCalls: (effect, io, calls) => preparation.calls(effect, io, calls),
      sha256,
      budget: budgets,
      spans: deployment.spans,
    }),
    budget: budgets,
    tools: execution,
    agents,
    registry: {
      claim: async (tenantId, claim) => platform.registry(await registryName(tenantId, claim.key)).claim(claim),
      release: async (tenantId, claim) => platform.registry(await registryName(tenantId, claim.key)).release(claim),
    },
    projector: watchedDrain(
      new HistoryDrain({
        journal,
        destination: d1Destination(platform.history),
        log,
        clock,
        random: () => Math.random(),
      }),
      { journal, now, drained: (tenantId, lagMs) => void deployment.alarms.look(tenantId, lagMs) },
    ),
    transcript: () => new ModelTranscript(),
    generation,
    sha256,
    settings,
  });
  return { actor, journal, publisher, deployment, tickets: tickets(settings.masterKey) };
}

/** 8 characters `[a-z0-9]`: five random bits each. */
function generation(): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => alphabet[byte & 31] ?? "a").join("");
}

function refused(rejection: Rejection, { requestId }: RequestContext): Response {
  const problem = problemOf(rejection, requestId);
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
