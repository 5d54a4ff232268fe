/** The commands of the plan, each done with what its doer knows by then. */
import type { Crowd } from "./crowd.ts";
import type { Op } from "./plan.ts";
import { randomOf, type Random } from "./random.ts";

export class Acts {
  readonly #crowd: Crowd;

  constructor(crowd: Crowd) {
    this.#crowd = crowd;
  }

  do(op: Op): void {
    const random = randomOf(this.#crowd.deps.plan.seed, "op", op.index);
    const { user } = op;
    const anyRun = random.pick([...this.#crowd.screen.runs.keys()]);
    const queued = random.pick(this.#crowd.screen.runsThat("queued"));
    switch (op.kind) {
      case "start":
        this.#crowd.start(user, random.pick([undefined, undefined, "enqueue", "reject", "replace"]));
        return;
      case "cancel": {
        const [active] = this.#crowd.screen.runsThat("active");
        const runId = random.pick([active, active, anyRun]) ?? anyRun;
        if (!runId) return;
        this.#crowd.send(user, { type: "cancel_run", runId, body: { reason: "enough" } }, random.chance(0.7));
        const retry = () => void this.#crowd.send(user, { type: "retry_run", runId, body: {} });
        if (random.chance(0.3)) this.#crowd.deps.kernel.after(random.pick([300, 2_000]), retry);
        return;
      }
      case "retry": {
        const runId = random.pick([...this.#crowd.screen.runs.keys()].slice(-2));
        if (runId) this.#crowd.send(user, { type: "retry_run", runId, body: {} });
        return;
      }
      case "cancel_queued":
        if (queued) this.#crowd.send("alice", { type: "cancel_run", runId: queued, body: { reason: "not now" } });
        return;
      case "retry_unstarted":
        return this.#retryUnstarted();
      case "edit_queued":
        if (queued ?? anyRun) {
          const input = { text: `edited ${op.index}` };
          this.#crowd.send(user, { type: "edit_run", runId: queued ?? anyRun ?? "", body: { input } });
        }
        return;
      case "drop_queued":
        if (queued ?? anyRun) this.#crowd.send(user, { type: "drop_run", runId: queued ?? anyRun ?? "", body: {} });
        return;
      case "resolve":
        this.#crowd.resolveAny(random);
        return;
      case "stray_decision": {
        const call = random.pick([...this.#crowd.screen.calls.values()]);
        if (!call) return;
        if (random.chance(0.3)) this.#crowd.resolve(user, call, random.pick(["happened", "did_not_happen", "give_up"]));
        else this.#crowd.decide(random.pick([user, "dave"]), call, random.pick(["approve", "reject"]));
        return;
      }
      case "continue": {
        const asks = this.#crowd.screen.continuation;
        const decision = random.pick(["continue", "continue", "stop"]);
        const limit = (asks?.limit ?? "maxSteps") as "maxSteps";
        const runId = asks?.runId ?? anyRun;
        if (runId) this.#crowd.send(user, { type: "resume", runId, body: { continuations: [{ limit, decision }] } });
        return;
      }
      case "take_over":
        if (random.chance(0.6)) this.#crowd.send(user, { type: "take_over", body: {} }, false);
        this.#crowd.send("olga", { type: "take_over", body: {} }, false);
        if (random.chance(0.6)) {
          this.#crowd.deps.kernel.after(random.between(200, 6_000), () => {
            this.#crowd.send("olga", { type: "release_handover", body: {} }, false);
          });
        }
        return;
      case "operator_says":
        this.#crowd.send("olga", { type: "say_as_operator", body: { text: `operator ${op.index}` } });
        return;
      case "release":
        this.#crowd.send(random.pick(["olga", "alice"]), { type: "release_handover", body: {} }, false);
        return;
      case "rename":
        this.#crowd.send("alice", { type: "update_conversation", body: { title: `title ${op.index}` } });
        return;
      case "share":
        this.#crowd.send("alice", { type: "put_participant", userId: "bob", body: { role: "editor" } }, false);
        return;
      case "unshare":
        this.#crowd.send("alice", { type: "remove_participant", userId: "bob", body: {} }, false);
        return;
      case "reconnect":
        this.#crowd.connections.again(
          user,
          random.pick(["last", "last", "older", "beginning", "ahead", "other", "none"]),
          random,
        );
        return;
      case "disconnect":
        this.#crowd.connections.of(user)?.cut(1006);
        return;
      case "pause_reading":
        this.#crowd.connections.of(user)?.pause(random.pick([500, 5_000, 20_000]));
        return;
      case "resend_old": {
        const old = random.pick(this.#crowd.deps.observation.asked.filter(({ key }) => key !== null));
        if (old) this.#crowd.sender.again(old);
        return;
      }
      case "reuse_key": {
        const old = random.pick(this.#crowd.deps.observation.asked.filter(({ key }) => key !== null));
        if (old)
          this.#crowd.sender.send(
            old.context,
            { type: "start_run", body: { input: { text: `other ${op.index}` } } },
            old.key,
          );
        return;
      }
      case "stranger":
        this.#stranger(random, op);
        return;
      case "read":
        this.#crowd.connections.read(user);
        return;
      case "delete":
        return;
    }
  }

  /** While a person has the conversation the queue stands still: a run that never started may be the latest to end. */
  #retryUnstarted(): void {
    const { kernel } = this.#crowd.deps;
    const latest = () => [...this.#crowd.screen.runs.keys()].at(-1) ?? "";
    const steps: (() => unknown)[] = [
      () => this.#crowd.start("alice"),
      () => this.#crowd.start("alice"),
      () => this.#crowd.send("alice", { type: "take_over", body: {} }, false),
      () => this.#crowd.send("olga", { type: "take_over", body: {} }, false),
      () =>
        this.#crowd.screen
          .runsThat("active")
          .map((runId) => this.#crowd.send("alice", { type: "cancel_run", runId, body: {} })),
      () =>
        this.#crowd.screen
          .runsThat("queued")
          .map((runId) => this.#crowd.send("alice", { type: "drop_run", runId, body: {} })),
      () => this.#crowd.send("olga", { type: "release_handover", body: {} }, false),
      () => this.#crowd.send("alice", { type: "retry_run", runId: latest(), body: {} }),
    ];
    steps.forEach((step, at) =>
      kernel.after(at * 700, () => {
        step();
      }),
    );
  }

  #stranger(random: Random, op: Op): void {
    const call = random.pick([...this.#crowd.screen.calls.values()]);
    const runId = random.pick([...this.#crowd.screen.runs.keys()]);
    if (random.chance(0.3)) this.#crowd.start("mallory");
    else if (call && random.chance(0.5)) this.#crowd.decide("mallory", call, "approve");
    else if (runId)
      this.#crowd.send("mallory", { type: "cancel_run", runId, body: { reason: `stranger ${op.index}` } });
    this.#crowd.connections.read("mallory");
  }
}
