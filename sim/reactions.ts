/** What people do about what they are shown: they approve, reject, edit, race, look the other way, and resolve. */
import type { Event, EventOf } from "../src/protocol/events.ts";
import type { Reaction } from "./config.ts";
import type { Crowd } from "./crowd.ts";
import { sha256 } from "./digest.ts";
import { randomOf } from "./random.ts";
import type { SeenCall } from "./screen.ts";

export class Reactions {
  readonly #crowd: Crowd;

  constructor(crowd: Crowd) {
    this.#crowd = crowd;
  }

  shown(event: Event): void {
    if (event.type === "confirmation.requested") {
      const call = this.#crowd.screen.calls.get(event.data.toolCallId);
      if (call?.argsDigest) this.#react(call, event.seq);
    }
    if (event.type === "limit.tripped" && event.data.ask) this.#asked(event);
    if (event.type === "tool_call.became_unknown") this.#wonder(event.data.toolCallId, event.seq);
  }

  #react(call: SeenCall, seq: number): void {
    const { plan, kernel, tools } = this.#crowd.deps;
    if (plan.quiet.has(call.id)) return;
    const random = randomOf(plan.seed, "react", call.id, seq);
    const edited = typeof call.args === "object" && call.args !== null && "edited" in call.args;
    const reaction: Reaction = this.#crowd.calm || edited ? "approve" : random.weighted(this.#crowd.config.reaction);
    const first = random.pick(["alice", "bob", "carol"]);
    const second = first === "carol" ? "alice" : "carol";
    // Some come at the very end of the time that there is.
    const last = call.expiresAt - kernel.now + random.between(-30, 30);
    const wait =
      !this.#crowd.calm &&
      random.chance(call.expiresAt - kernel.now < 100_000 ? 0.3 : 0.1) &&
      last > 0 &&
      last < 3_700_000
        ? last
        : random.pick([5, 100, 2_000]) * random.next();
    const soon = (ms: number, run: () => void) => kernel.after(wait + ms, run);
    if (!this.#crowd.calm && random.chance(0.05))
      soon(0, () => this.#crowd.decide("dave", call, random.pick(["approve", "reject"])));
    switch (reaction) {
      case "ignore":
        return;
      case "approve":
        soon(0, () => this.#crowd.decide(first, call, "approve"));
        if (this.#crowd.config.gates.quorum > 1)
          soon(random.below(200), () => this.#crowd.decide(second, call, "approve"));
        return;
      case "approve_twice":
        soon(0, () => this.#crowd.decide(first, call, "approve"));
        soon(random.below(20), () => this.#crowd.decide(first, call, "approve"));
        return;
      case "reject":
        soon(0, () => this.#crowd.decide(first, call, "reject"));
        return;
      case "race":
        soon(random.below(10), () => this.#crowd.decide(first, call, "approve"));
        soon(random.below(10), () => this.#crowd.decide(second, call, random.pick(["approve", "reject"])));
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
        if (this.#crowd.config.gates.quorum > 1) soon(0, () => this.#crowd.decide(second, call, "approve"));
        soon(random.below(20), () => this.#crowd.decide(first, call, "edit", { args }));
        soon(random.between(20, 400), () =>
          this.#crowd.decide(first, this.#crowd.screen.calls.get(call.id) ?? call, "approve"),
        );
        return;
      }
      case "wrong_digest":
        soon(0, () => this.#crowd.decide(first, call, "approve", { argsDigest: sha256("something else") }));
        soon(random.between(10, 300), () => this.#crowd.decide(first, call, "approve"));
        return;
      case "stale":
        soon(0, () => {
          tools.change(call.tool);
          this.#crowd.decide(first, call, "approve");
        });
        return;
      case "cancel":
        soon(random.below(10), () =>
          this.#crowd.send("alice", { type: "cancel_run", runId: call.runId, body: { reason: "no" } }),
        );
        if (random.chance(0.5)) soon(random.below(10), () => this.#crowd.decide(first, call, "approve"));
        return;
    }
  }

  /** A limit asks whether to go on. */
  #asked({ seq, runId = "", data }: EventOf<"limit.tripped">): void {
    const { plan, kernel } = this.#crowd.deps;
    const random = randomOf(plan.seed, "asked", seq);
    if (this.#crowd.calm || random.chance(0.3)) return;
    const limit = data.limit as "maxSteps";
    const decision = random.pick(["continue", "stop"]);
    kernel.after(random.pick([10, 1_000]), () => {
      this.#crowd.send("alice", { type: "resume", runId, body: { continuations: [{ limit, decision }] } });
    });
  }

  /** Somebody looks after a call whose outcome nobody knows. */
  #wonder(id: string, seq: number): void {
    const { plan, kernel } = this.#crowd.deps;
    const random = randomOf(plan.seed, "wonder", id, seq);
    if (!this.#crowd.calm && (random.chance(0.3) || plan.quiet.has(id))) return;
    kernel.after(random.pick([10, 500, 5_000]), () => this.#crowd.resolveAny(random, id));
  }
}
