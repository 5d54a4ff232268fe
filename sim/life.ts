/**
 * One life of the object: the real actor, journal, publisher and drain, wired as `conversation-object.ts` wires them, on
 * ports whose every promise settles by an event of the kernel.
 */
import { ConversationActor } from "../src/actor/actor.ts";
import type { ActorSettings, AgentPort, Clock, Log } from "../src/actor/ports.ts";
import { ModelTranscript } from "../src/effects/transcript.ts";
import { d1Destination } from "../src/history/destination.ts";
import { HistoryDrain } from "../src/history/drain.ts";
import { SqlJournal } from "../src/storage/journal.ts";
import { SocketPublisher } from "../src/stream/publisher.ts";
import { sha256 } from "./digest.ts";
import type { SimHistory } from "./history.ts";
import type { Kernel } from "./kernel.ts";
import type { ModelProvider } from "./model.ts";
import type { LifePort } from "./life-port.ts";
import { line, type Observation } from "./observation.ts";
import type { Strike } from "./plan.ts";
import type { Random } from "./random.ts";
import type { SimRegister } from "./registry.ts";
import type { SimSocket } from "./sockets.ts";
import type { StoreHandle } from "./store.ts";
import type { ToolBackend } from "./tools.ts";

export interface Life {
  readonly n: number;
  /** `zombie`: it runs on without storage while another life has begun. */
  fate: "alive" | "zombie" | "dead";
  /** It wrote what never became durable: nothing that it sends leaves any more. */
  held: boolean;
  readonly actor: ConversationActor;
  readonly journal: SqlJournal;
  readonly publisher: SocketPublisher;
  /** Resolves in a turn of this life, some time later. */
  later(ms: number): Promise<void>;
}

/** What a life asks of the platform. */
export interface Host {
  readonly head: number;
  readonly sockets: readonly SimSocket[];
  turn(life: Life, run: () => void): Promise<void>;
  gate(life: Life, run: () => void): void;
  strike(by: Strike): void;
}

export interface LifeParts {
  readonly kernel: Kernel;
  readonly observation: Observation;
  readonly random: Random;
  readonly settings: ActorSettings;
  readonly agents: (later: () => Promise<void>) => AgentPort;
  readonly model: ModelProvider;
  readonly tools: ToolBackend;
  readonly history: SimHistory;
  readonly register: SimRegister;
  readonly delay: () => number;
  readonly object: Host;
  readonly handle: StoreHandle;
  readonly life: number;
}

export function startLife(parts: LifeParts): Life {
  const { kernel, object, observation, handle, random } = parts;
  const clock: Clock = {
    now: () => kernel.now,
    after: (ms, run) => kernel.after(ms, () => object.turn(life, run)),
  };
  const later = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const log: Log = {
    info: (event) => observation.logged.push({ at: kernel.now, level: "info", event, detail: "" }),
    warn: (event) => observation.logged.push({ at: kernel.now, level: "warn", event, detail: "" }),
    error: (event, error) => observation.logged.push(line(kernel.now, "error", event, error)),
  };
  const journal = new SqlJournal(handle.db, handle.host);
  // The publisher asks the actor what it is streaming, and the actor publishes.
  const known: { actor: ConversationActor | null } = { actor: null };
  const publisher = new SocketPublisher({
    sockets: { all: (userId) => object.sockets.filter((one) => userId === undefined || userIdOf(one) === userId) },
    now: () => kernel.now,
    inProgress: () => known.actor?.inProgress() ?? null,
    log,
  });
  const port: LifePort = {
    later,
    gate: (run: () => void) => {
      if (life.fate !== "zombie") object.gate(life, run);
      // Without an open write of its own nothing holds back what an old life still sends.
      else if (!life.held) run();
    },
    isZombie: () => life.fate === "zombie",
    strike: (by) => object.strike(by),
    head: () => object.head,
    n: parts.life,
  };
  const actor = new ConversationActor({
    clock,
    log,
    journal,
    publisher,
    model: { ask: (effect, io) => parts.model.ask(port, effect, io) },
    tools: { call: (effect, io) => parts.tools.call(port, effect, io) },
    agents: parts.agents(() => later(random.below(4))),
    registry: parts.register.port(port),
    projector: new HistoryDrain({
      journal,
      destination: d1Destination(parts.history.database(port)),
      log,
      clock,
      random: () => random.next(),
    }),
    transcript: () => new ModelTranscript(),
    generation: () => "gen00001",
    sha256: async (text) => {
      const digest = sha256(text);
      if (random.chance(0.5)) await later(random.below(3));
      return digest;
    },
    settings: parts.settings,
  });
  known.actor = actor;
  const life: Life = { n: parts.life, fate: "alive", held: false, actor, journal, publisher, later };
  return life;
}

const userIdOf = (socket: { readonly watcher: { readonly principal: { readonly userId: string } } | null }) =>
  socket.watcher?.principal.userId;
