/**
 * One life of a conversation's object, from the platform's pieces to the actor: storage, sockets, history and effects,
 * each behind its port. A root: wiring, no decisions.
 */
import { ConversationActor } from "./actor/actor.ts";
import type { Deployment } from "./deployment.ts";
import { sha256 } from "./effects/digests.ts";
import { ModelEffects } from "./effects/model-effect.ts";
import { ModelTranscript } from "./effects/transcript.ts";
import { tickets, type Tickets } from "./edge/tickets.ts";
import { d1Destination } from "./history/destination.ts";
import { HistoryDrain } from "./history/drain.ts";
import { Restorer } from "./history/restorer.ts";
import { watchedDrain } from "./history/watched-drain.ts";
import type { Platform } from "./platform.ts";
import { DURATIONS } from "./protocol/limits.ts";
import { durableJournal } from "./storage/durable-journal.ts";
import type { DurableSockets } from "./stream/durable-sockets.ts";
import { SocketPublisher } from "./stream/publisher.ts";
import { Revalidation } from "./stream/revalidation.ts";
import { registryName } from "./tenant/registry-name.ts";

/** What an object keeps as long as it is in memory. */
export interface Life {
  readonly actor: ConversationActor;
  readonly journal: ReturnType<typeof durableJournal>;
  readonly publisher: SocketPublisher;
  readonly deployment: Deployment;
  readonly tickets: Tickets;
  readonly restorer: Restorer;
}

export function openLife(
  ctx: DurableObjectState,
  platform: Platform,
  sockets: DurableSockets,
  deployment: Deployment,
): Life {
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
    // All of them are of the conversation's tenant: nobody else gets a socket here.
    check: (watching) =>
      standing.learn(
        watching[0]?.tenantId ?? "",
        watching.map(({ userId }) => userId),
      ),
    checked: () => publisher.endDue(),
  });
  const revalidate = () => {
    const checking = revalidation.begin();
    if (checking) ctx.waitUntil(checking);
  };
  const destination = d1Destination(platform.history);
  const drain = new HistoryDrain({ journal, destination, log, clock, random: () => Math.random() });
  actor = new ConversationActor({
    clock,
    log,
    journal,
    publisher: {
      events: (events, state) => {
        publisher.events(events, state);
        revalidate();
      },
      delta: (delta) => {
        publisher.delta(delta);
        revalidate();
      },
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
    projector: watchedDrain(drain, {
      journal,
      now,
      drained: (tenantId, lagMs) => void deployment.alarms.look(tenantId, lagMs),
    }),
    transcript: () => new ModelTranscript(),
    generation,
    sha256,
    settings,
  });
  const head = () => actor.state.seq;
  const restorer = new Restorer({ journal, destination, drain, head, now });
  return { actor, journal, publisher, deployment, tickets: tickets(settings.masterKey), restorer };
}

/** 8 characters `[a-z0-9]`: five random bits each. */
function generation(): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => alphabet[byte & 31] ?? "a").join("");
}
