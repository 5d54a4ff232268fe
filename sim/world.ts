/**
 * One schedule, from its seed to what was seen of it: the plan is played with its faults, then everything is made to work
 * and comes to rest, people answer what is open (or nobody does and time passes), and a new message must be answered.
 */
import { eventJson } from "../src/protocol/encoded-event.ts";
import type { Event } from "../src/protocol/events.ts";
import { conversationIdOf } from "../src/protocol/ids.ts";
import { project } from "../src/history/project.ts";
import type { SQLInputValue } from "node:sqlite";
import { agentPort } from "./agents.ts";
import { emphasisOf } from "./config.ts";
import { Acts } from "./acts.ts";
import { Crowd } from "./crowd.ts";
import { Reactions } from "./reactions.ts";
import { SimHistory, type HistoryTables } from "./history.ts";
import { Kernel } from "./kernel.ts";
import { ModelProvider } from "./model.ts";
import { SimObject } from "./object.ts";
import { newObservation, type Observation } from "./observation.ts";
import { peopleOf, type People } from "./people.ts";
import type { Plan } from "./plan.ts";
import { hashOf, randomOf } from "./random.ts";
import { SimRegister } from "./registry.ts";
import type { Registry } from "../src/tenant/registry.ts";
import { SimStore, type StoreDatabase } from "./store.ts";
import { ToolBackend } from "./tools.ts";
import { principalOf } from "../src/protocol/principal.ts";
import { LIMITS } from "../src/protocol/limits.ts";

const MAX_STEPS = 20_000;
/** Longer than the longest back-off of the outbox. */
const REST_MS = 11 * 60_000;
const DAY_MS = 26 * 3_600_000;

/** Databases that serve one schedule after another. */
export interface Shared {
  readonly history: HistoryTables;
  readonly expected: HistoryTables;
  readonly register: Registry;
  /** Of objects whose schedules are over. */
  readonly stores: StoreDatabase[];
}

export class World {
  readonly plan: Plan;
  readonly observation: Observation;
  readonly kernel: Kernel;
  readonly store: SimStore;
  readonly object: SimObject;
  readonly model: ModelProvider;
  readonly tools: ToolBackend;
  readonly history: SimHistory;
  readonly register: SimRegister;
  readonly crowd: Crowd;
  readonly people: People;
  readonly #shared: Shared;

  constructor(plan: Plan, shared: Shared) {
    const { seed, config, faults } = plan;
    this.plan = plan;
    this.#shared = shared;
    const bytes = Uint8Array.from({ length: 16 }, (_, at) => hashOf(seed, "id", at) & 255);
    const conversationId = conversationIdOf(bytes);
    const observation = newObservation(seed, conversationId);
    const kernel = new Kernel(randomOf(seed, "kernel"));
    const random = randomOf(seed, "network");
    const delay = () => random.between(1, config.slowAnswers ? 400 : 20);
    this.observation = observation;
    this.kernel = kernel;
    this.people = peopleOf(plan.tenant ?? `t${seed}`);
    this.store = new SimStore(() => kernel.now, shared.stores.pop());
    this.tools = new ToolBackend(kernel, observation, config, seed);
    this.model = new ModelProvider(kernel, observation, config, this.tools, plan);
    const struck = (kind: string) => {
      observation.blows.push({ at: kernel.now, kind, head: this.object.head });
    };
    this.register = new SimRegister({
      kernel,
      register: shared.register,
      random: randomOf(seed, "register"),
      lost: config.lostClaims,
      struck,
    });
    this.history = new SimHistory({
      kernel,
      tables: shared.history,
      random: randomOf(seed, "history"),
      faults,
      lateLanding: config.lateLanding,
      struck,
      applied: () => {
        const seq = shared.history.seq(this.people.tenantId);
        observation.history.push({ at: kernel.now, head: this.object.head, seq });
      },
    });
    this.object = new SimObject({
      kernel,
      store: this.store,
      observation,
      faults,
      lagMs: config.lagMs,
      parts: {
        kernel,
        observation,
        random: randomOf(seed, "life"),
        settings: config.settings,
        agents: (later) => agentPort(config, this.tools, later),
        model: this.model,
        tools: this.tools,
        history: this.history,
        register: this.register,
        delay,
      },
    });
    this.crowd = new Crowd({
      kernel,
      object: this.object,
      observation,
      conversationId,
      random: randomOf(seed, "crowd"),
      delay,
      plan,
      people: this.people,
      tools: this.tools,
      weight: config.heavyFrames ? 2_500 : 1,
    });
    const acts = new Acts(this.crowd);
    const reactions = new Reactions(this.crowd);
    this.crowd.act = (op) => acts.do(op);
    this.crowd.shown = (event) => reactions.shown(event);
  }

  /** @param play instead of the plan's own commands */
  async run(play: () => Promise<void> = () => this.#play()): Promise<Observation> {
    const restore = shrink(this.plan.config.bounds);
    try {
      await play();
      await this.#rest();
      await this.#finish();
      // In small pages a log is read many times over: in a part of the schedules that is enough.
      if (!this.#inDetail) restore();
      await this.#collect();
      return this.observation;
    } finally {
      restore();
      const spare = this.store.close();
      if (spare) this.#shared.stores.push(spare);
    }
  }

  /** A part of the schedules. */
  get #inDetail(): boolean {
    return this.plan.seed % 3 === 0 || emphasisOf(this.plan.seed) === "history";
  }

