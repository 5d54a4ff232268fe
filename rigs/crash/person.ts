/**
 * The people of one conversation: its owner, who does most, and an approver. They look at the screen and do what people
 * do: ask, ask again while it works, decide, change their minds, say what became of things. About an unknown outcome
 * they tell the truth: they look it up in the backend's ledger.
 */
import type { Outcome } from "../../sim/observation.ts";
import type { Random } from "../../sim/random.ts";
import type { Command } from "../../src/protocol/commands.ts";
import type { Conversation } from "../../src/protocol/conversation.ts";
import type { Run } from "../../src/protocol/run.ts";
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import { nowMs, pause } from "../common/figures.ts";
import type { Person } from "../common/people.ts";
import { writeScript } from "./script.ts";

export interface PeopleDeps {
  readonly conversationId: string;
  /** `#<seed>-<conversation>`, what the names of its messages begin with. */
  readonly mark: string;
  readonly owner: Person;
  readonly approver: Person;
  readonly random: Random;
  readonly send: (person: Person, command: Command) => Promise<Outcome | null>;
  /** Resolves when something has happened in the conversation, or nothing has for a while. */
  readonly changed: () => Promise<void>;
  /** The screen; null where it cannot be had just now. */
  readonly look: (person: Person) => Promise<Conversation | null>;
  /** Whether the call has really been done, by its arguments: what a person finds out. */
  readonly happened: (call: Pick<ToolCall, "args" | "tool">) => boolean;
  readonly run: (runId: string) => Promise<Run | null>;
}

type Reaction = "approve" | "one" | "edit" | "reject" | "race" | "wrong" | "cancel" | "wait";
const REACTIONS = { approve: 10, one: 3, edit: 2, reject: 2, race: 2, wrong: 1, cancel: 1, wait: 2 } as const;

export class People {
  readonly #deps: PeopleDeps;
  #messages = 0;
  #reasons = 0;
  #over = false;
  #lastRunId: string | null = null;
  #living: Promise<void> = Promise.resolve();
  /** Things that somebody set going and did not wait for. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  /** Begins to act, until it is to settle. */
  begin(): void {
    this.#living = this.#live();
  }

