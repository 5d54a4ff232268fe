/**
 * The people of a schedule: they watch on sockets that break, react to what they are asked, and do what the plan says.
 * What they know is what frames and answers told them.
 */
import type { Command, ResumeRun } from "../src/protocol/commands.ts";
import type { Conversation } from "../src/protocol/conversation.ts";
import type { Event } from "../src/protocol/events.ts";
import { Connections, type ConnectionDeps } from "./connections.ts";
import type { Asked, Outcome } from "./observation.ts";
import { PLACES, type People } from "./people.ts";
import type { Config } from "./config.ts";
import type { Op, Plan } from "./plan.ts";
import { randomOf, type Random } from "./random.ts";
import { Screen, type SeenCall } from "./screen.ts";
import { Sender, type SenderDeps } from "./sender.ts";
import type { ToolBackend } from "./tools.ts";

export interface CrowdDeps extends Omit<
  SenderDeps,
  "answered" | "socketOf" | "lostAnswers" | "doubled" | "overSocket"
> {
  readonly plan: Plan;
  readonly people: People;
  readonly tools: ToolBackend;
  readonly weight: number;
}

type Decision = NonNullable<ResumeRun["decisions"]>[number];

export class Crowd {
  readonly screen = new Screen();
  readonly connections: Connections;
  readonly sender: Sender;
  readonly deps: CrowdDeps;
  readonly config: Config;
  /** Does what the plan says. */
  act: (op: Op) => void = () => undefined;
  /** Told of every event that is news. */
  shown: (event: Event) => void = () => undefined;
  #keys = 0;
  #messages = 0;
  calm = false;
  /** The conversation is there. */
  created = false;
  #approves = false;

  constructor(deps: CrowdDeps) {
    this.deps = deps;
    this.config = deps.plan.config;
    const { lostAnswers, doubled, overSocket } = this.config;
    const watching: ConnectionDeps = {
      ...deps,
      event: (event) => this.#event(event),
      snapshot: (conversation) => this.screen.snapshot(conversation),
      answer: (frame) => this.sender.heard(frame),
    };
    this.connections = new Connections(watching);
    this.sender = new Sender({
      ...deps,
      lostAnswers,
      doubled,
      overSocket,
      socketOf: (user) => this.connections.of(user),
      answered: (asked, outcome) => this.#answered(asked, outcome),
    });
  }

  /** Creates the conversation, invites, and sets the plan going. */
  begin(): void {
    this.send("alice", {
      type: "create_conversation",
      body: { agent: "sim", metadata: { seed: String(this.deps.plan.seed) } },
    });
  }

  send(user: string, command: Command, keyed = true): Asked {
    const key = keyed ? `k${++this.#keys}-${this.deps.plan.seed}` : null;
    return this.sender.send(this.deps.people.context(user), command, key);
  }

  start(user: string, whenBusy?: "enqueue" | "reject" | "replace"): Asked {
    const text = `message ${++this.#messages}`;
    return this.send(user, { type: "start_run", body: { input: { text }, ...(whenBusy ? { whenBusy } : {}) } });
  }

  decide(user: string, call: SeenCall, decision: "approve" | "reject" | "edit", more: Partial<Decision> = {}): Asked {
    const one = {
      toolCallId: call.id,
      argsDigest: call.argsDigest,
      decision,
      reason: `by ${user} ${this.#keys + 1}`,
      ...more,
    };
    return this.send(user, { type: "resume", runId: call.runId, body: { decisions: [one] } });
  }

  resolve(user: string, call: SeenCall, outcome: "happened" | "did_not_happen" | "give_up", result?: unknown): Asked {
    const digest = outcome === "did_not_happen" ? { argsDigest: call.argsDigest } : {};
    const given = result === undefined ? {} : { result };
    const resolutions = [{ toolCallId: call.id, attempt: call.attempt, outcome, ...digest, ...given }];
    return this.send(user, { type: "resume", runId: call.runId, body: { resolutions } });
  }

  /** Now, or as soon as it is shown that there is something to approve. */
  approveWhenAsked(): void {
    this.#approves = true;
    for (const call of this.screen.inState("awaiting_confirmation")) this.decide("alice", call, "approve");
  }

  #answered({ command, user }: Asked, outcome: Outcome): void {
    if (outcome.kind !== "ok") return;
    if (command.type === "create_conversation") {
      this.screen.snapshot(JSON.parse(outcome.body) as Conversation);
      this.created = true;
      for (const { userId, role } of this.#invited())
        this.send("alice", { type: "put_participant", userId, body: { role } }, false);
      this.connections.open(user, null);
      for (const op of this.deps.plan.ops) this.deps.kernel.after(op.at, () => this.act(op));
    }
    const watches = randomOf(
      this.deps.plan.seed,
      "watches",
      command.type === "put_participant" ? command.userId : user,
    ).chance(0.4);
    if (command.type === "put_participant" && watches && !this.connections.of(command.userId)) {
      this.connections.open(command.userId, null);
    }
    if (command.type === "start_run" || command.type === "retry_run") {
      const run = JSON.parse(outcome.body) as { id: string } | null;
      if (run && !this.screen.runs.has(run.id)) this.screen.runs.set(run.id, "queued");
    }
  }

  /** Not everybody is there every time. */
  #invited() {
    if (this.deps.plan.alone) return [];
    const random = randomOf(this.deps.plan.seed, "invited");
    const needed = this.config.gates.quorum > 1 || !this.config.gates.selfApproval;
    return PLACES.filter(({ userId }) => random.chance(userId === "dave" ? 0.2 : 0.6) || (needed && userId !== "dave"));
  }

  #event(event: Event): void {
    if (!this.screen.event(event)) return;
    const call = event.type === "confirmation.requested" ? this.screen.calls.get(event.data.toolCallId) : undefined;
    if (call && this.#approves) this.decide("alice", call, "approve");
    this.shown(event);
  }

  resolveAny(random: Random, id?: string): void {
    const unknown = this.screen.inState("unknown");
    const call = unknown.find((one) => one.id === id) ?? random.pick(unknown);
    if (!call) return;
    const outcome = random.pick(["happened", "did_not_happen", "give_up"]);
    const result = random.pick([undefined, { said: "yes" }, { invalid: true }]);
    this.resolve(
      random.pick(["alice", "alice", "bob", "carol"]),
      call,
      outcome,
      outcome === "happened" ? result : undefined,
    );
    if (random.chance(0.2)) this.resolve("carol", call, random.pick(["happened", "give_up"]));
  }
}