  async #play(): Promise<void> {
    this.crowd.begin();
    const last = Math.max(2_000, ...this.plan.ops.map(({ at }) => at));
    await this.#until(last + 60_000);
  }

  /** Faults are over. An alarm that was lost is made good by the first request after a restart, and by nothing else. */
  async #rest(): Promise<void> {
    this.object.calm = true;
    this.history.calm = true;
    this.register.calm = true;
    this.observation.calmAt = this.kernel.now;
    await this.#until(5_000);
    this.object.kill("evict", "evict");
    this.crowd.connections.read("alice");
    await this.#until(REST_MS);
    const { head, alarmAt } = this.object;
    const history = this.#shared.history.seq(this.people.tenantId);
    this.observation.rested = { at: this.kernel.now, head, history, alarmAt };
  }

  async #finish(): Promise<void> {
    const { crowd, kernel } = this;
    this.tools.calm = true;
    this.model.calm = true;
    crowd.calm = true;
    crowd.sender.calm = true;
    if (this.plan.config.ending === "nobody") {
      await this.#until(DAY_MS);
    }
    for (let round = 0; round < 12 && !this.#isAtRest(); round++) {
      this.#answerAll(round);
      await this.#until(60_000);
    }
    const asked = crowd.start("alice");
    await this.#until(120_000);
    if (asked.answeredAt === null)
      this.observation.logged.push({ at: kernel.now, level: "error", event: "no_last_answer", detail: "" });
    crowd.connections.read("alice");
    await this.#until(REST_MS);
    crowd.connections.over = true;
  }

  #isAtRest(): boolean {
    const { screen } = this.crowd;
    const open = screen.inState("awaiting_confirmation").length + screen.inState("unknown").length;
    return open === 0 && screen.handover === "none" && screen.runsThat("active").length === 0;
  }

  #answerAll(round: number): void {
    const { crowd } = this;
    const { screen } = crowd;
    if (screen.handover !== "none") crowd.send("alice", { type: "release_handover", body: {} }, false);
    for (const call of screen.inState("awaiting_confirmation")) {
      crowd.decide("alice", call, round > 5 ? "reject" : "approve");
      if (this.plan.config.gates.quorum > 1) crowd.decide("carol", call, "approve");
      if (!this.plan.config.gates.selfApproval) crowd.decide("bob", call, "approve");
    }
    for (const call of screen.inState("unknown")) crowd.resolve(round % 2 === 0 ? "alice" : "carol", call, "give_up");
    // What waits for nobody that could answer (a budget), somebody gives up.
    for (const runId of round > 3 ? screen.runsThat("active") : []) {
      crowd.send("alice", { type: "cancel_run", runId, body: { reason: "enough" } });
    }
    const asks = screen.continuation;
    if (asks) {
      const continuations = [
        { limit: asks.limit as "maxSteps", decision: round > 2 ? ("stop" as const) : ("continue" as const) },
      ];
      crowd.send("alice", { type: "resume", runId: asks.runId, body: { continuations } });
    }
    crowd.connections.read("alice");
  }

  #until(ms: number): Promise<void> {
    return this.kernel.run(this.kernel.now + ms, this.kernel.steps + MAX_STEPS);
  }

  /** The log through the reads of a new life; the history as it stands, and as it should. */
  async #collect(): Promise<void> {
    const { observation, people } = this;
    const { tenantId } = people;
    this.object.kill("evict", "end");
    const log = await this.#readLog();
    observation.log = log;
    observation.logJson = log.map(({ data, ...envelope }) => eventJson(envelope as Event, JSON.stringify(data)));
    observation.alarmAt = this.object.alarmAt;
    observation.historySeq = this.#shared.history.seq(tenantId);
    const [created] = log;
    if (created?.type !== "conversation.created") return;
    const { conversationId, generation } = created.data;
    observation.parked = this.store.exec("SELECT count(*) AS n FROM parked").map((row) => Number(row["n"]))[0] ?? 0;
    // The rows are compared with those of one undisturbed projection; it costs as much again.
    if (!this.#inDetail) return;
    observation.rows = this.#shared.history.rows(tenantId);
    const bodies = new Map(
      this.store.exec("SELECT digest, body FROM payloads").map((row) => [row["digest"], row["body"]]),
    );
    const statements = project({ tenantId, conversationId, generation }, log, (digest) => {
      const body = bodies.get(digest);
      return typeof body === "string" ? body : null;
    });
    this.#shared.expected.batch(statements.map(({ sql, params }) => ({ sql, params: params as SQLInputValue[] })));
    observation.expectedRows = this.#shared.expected.rows(tenantId);
  }

  async #readLog(): Promise<Event[]> {
    const log: Event[] = [];
    const principal = principalOf(this.people.context("alice"));
    let cursor: string | null = null;
    let broken: unknown = null;
    await this.object.deliver((life) => {
      try {
        for (;;) {
          const page = life.actor.reads.events(principal, {
            limit: 1_000,
            ...(cursor === null ? {} : { after: cursor }),
          });
          if (!page.ok) return;
          log.push(...page.value.data);
          cursor = page.value.nextCursor;
          if (cursor === null) return;
        }
      } catch (error) {
        broken = error;
      }
    });
    if (broken) throw broken;
    return log;
  }
}

/** Makes bounds of the service small for this schedule. @returns puts them back */
function shrink(bounds: Readonly<Record<string, number>>): () => void {
  const before = { ...LIMITS };
  Object.assign(LIMITS, bounds);
  return () => Object.assign(LIMITS, before);
}
