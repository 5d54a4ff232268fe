/**
 * Plays one variant of the incident through the service's own conversation, model adapter and tools, over HTTP against
 * the fake provider, and tells what it cost. One play has a process to itself, so that its memory can be told.
 */
import { createHash } from "node:crypto";
import { ConversationActor } from "../../src/actor/actor.ts";
import type { Clock, Log } from "../../src/actor/ports.ts";
import { Agents } from "../../src/effects/agent-port.ts";
import { deriveKey } from "../../src/effects/derive-key.ts";
import { ToolExecution } from "../../src/effects/execute-call.ts";
import { modelClient } from "../../src/effects/model-client.ts";
import { ModelEffects } from "../../src/effects/model-effect.ts";
import { OUTSIDE_KEY_PURPOSE } from "../../src/effects/outside-key.ts";
import { Preparation } from "../../src/effects/preparation.ts";
import { pricesOf } from "../../src/effects/prices.ts";
import { ToolCatalogue } from "../../src/effects/tool-catalogue.ts";
import { toolSettings } from "../../src/effects/tool-settings.ts";
import { ModelTranscript } from "../../src/effects/transcript.ts";
import type { Command } from "../../src/protocol/commands.ts";
import type { Event, EventOf } from "../../src/protocol/events.ts";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import type { RequestContext } from "../../src/protocol/principal.ts";
import type { RunLimits } from "../../src/protocol/run.ts";
import { textOf, type Lang } from "../../src/protocol/texts.ts";
import { isBusy } from "../../src/run/status.ts";
import { nodeJournal } from "../../test/storage/node-journal.ts";
import { incidentAgent } from "./agent.ts";
import { PICTURE, VARIANTS, type VariantName } from "./variant.ts";

export interface Order {
  readonly variant: VariantName;
  readonly breakers: boolean;
  /** Of the fake provider; the model's name is the scope under which it keeps its books. */
  readonly baseUrl: string;
  readonly model: string;
}

export interface Played {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicroUsd: number | null;
  readonly ms: number;
  /** What of its heap is still held when the run has ended. */
  readonly heldBytes: number;
  /** What the conversation keeps in its storage. */
  readonly storedBytes: number;
  readonly calls: number;
  /** The first call that failed. */
  readonly noticed: { readonly step: number; readonly tool: string; readonly code: string } | null;
  readonly stop: string;
  readonly trip: Pick<EventOf<"limit.tripped">["data"], "limit" | "figure" | "bound" | "pattern" | "tool"> | null;
  /** What the user read of it, in both languages. */
  readonly notice: { readonly en: string; readonly zh: string } | null;
  readonly handover: string;
  /** How the run after it ended. */
  readonly next: string;
}

/** So high that nothing of the incident comes near. */
const OFF: Partial<RunLimits> = {
  maxSteps: 1_000,
  maxToolErrors: 1_000,
  maxSameFailure: 1_000,
  maxRunTokens: 1_000_000_000,
  maxConversationTokens: 1_000_000_000,
};
const CONVERSATION = conversationIdOf(new Uint8Array(16).fill(32));
const USER: RequestContext = {
  tenantId: "t1",
  userId: "alice",
  roles: [],
  scopes: ["conversations:read", "conversations:write"],
  locale: "zh-CN",
  requestId: "incident",
  traceId: "incident",
  expiresAt: Number.MAX_SAFE_INTEGER,
};
const clock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (event, error) => console.error(event, error),
};
const sha256 = async (text: string): Promise<string> => createHash("sha256").update(text).digest("base64url");

const ASKED = `Lay this out as a table.\n\n${PICTURE}`;