  async #live(): Promise<void> {
    const { random } = this.#deps;
    while (!this.#over) {
      const screen = await this.#deps.look(this.#deps.owner);
      if (screen) {
        const act = this.#act(screen);
        if (random.chance(0.8)) await act;
        else this.#letGo(act);
      }
      await this.#deps.changed();
      await pause(random.next() * 15);
    }
  }

  /** Nothing new from now on: what waits is answered, until nothing is left. @returns what did not come to an end */
  async settle(withinMs: number): Promise<string[]> {
    this.#over = true;
    const until = nowMs() + withinMs;
    // What somebody has begun comes to its end first, or it would come after the last message.
    await Promise.race([this.#living.then(() => Promise.all(this.#open)), pause(withinMs)]);
    for (;;) {
      const screen = await this.#deps.look(this.#deps.owner);
      const open = screen === null ? ["the screen cannot be had"] : await this.#answerAll(screen);
      if (open.length === 0) return [];
      if (nowMs() > until) return open;
      await pause(30);
    }
  }

  /** One more message, which must be answered. */
  async last(withinMs: number): Promise<string[]> {
    const { mark, owner, send } = this.#deps;
    const text = `${mark}-last -`;
    const told = await send(owner, { type: "start_run", body: { input: { text }, whenBusy: "enqueue" } });
    const id = told?.kind === "ok" ? (JSON.parse(told.body) as Run).id : null;
    if (id === null) return [`the last message was not taken: ${JSON.stringify(told)}`];
    for (const until = nowMs() + withinMs; nowMs() < until; await pause(20)) {
      const run = await this.#deps.run(id);
      if (run?.status === "completed") return [];
      if (run?.status === "failed" || run?.status === "cancelled")
        return [`the last run ${run.status}: ${run.stop?.code}`];
    }
    return [`the last message (${id}) was not answered`];
  }

  #letGo(act: Promise<unknown>): void {
    this.#open.add(act);
    void act.finally(() => this.#open.delete(act));
  }

  #act(screen: Conversation): Promise<unknown> {
    const { random } = this.#deps;
    const { activeRun, queued, pending } = screen;
    if (!activeRun) {
      this.#lastRunId ??= null;
      return this.#lastRunId !== null && random.chance(0.3) ? this.#retry(this.#lastRunId) : this.#start("enqueue");
    }
    this.#lastRunId = activeRun.id;
    const unknown = pending.filter(({ state }) => state === "unknown");
    if (unknown.length > 0) return this.#resolve(activeRun.id, unknown);
    const asked = pending.filter(({ state }) => state === "awaiting_confirmation");
    if (asked.length > 0) return this.#react(activeRun.id, asked);
    const busy = random.weighted({ wait: 12, enqueue: queued.length < 3 ? 3 : 0, reject: 1, replace: 1, cancel: 2 });
    switch (busy) {
      case "wait":
        return Promise.resolve();
      case "cancel":
        return this.#cancel(activeRun.id);
      default:
        return this.#start(busy);
    }
  }

  #start(whenBusy: "enqueue" | "reject" | "replace"): Promise<unknown> {
    const { mark, owner, random, send } = this.#deps;
    const text = writeScript(`${mark}-${++this.#messages}`, random);
    return send(owner, { type: "start_run", body: { input: { text }, whenBusy } });
  }

  async #retry(runId: string): Promise<void> {
    const { owner, send } = this.#deps;
    this.#lastRunId = null;
    const told = await send(owner, { type: "retry_run", runId, body: {} });
    if (told?.kind !== "refused" || told.rejection.code !== "outcome_unknown") return;
    const run = await this.#deps.run(runId);
    const unknown = run?.sideEffects.filter(({ state }) => state === "unknown") ?? [];
    const resolutions = unknown.map(({ toolCallId }) => ({ toolCallId, outcome: "give_up" as const }));
    if (resolutions.length > 0) await send(owner, { type: "resume", runId, body: { resolutions } });
  }

  #cancel(runId: string): Promise<unknown> {
    return this.#deps.send(this.#deps.owner, { type: "cancel_run", runId, body: { reason: this.#reason() } });
  }

  #reason = (): string => `${this.#deps.mark}/${++this.#reasons}`;

  #resolve(runId: string, unknown: readonly ToolCall[]): Promise<unknown> {
    const { owner, approver, random, send, happened } = this.#deps;
    const resolutions = unknown.map((call) => {
      const { id: toolCallId, argsDigest, attempt } = call;
      if (random.chance(0.3)) return { toolCallId, attempt, outcome: "give_up" as const };
      return happened(call)
        ? { toolCallId, attempt, outcome: "happened" as const }
        : { toolCallId, attempt, outcome: "did_not_happen" as const, argsDigest };
    });
    return send(random.chance(0.3) ? approver : owner, { type: "resume", runId, body: { resolutions } });
  }

  async #react(runId: string, asked: readonly ToolCall[]): Promise<void> {
    const { owner, approver, random } = this.#deps;
    const one = random.pick(asked);
    const reaction: Reaction = random.weighted(REACTIONS);
    if (!one || reaction === "wait") return void (await pause(random.next() * 200));
    switch (reaction) {
      case "approve":
        for (const call of asked) await this.#decide(owner, runId, call, "approve");
        return;
      case "one":
        return void (await this.#decide(approver, runId, one, "approve"));
      case "edit":
        return void (await this.#decide(owner, runId, one, "edit"));
      case "reject":
        return void (await this.#decide(owner, runId, one, "reject"));
      case "race":
        return void (await Promise.all([
          this.#decide(owner, runId, one, "approve"),
          this.#decide(approver, runId, one, "reject"),
        ]));
      case "wrong":
        return void (await this.#decide(
          owner,
          runId,
          { ...one, argsDigest: `${one.argsDigest.slice(0, -2)}xx` },
          "approve",
        ));
      case "cancel":
        return void (await this.#cancel(runId));
    }
  }

  #decide(person: Person, runId: string, call: ToolCall, decision: "approve" | "edit" | "reject"): Promise<unknown> {
    const { id: toolCallId, argsDigest } = call;
    const args = decision === "edit" ? { args: edited(call.args) } : {};
    const decisions = [{ toolCallId, argsDigest, decision, ...args, reason: this.#reason() }];
    return this.#deps.send(person, { type: "resume", runId, body: { decisions } });
  }

  async #answerAll({ activeRun, queued, pending }: Conversation): Promise<string[]> {
    const { owner, send } = this.#deps;
    if (!activeRun) return queued.map(({ id }) => `${id} is still queued`);
    const unknown = pending.filter(({ state }) => state === "unknown");
    const asked = pending.filter(({ state }) => state === "awaiting_confirmation");
    if (unknown.length > 0) {
      const resolutions = unknown.map(({ id: toolCallId, attempt }) => ({
        toolCallId,
        attempt,
        outcome: "give_up" as const,
      }));
      await send(owner, { type: "resume", runId: activeRun.id, body: { resolutions } });
    } else if (asked.length > 0) {
      for (const call of asked) await this.#decide(owner, activeRun.id, call, "reject");
    }
    return [`${activeRun.id} is still ${activeRun.status} (${activeRun.phase ?? "working"})`];
  }
}

const edited = (args: unknown): Record<string, unknown> => ({
  ...(args as Record<string, unknown>),
  amount_cents: 700,
});
