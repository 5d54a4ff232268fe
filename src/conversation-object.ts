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
import { TICKET_INVALID, tickets, type Tickets } from "./edge/tickets.ts";
import { parseCursor } from "./protocol/cursor.ts";
import { readHandshake } from "./protocol/handshake.ts";
import { principalOf, RequestContext } from "./protocol/principal.ts";
import { problemOf, reject, type Rejection } from "./protocol/problems.ts";
import {
  CONTEXT_HEADER,
  type CommandRequest,
  type ConversationRpc,
  type EventQuery,
  type MessageQuery,
  type RunQuery,
} from "./protocol/rpc.ts";
import { durableJournal } from "./storage/durable-journal.ts";
import { dispatch } from "./stream/dispatch.ts";
import { DurableSockets } from "./stream/durable-sockets.ts";
import { greet } from "./stream/greeting.ts";
import { SocketPublisher } from "./stream/publisher.ts";
import { refresh } from "./stream/refresh.ts";
import { closeSocket } from "./stream/sockets.ts";
import { registryName } from "./tenant/registry-name.ts";

const NOT_OPEN = "the object is not open";

export class ConversationObject extends DurableObject<Env> implements ConversationRpc {
  readonly #sockets: DurableSockets;
  #life: Life | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sockets = new DurableSockets(ctx);
    void ctx.blockConcurrencyWhile(async () => {
      this.#life = openLife(ctx, env, this.#sockets, await deploymentOf(env));
    });
  }

  command(context: RequestContext, request: CommandRequest) {
    return this.#open.actor.command(context, request);
  }

  async snapshot(context: RequestContext) {
    return this.#open.actor.reads.snapshot(principalOf(context));
  }

  async run(context: RequestContext, runId: string) {
    return this.#open.actor.reads.run(principalOf(context), runId);
  }

  async runs(context: RequestContext, _conversationId: string, query: RunQuery) {
    return this.#open.actor.reads.runs(principalOf(context), query);
  }

  async messages(context: RequestContext, _conversationId: string, query: MessageQuery) {
    return this.#open.actor.reads.messages(principalOf(context), query);
  }

  async events(context: RequestContext, _conversationId: string, query: EventQuery) {
    return this.#open.actor.reads.events(principalOf(context), query);
  }

  /** The upgrade to a WebSocket. Only the edge calls it, with a request that it made itself. */
  override async fetch(request: Request): Promise<Response> {
    const { actor, journal } = this.#open;
    const context = RequestContext.parse(JSON.parse(request.headers.get(CONTEXT_HEADER) ?? "null"));
    const { after, origin, nonce, nonceUntil = 0 } = readHandshake(request.url);
    const position = after === undefined ? null : parseCursor(after);
    if (after !== undefined && !position) return refused(reject("cursor_invalid", "The cursor is malformed."), context);
    const watching = actor.watch(principalOf(context));
    if (!watching.ok) return refused(watching.rejection, context);
    const { requestId, traceId, expiresAt } = context;
    const principal = principalOf(context);
    const watcher = { principal, requestId, traceId, expiresAt, ...(origin === undefined ? {} : { origin }) };
    const full = this.#sockets.refusal(watcher);
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
    const { actor, publisher, deployment, journal, tickets } = this.#open;
    const socket = this.#sockets.of(ws);
    if (!publisher.admits(socket)) return;
    const conversationId = actor.state.identity?.conversationId ?? "";
    await dispatch(socket, message, {
      conversationId,
      command: (context, request) => actor.command(context, request),
      refresh: (ticket, watcher) =>
        refresh(socket, watcher, ticket, {
          open: (text, origin) => tickets.open(text, { conversationId, origin, now: Date.now() }),
          hidden: (principal) => {
            const watching = actor.watch(principal);
            return watching.ok ? null : watching.rejection;
          },
          burn: (nonce, exp) => journal.burnTicket(nonce, exp, Date.now()),
        }),
      failed: (error, { requestId, traceId }) =>
        deployment.log.error("frame_failed", error, { requestId, traceId, conversationId }),
    });
  }

  /** Closing a socket cancels nothing. Answered by hand: a local runtime leaves the other side waiting otherwise. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    closeSocket(this.#sockets.of(ws), code, reason);
  }

  override webSocketError(_ws: WebSocket, error: unknown): void {
    this.#open.deployment.log.warn("socket_error", { error: error instanceof Error ? error.name : typeof error });
  }

  override alarm(): void {
    this.#open.actor.alarm();
  }

  get #open(): Life {
    if (!this.#life) throw new Error(NOT_OPEN);
    return this.#life;
  }
}

interface Life {
  readonly actor: ConversationActor;
  readonly journal: ReturnType<typeof durableJournal>;
  readonly publisher: SocketPublisher;
  readonly deployment: Deployment;
  readonly tickets: Tickets;
}

function openLife(ctx: DurableObjectState, env: Env, sockets: DurableSockets, deployment: Deployment): Life {
  const { clock, log, agents, execution, preparation, catalogue, model, prices, settings } = deployment;
  const now = () => clock.now();
  const journal = durableJournal(ctx.storage, (error) => log.error("alarm_not_set", error));
  // The publisher asks the actor what it is streaming, and the actor publishes: one of them is known to the other late.
  let actor: ConversationActor | null = null;
  const publisher = new SocketPublisher({ sockets, now, inProgress: () => actor?.inProgress() ?? null, log });
  actor = new ConversationActor({
    clock,
    log,
    journal,
    publisher,
    signIns: publisher,
    model: new ModelEffects({
      clock,
      log,
      client: model,
      prices,
      agentOf: (name) => catalogue.agent(name)?.agent,
      prepareCalls: (effect, io, calls) => preparation.calls(effect, io, calls),
      sha256,
    }),
    tools: execution,
    agents,
    registry: {
      claim: async (tenantId, claim) => (await registry(env, tenantId, claim.key)).claim(claim),
      release: async (tenantId, claim) => (await registry(env, tenantId, claim.key)).release(claim),
    },
    projector: new HistoryDrain({
      journal,
      destination: d1Destination(env.HISTORY),
      log,
      clock,
      random: () => Math.random(),
    }),
    transcript: () => new ModelTranscript(),
    generation,
    sha256,
    settings,
  });
  return { actor, journal, publisher, deployment, tickets: tickets(settings.masterKey) };
}

const registry = async (env: Env, tenantId: string, key: string) =>
  env.REGISTRY.getByName(await registryName(tenantId, key));

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