export async function play(order: Order): Promise<Played> {
  // What is loaded and compiled late is not the incident's.
  const warm = await open({ ...order, breakers: true, model: `${order.model} warm` });
  await say(warm.actor, ASKED);
  const { actor, events, journal } = await open(order);
  const before = held();
  const start = performance.now();
  await say(actor, ASKED);
  const ms = performance.now() - start;
  const heldBytes = held() - before;
  const { latest, handover } = actor.state;
  if (!latest) throw new Error("nothing has ended");
  const storedBytes = journal.bytes();
  const seen = told(events);
  await say(actor, "And when are you open?");
  const { inputTokens, outputTokens, costMicroUsd } = latest.usage;
  return {
    inputTokens,
    outputTokens,
    costMicroUsd,
    ms,
    heldBytes,
    storedBytes,
    calls: latest.callCount,
    ...seen,
    stop: latest.stop?.code ?? "nothing",
    handover: handover.state,
    next: actor.state.latest?.stop?.code ?? "nothing",
  };
}

function held(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** A conversation of its own, with nothing said yet. */
async function open({ variant, breakers, baseUrl, model }: Order) {
  const agent = incidentAgent(VARIANTS[variant], breakers ? {} : OFF);
  const nowhere = { app: {} as D1Database, fetch, variable: () => undefined, now: () => Date.now() };
  const catalogue = new ToolCatalogue([agent], nowhere);
  const settings = toolSettings({ model });
  const key = await deriveKey("the incident's secret", OUTSIDE_KEY_PURPOSE);
  const preparation = new Preparation(catalogue, { clock, log, settings, key });
  const client = modelClient(
    { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model, OPENAI_API_KEY: "incident" },
    {
      fetch: (input, init) => fetch(input, init),
      rehearsal: () => Promise.reject(new Error("no rehearsal here")),
    },
  );
  const events: Event[] = [];
  const journal = nodeJournal();
  const actor = new ConversationActor({
    clock,
    log,
    journal,
    publisher: {
      events: (encoded) => void events.push(...encoded.map(({ event }) => event)),
      delta: () => undefined,
      close: () => undefined,
    },
    model: new ModelEffects({
      clock,
      log,
      client,
      // For what the fake model would cost as a small real one.
      prices: new Map([...pricesOf(), [model, pricesOf().get("gpt-5-mini") ?? fail("no such price")]]),
      agentOf: (name) => (name === agent.name ? agent : undefined),
      prepareCalls: (effect, io, calls) => preparation.calls(effect, io, calls),
      sha256,
    }),
    tools: new ToolExecution(catalogue, { clock, log, settings }),
    agents: new Agents(catalogue, preparation, settings),
    registry: { claim: async () => true, release: async () => undefined },
    projector: { drain: async () => null },
    transcript: () => new ModelTranscript(),
    generation: () => "incident",
    sha256,
    settings: { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000 },
  });
  await send(actor, { type: "create_conversation", body: { agent: agent.name } });
  return { actor, events, journal };
}

const say = (actor: ConversationActor, text: string) => send(actor, { type: "start_run", body: { input: { text } } });

/** Resolves when what follows from it has ended. */
async function send(actor: ConversationActor, command: Command): Promise<void> {
  const answer = await actor.command(USER, { conversationId: CONVERSATION, command });
  if (!answer.ok) throw new Error(answer.rejection.detail);
  while (actor.state.active !== null && isBusy(actor.state, actor.state.active)) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function told(events: readonly Event[]): Pick<Played, "noticed" | "trip" | "notice"> {
  const of = <T extends Event["type"]>(type: T) => events.filter((event): event is EventOf<T> => event.type === type);
  const failed = of("tool_call.finished").find(({ data }) => !data.payload.success)?.data;
  const proposed = of("tool_call.proposed").find(({ data }) => data.toolCallId === failed?.toolCallId)?.data;
  const said = of("message.completed")
    .flatMap(({ data }) => data.message.parts)
    .find((part) => part.type === "notice");
  const inLanguage = (lang: Lang) => (said ? textOf(`notice.${said.code}`, lang, said.params) : "");
  return {
    noticed:
      failed && proposed ? { step: proposed.step, tool: proposed.tool, code: failed.payload.error?.code ?? "" } : null,
    trip: of("limit.tripped")[0]?.data ?? null,
    notice: said ? { en: inLanguage("en"), zh: inLanguage("zh") } : null,
  };
}

function fail(message: string): never {
  throw new Error(message);
}
