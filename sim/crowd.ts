/**
 * The people of a schedule: they watch on sockets that break, react to what they are asked, and do what the plan says.
 * What they know is what frames and answers told them.
 */
import type { Command, ResumeRun } from "../src/protocol/commands.ts";
import type { Conversation } from "../src/protocol/conversation.ts";
import type { Event, EventOf } from "../src/protocol/events.ts";
import { Connections, type ConnectionDeps } from "./connections.ts";
import { sha256 } from "./digest.ts";
import type { Asked, Outcome } from "./observation.ts";
import { PLACES, type People } from "./people.ts";
import type { Config, Op, Plan, Reaction } from "./plan.ts";
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
  readonly #deps: CrowdDeps;
  readonly #config: Config;
  #keys = 0;
  #messages = 0;
  calm = false;
  /** The conversation is there. */
  created = false;
  #approves = false;

  constructor(deps: CrowdDeps) {
    this.#deps = deps;
    this.#config = deps.plan.config;
    const { lostAnswers, doubled, overSocket } = this.#config;
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
      body: { agent: "sim", metadata: { seed: String(this.#deps.plan.seed) } },
    });
  }

  send(user: string, command: Command, keyed = true): Asked {
    const key = keyed ? `k${++this.#keys}-${this.#deps.plan.seed}` : null;
    return this.sender.send(this.#deps.people.context(user), command, key);
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
    const resolutions = [{ toolCallId: call.id, outcome, ...digest, ...given }];
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
      for (const op of this.#deps.plan.ops) this.#deps.kernel.after(op.at, () => this.#do(op));
    }
    const watches = randomOf(
      this.#deps.plan.seed,
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
    if (this.#deps.plan.alone) return [];
    const random = randomOf(this.#deps.plan.seed, "invited");
    const needed = this.#config.gates.quorum > 1 || !this.#config.gates.selfApproval;
    return PLACES.filter(({ userId }) => random.chance(userId === "dave" ? 0.2 : 0.6) || (needed && userId !== "dave"));
  }

  #event(event: Event): void {
    if (!this.screen.event(event)) return;
    if (event.type === "confirmation.requested") {
      const call = this.screen.calls.get(event.data.toolCallId);
      if (call && this.#approves) this.decide("alice", call, "approve");
      if (call?.argsDigest) this.#react(call, event.seq);
    }
    if (event.type === "limit.tripped" && event.data.ask) this.#asked(event);
    if (event.type === "tool_call.became_unknown") this.#wonder(event.data.toolCallId, event.seq);
  }

  #react(call: SeenCall, seq: number): void {
    const { plan, kernel, tools } = this.#deps;
    if (plan.quiet.has(call.id)) return;
    const random = randomOf(plan.seed, "react", call.id, seq);
    const edited = typeof call.args === "object" && call.args !== null && "edited" in call.args;
    const reaction: Reaction = this.calm || edited ? "approve" : random.weighted(this.#config.reaction);
    const first = random.pick(["alice", "bob", "carol"]);
    const second = first === "carol" ? "alice" : "carol";
    // Some come at the very end of the time that there is.
    const last = call.expiresAt - kernel.now + random.between(-30, 30);
    const wait =
      !this.calm && random.chance(call.expiresAt - kernel.now < 100_000 ? 0.3 : 0.1) && last > 0 && last < 3_700_000
        ? last
        : random.pick([5, 100, 2_000]) * random.next();
    const soon = (ms: number, run: () => void) => kernel.after(wait + ms, run);
    if (!this.calm && random.chance(0.05)) soon(0, () => this.decide("dave", call, random.pick(["approve", "reject"])));
    switch (reaction) {
      case "ignore":
        return;
      case "approve":
        soon(0, () => this.decide(first, call, "approve"));
        if (this.#config.gates.quorum > 1) soon(random.below(200), () => this.decide(second, call, "approve"));
        return;
      case "approve_twice":
        soon(0, () => this.decide(first, call, "approve"));
        soon(random.below(20), () => this.decide(first, call, "approve"));
        return;
      case "reject":
        soon(0, () => this.decide(first, call, "reject"));
        return;
      case "race":
        soon(random.below(10), () => this.decide(first, call, "approve"));
        soon(random.below(10), () => this.decide(second, call, random.pick(["approve", "reject"])));
        return;
      case "edit":
      case "edit_changed":
      case "edit_invalid": {
        const args = {
          ...(typeof call.args === "object" ? call.args : {}),
          edited: 1,
          ...(reaction === "edit_changed" ? { changed: "as typed" } : {}),
          ...(reaction === "edit_invalid" ? { invalid: true } : {}),
        };
        if (this.#config.gates.quorum > 1) soon(0, () => this.decide(second, call, "approve"));
        soon(random.below(20), () => this.decide(first, call, "edit", { args }));
        soon(random.between(20, 400), () => this.decide(first, this.screen.calls.get(call.id) ?? call, "approve"));
        return;
      }
      case "wrong_digest":
        soon(0, () => this.decide(first, call, "approve", { argsDigest: sha256("something else") }));
        soon(random.between(10, 300), () => this.decide(first, call, "approve"));
        return;
      case "stale":
        soon(0, () => {
          tools.change(call.tool);
          this.decide(first, call, "approve");
        });
        return;
      case "cancel":
        soon(random.below(10), () =>
          this.send("alice", { type: "cancel_run", runId: call.runId, body: { reason: "no" } }),
        );
        if (random.chance(0.5)) soon(random.below(10), () => this.decide(first, call, "approve"));
        return;
    }
  }

  /** A limit asks whether to go on. */
  #asked({ seq, runId = "", data }: EventOf<"limit.tripped">): void {
    const { plan, kernel } = this.#deps;
    const random = randomOf(plan.seed, "asked", seq);
    if (this.calm || random.chance(0.3)) return;
    const limit = data.limit as "maxSteps";
    const decision = random.pick(["continue", "stop"]);
    kernel.after(random.pick([10, 1_000]), () => {
      this.send("alice", { type: "resume", runId, body: { continuations: [{ limit, decision }] } });
    });
  }

  /** Somebody looks after a call whose outcome nobody knows. */
  #wonder(id: string, seq: number): void {
    const { plan, kernel } = this.#deps;
    const random = randomOf(plan.seed, "wonder", id, seq);
    if (!this.calm && (random.chance(0.3) || plan.quiet.has(id))) return;
    kernel.after(random.pick([10, 500, 5_000]), () => this.resolveAny(random, id));
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

  #do(op: Op): void {
    const random = randomOf(this.#deps.plan.seed, "op", op.index);
    const { user } = op;
    const anyRun = random.pick([...this.screen.runs.keys()]);
    const queued = random.pick(this.screen.runsThat("queued"));
    switch (op.kind) {
      case "start":
        this.start(user, random.pick([undefined, undefined, "enqueue", "reject", "replace"]));
        return;
      case "cancel": {
        const [active] = this.screen.runsThat("active");
        const runId = random.pick([active, active, anyRun]) ?? anyRun;
        if (!runId) return;
        this.send(user, { type: "cancel_run", runId, body: { reason: "enough" } }, random.chance(0.7));
        const retry = () => void this.send(user, { type: "retry_run", runId, body: {} });
        if (random.chance(0.3)) this.#deps.kernel.after(random.pick([300, 2_000]), retry);
        return;
      }
      case "retry": {
        const runId = random.pick([...this.screen.runs.keys()].slice(-2));
        if (runId) this.send(user, { type: "retry_run", runId, body: {} });
        return;
      }
      case "cancel_queued":
        if (queued) this.send("alice", { type: "cancel_run", runId: queued, body: { reason: "not now" } });
        return;
      case "retry_unstarted":
        return this.#retryUnstarted();
      case "edit_queued":
        if (queued ?? anyRun) {
          const input = { text: `edited ${op.index}` };
          this.send(user, { type: "edit_run", runId: queued ?? anyRun ?? "", body: { input } });
        }
        return;
      case "drop_queued":
        if (queued ?? anyRun) this.send(user, { type: "drop_run", runId: queued ?? anyRun ?? "", body: {} });
        return;
      case "resolve":
        this.resolveAny(random);
        return;
      case "stray_decision": {
        const call = random.pick([...this.screen.calls.values()]);
        if (!call) return;
        if (random.chance(0.3)) this.resolve(user, call, random.pick(["happened", "did_not_happen", "give_up"]));
        else this.decide(random.pick([user, "dave"]), call, random.pick(["approve", "reject"]));
        return;
      }
      case "continue": {
        const asks = this.screen.continuation;
        const decision = random.pick(["continue", "continue", "stop"]);
        const limit = (asks?.limit ?? "maxSteps") as "maxSteps";
        const runId = asks?.runId ?? anyRun;
        if (runId) this.send(user, { type: "resume", runId, body: { continuations: [{ limit, decision }] } });
        return;
      }
      case "take_over":
        if (random.chance(0.6)) this.send(user, { type: "take_over", body: {} }, false);
        this.send("olga", { type: "take_over", body: {} }, false);
        if (random.chance(0.6)) {
          this.#deps.kernel.after(random.between(200, 6_000), () => {
            this.send("olga", { type: "release_handover", body: {} }, false);
          });
        }
        return;
      case "operator_says":
        this.send("olga", { type: "say_as_operator", body: { text: `operator ${op.index}` } });
        return;
      case "release":
        this.send(random.pick(["olga", "alice"]), { type: "release_handover", body: {} }, false);
        return;
      case "rename":
        this.send("alice", { type: "update_conversation", body: { title: `title ${op.index}` } });
        return;
      case "share":
        this.send("alice", { type: "put_participant", userId: "bob", body: { role: "editor" } }, false);
        return;
      case "unshare":
        this.send("alice", { type: "remove_participant", userId: "bob", body: {} }, false);
        return;
      case "reconnect":
        this.connections.again(
          user,
          random.pick(["last", "last", "older", "beginning", "ahead", "other", "none"]),
          random,
        );
        return;
      case "disconnect":
        this.connections.of(user)?.cut(1006);
        return;
      case "pause_reading":
        this.connections.of(user)?.pause(random.pick([500, 5_000, 20_000]));
        return;
      case "resend_old": {
        const old = random.pick(this.#deps.observation.asked.filter(({ key }) => key !== null));
        if (old) this.sender.again(old);
        return;
      }
      case "reuse_key": {
        const old = random.pick(this.#deps.observation.asked.filter(({ key }) => key !== null));
        if (old)
          this.sender.send(old.context, { type: "start_run", body: { input: { text: `other ${op.index}` } } }, old.key);
        return;
      }
      case "stranger":
        this.#stranger(random, op);
        return;
      case "read":
        this.connections.read(user);
        return;
      case "delete":
        return;
    }
  }

  /** While a person has the conversation the queue stands still: a run that never started may be the latest to end. */
  #retryUnstarted(): void {
    const { kernel } = this.#deps;
    const latest = () => [...this.screen.runs.keys()].at(-1) ?? "";
    const steps: (() => unknown)[] = [
      () => this.start("alice"),
      () => this.start("alice"),
      () => this.send("alice", { type: "take_over", body: {} }, false),
      () => this.send("olga", { type: "take_over", body: {} }, false),
      () => this.screen.runsThat("active").map((runId) => this.send("alice", { type: "cancel_run", runId, body: {} })),
      () => this.screen.runsThat("queued").map((runId) => this.send("alice", { type: "drop_run", runId, body: {} })),
      () => this.send("olga", { type: "release_handover", body: {} }, false),
      () => this.send("alice", { type: "retry_run", runId: latest(), body: {} }),
    ];
    steps.forEach((step, at) =>
      kernel.after(at * 700, () => {
        step();
      }),
    );
  }

  #stranger(random: Random, op: Op): void {
    const call = random.pick([...this.screen.calls.values()]);
    const runId = random.pick([...this.screen.runs.keys()]);
    if (random.chance(0.3)) this.start("mallory");
    else if (call && random.chance(0.5)) this.decide("mallory", call, "approve");
    else if (runId) this.send("mallory", { type: "cancel_run", runId, body: { reason: `stranger ${op.index}` } });
    this.connections.read("mallory");
  }
}
