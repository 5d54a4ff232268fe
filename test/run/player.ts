/** Plays random moves on one conversation: reads their small numbers against the state as it then is. */
import type { Principal } from "../../src/protocol/principal.ts";
import type { PreparedCall, ToolAnswer } from "../../src/run/inputs.ts";
import { effectKey, outstanding, type Effect } from "../../src/run/outstanding.ts";
import type { CallState } from "../../src/run/state.ts";
import { isAwaiting, isUnresolved } from "../../src/run/status.ts";
import type { Driver } from "./driver.ts";
import * as kit from "./kit.ts";
import type { KINDS, Move, MoveOf, OUTCOMES } from "./moves.ts";

const PEOPLE = [kit.alice, kit.bob, kit.carol, kit.dave, kit.olga, kit.eve];

/** Keeps what was in flight, to answer it when nobody waits for it any more. */
export class Player {
  readonly driver: Driver;
  readonly #seen = new Map<string, Effect>();

  constructor(driver: Driver) {
    this.driver = driver;
  }

  play(move: Move): void {
    this.#play(move);
    for (const effect of outstanding(this.driver.state, this.driver.now)) {
      this.#seen.set(`${effectKey(effect)}@${effect.incarnation}`, effect);
    }
  }

  #play(move: Move): void {
    const { driver } = this;
    switch (move.move) {
      case "go":
        return this.#go(move);
      case "start":
        return void driver.start("hello", { whenBusy: move.busy, who: personOf(move.who) });
      case "plan":
        return this.#answer(kit.planOf(move.calls.map((kind, at) => this.#call(kind, at))));
      case "say":
        return this.#say(move.what);
      case "fail":
        return this.#answer({ ...kit.failedOf(move.code, move.text), leavesOut: 2 });
      case "tool": {
        const effect = nth(
          outstanding(driver.state, driver.now).filter(({ kind }) => kind === "tool"),
          move.pick,
        );
        if (effect) driver.tool(effect.id, outcomeOf(move.outcome), effect);
        return;
      }
      case "stale":
        return this.#stale(move);
      case "decide":
        return this.#decide(move);
      case "decide_all": {
        const decisions = this.#calls(isAwaiting).map(({ id }) => driver.decision(id));
        if (decisions.length > 0) driver.resume({ decisions }, personOf(move.who));
        return;
      }
      case "resolve": {
        const call = nth(this.#calls(isUnresolved), move.pick);
        if (call) driver.resolve(call.id, move.outcome, personOf(move.who));
        return;
      }
      case "continue":
        return void driver.continue(
          driver.state.active?.continuation?.limit ?? "maxSteps",
          move.decision,
          personOf(move.who),
        );
      case "cancel":
        return void driver.cancel(this.#run(move.run), personOf(move.who));
      case "retry":
        return void driver.retry(this.#run(move.run), personOf(move.who));
      case "edit_run":
        return void driver.editRun(this.#queued(move.run), "other", personOf(move.who));
      case "drop":
        return void driver.drop(this.#queued(move.run), personOf(move.who));
      case "take_over":
        return void driver.takeOver(personOf(move.who));
      case "operator":
        return void (move.say ? driver.say("a person speaks") : driver.release());
      case "crash":
        if (move.shown && driver.state.active?.step?.phase === "asking") driver.shows("shown so far");
        return void driver.crash();
      case "wait":
        return void driver.wait(move.ms);
      case "deadline":
        return void driver.toDeadline();
      case "show":
        if (driver.state.active?.step?.phase === "asking") driver.shows("shown so far");
        return;
      case "budget":
        return void driver.input({ type: "budget_changed" });
      case "pause":
        return void driver.input({ type: move.on ? "paused" : "resumed" });
      case "warned":
        return void driver.input({ type: "budget_warned", percent: move.percent, scope: "tenant.tokensPerHour" });
      case "deactivate": {
        const userId = PEOPLE[move.who]?.userId;
        return void driver.input({ type: "deactivated", ...(userId === undefined ? {} : { userId }) });
      }
      case "erase":
        // Rare: nothing can happen afterwards.
        return void (move.really === 0 && driver.erase());
    }
  }

  #go({ pick, calls, final, outcome, decision, resolution }: MoveOf<"go">): void {
    const { state, now } = this.driver;
    const [effect] = outstanding(state, now);
    if (effect?.kind === "model") return this.#play(final ? { move: "say", what: "final" } : { move: "plan", calls });
    if (effect) return this.#play({ move: "tool", pick, outcome });
    const owner = { who: 0 };
    if (this.#calls(isAwaiting).length > 0)
      return this.#play({ move: "decide", pick, who: pick % 2 === 0 ? 0 : 2, decision });
    if (this.#calls(isUnresolved).length > 0)
      return this.#play({ move: "resolve", pick, ...owner, outcome: resolution });
    if (state.handover.state === "active") return this.#play({ move: "operator", say: pick > 5 });
    if (state.active?.continuation)
      return this.#play({ move: "continue", ...owner, decision: final ? "stop" : "continue" });
    if (state.paused) return this.#play({ move: "pause", on: false });
    if (state.active?.budget) return this.#play({ move: "budget" });
    if (state.active) return this.#play({ move: "deadline" });
    this.#play(final && pick > 3 ? { move: "retry", run: 0, ...owner } : { move: "start", busy: "enqueue", ...owner });
  }

  /** Every call that is held, of whatever run. */
  #calls(which: (call: CallState) => boolean): CallState[] {
    const { active, latest, ended } = this.driver.state;
    return [...(active?.calls ?? []), ...(latest?.calls ?? []), ...ended.flatMap(({ unknown }) => unknown)].filter(
      which,
    );
  }

  #run(pick: number): number {
    const { active, latest, runCount } = this.driver.state;
    return pick < 4 ? (active?.n ?? latest?.n ?? 1) : Math.max(1, runCount - (pick - 4));
  }

  #queued(pick: number): number {
    return nth(this.driver.state.queue, pick)?.n ?? this.#run(pick);
  }

  #answer(result: Parameters<Driver["answer"]>[0]): void {
    const [effect] = outstanding(this.driver.state, this.driver.now);
    // A request that a stop aborts still answers: the performer waits for it.
    const asked = effect ?? [...this.#seen.values()].findLast(({ kind }) => kind === "model");
    if (asked?.kind === "model") this.driver.answer(result, asked);
  }

  #say(what: MoveOf<"say">["what"]): void {
    const calls = [kit.read(), kit.transfer()];
    const results = {
      final: () => kit.finalOf("done"),
      empty: kit.emptyOf,
      refused: () => kit.refusedOf("no"),
      cut_text: () => kit.cutTextOf("so fa"),
      cut_calls: () => kit.cutCallsOf(calls),
      aborted: () => kit.abortedOf("so far"),
      no_budget: () => kit.noBudgetOf(),
      no_budget_until: () => kit.noBudgetOf(this.driver.now + kit.HOUR),
    };
    this.#answer(results[what]());
  }

  #stale({ pick, outcome }: MoveOf<"stale">): void {
    const effect = nth([...this.#seen.values()], pick * 3);
    if (effect?.kind === "tool") this.driver.tool(effect.id, outcomeOf(outcome), effect);
    else if (effect) this.driver.answer(kit.finalOf("too late"), effect);
  }

  #decide({ pick, who: person, decision }: MoveOf<"decide">): void {
    const { driver } = this;
    const call =
      nth(this.#calls(isAwaiting), pick) ??
      nth(
        this.#calls(() => true),
        pick,
      );
    if (!call) return;
    const by = personOf(person);
    if (decision === "approve" || decision === "reject") {
      return void driver.resume({ decisions: [driver.decision(call.id, decision)] }, by);
    }
    if (decision === "bad") return void driver.approve(call.id, by, { argsDigest: "other" });
    const changed = pick % 2 === 0;
    const args = { edited: pick };
    driver.edit(call.id, { kind: "ready", args, argsDigest: kit.digest(), gate: call.gate ?? kit.GATE, changed }, by);
  }

  #call(kind: (typeof KINDS)[number], at: number): PreparedCall {
    const first = this.driver.state.active?.callCount ?? 0;
    switch (kind) {
      case "read":
        return kit.read({ fingerprint: `lookup:${at % 2}` });
      case "transfer":
        return kit.transfer();
      case "note":
        return kit.note();
      case "idempotent":
        return kit.idempotent({ gate: at % 2 === 0 ? null : kit.GATE, answersForKey: at % 3 === 0 });
      case "probeable":
        return kit.probeable({ gate: at % 2 === 0 ? null : kit.GATE });
      case "pair":
        return kit.transfer({ gate: { ...kit.GATE, quorum: 2 } });
      case "strict":
        return kit.transfer({ gate: { ...kit.GATE, selfApproval: false, approvers: ["lead"] } });
      case "brief":
        return kit.transfer({ gate: { ...kit.GATE, expiresInMs: 5_000 } });
      case "refused":
        return kit.refusedCall("lookup", `${this.driver.state.active?.id}.t${first + at + 1}`);
    }
  }
}

const personOf = (pick: number): Principal => PEOPLE[pick % PEOPLE.length] ?? kit.alice;
const nth = <T>(list: readonly T[], pick: number): T | undefined =>
  list.length === 0 ? undefined : list[pick % list.length];

function outcomeOf(outcome: (typeof OUTCOMES)[number]): (id: string, tool: string) => ToolAnswer {
  switch (outcome) {
    case "ok":
      return kit.okAnswer;
    case "failed":
      return (id, tool) => kit.failedAnswer(id, tool);
    case "not_sent":
      return (id, tool) => kit.failedAnswer(id, tool, "not_sent");
    case "doubtful":
      return (id, tool) => kit.doubtfulAnswer(id, tool);
    case "hopeless":
      return (id, tool) => kit.doubtfulAnswer(id, tool, false);
    case "absent":
      return () => ({ kind: "absent" });
  }
}
