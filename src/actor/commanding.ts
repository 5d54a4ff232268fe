/**
 * A command on its way to the core: who sends it may still send it, its key is looked up and claimed, the facts are worked
 * out, then it is decided and committed. It decides nothing about runs.
 *
 * **I6** one key, one effect. **I11** from the last look at the receipts to the commit there is no await.
 */
import { cursorOf } from "../protocol/cursor.ts";
import type { Command } from "../protocol/commands.ts";
import type { Event } from "../protocol/events.ts";
import { LIMITS } from "../protocol/limits.ts";
import { principalOf, type Principal, type RequestContext } from "../protocol/principal.ts";
import { reject, type Rejection, type Result } from "../protocol/problems.ts";
import { seenRun } from "../protocol/redaction.ts";
import type { CommandAnswer, CommandRequest } from "../protocol/rpc.ts";
import { isoOf } from "../protocol/time.ts";
import { checkVisible, NOT_FOUND } from "../run/authority.ts";
import type { Facts } from "../run/inputs.ts";
import type { State } from "../run/state.ts";
import type { Budgeting } from "./budgeting.ts";
import { answerOf } from "./command-answer.ts";
import { commandText } from "./command-digest.ts";
import { factsOf } from "./command-facts.ts";
import type { Credentials } from "./credentials.ts";
import { Keys, receiptOf } from "./keys.ts";
import type { ActorPorts } from "./ports.ts";
import type { Claim } from "./tenant-ports.ts";
import type { Rates } from "./rates.ts";
import { readingRole } from "./reads.ts";
import type { RunLog } from "./run-log.ts";
import type { Turn, Turned } from "./writer.ts";

/** Told the answer as soon as it is committed. */
export type Acknowledge = (answer: CommandAnswer) => void;

export interface CommandingDeps extends Pick<
  ActorPorts,
  "agents" | "clock" | "generation" | "journal" | "log" | "registry" | "sha256" | "standing"
> {
  readonly state: () => State;
  readonly turn: (turn: Turn) => Turned;
  readonly budgeting: Budgeting;
  readonly rates: Rates;
  readonly credentials: Credentials;
  readonly runLog: RunLog;
}

/** A claim, and how many receipts there were when its own was looked for. */
interface Keyed {
  readonly claim: Claim;
  readonly looked: number;
}

const refused = (rejection: Rejection): Result<never> => ({ ok: false, rejection });

export class Commands {
  readonly #deps: CommandingDeps;
  readonly #keys: Keys;
  readonly #lifeId: string;
  /** Receipts that this life has left. */
  #receipts = 0;

  constructor(deps: CommandingDeps) {
    this.#deps = deps;
    // Later lives have greater names: the register tells by them whose claim comes too late.
    this.#lifeId = `${isoOf(deps.clock.now())} ${deps.generation()}`;
    this.#keys = new Keys({ ...deps, initialised: () => deps.state().identity !== null });
  }

  async command(
    context: RequestContext,
    request: CommandRequest,
    acknowledge: Acknowledge,
  ): Promise<Result<CommandAnswer>> {
    let registered = false;
    try {
      const answer = await this.#command(context, request, acknowledge);
      registered = answer.ok && !answer.value.replayed;
      return answer;
    } finally {
      this.#deps.budgeting.answered(context.requestId, registered);
    }
  }

  async #command(
    context: RequestContext,
    request: CommandRequest,
    acknowledge: Acknowledge,
  ): Promise<Result<CommandAnswer>> {
    const { idempotencyKey: key, conversationId, command } = request;
    const { userId } = context;
    // Asked beside everything else that has to be waited for, and heard before anything is decided.
    const standing = this.#deps.standing?.refusal(principalOf(context), command) ?? Promise.resolve(null);
    const hidden = this.#checkTarget(request, principalOf(context));
    if (hidden) return refused((await standing) ?? hidden);
    const prepare = async () => {
      const [facts, refusal] = await Promise.all([this.#facts(context, request), standing]);
      return { facts, refusal };
    };
    if (key === undefined) {
      const hasty = this.#deps.rates.spend(userId);
      return hasty ? refused(hasty) : this.#decide(context, request, await prepare(), null, acknowledge);
    }
    const digest = await this.#deps.sha256(commandText(conversationId, command, userId));
    const claim = { key, digest, conversationId, life: this.#lifeId };
    const replayed = this.#keys.replay(claim);
    if (replayed) {
      const refusal = await standing;
      return refusal ? refused(refusal) : replayed;
    }
    const hasty = this.#deps.rates.spend(userId);
    if (hasty) return refused(hasty);
    const keyed = { claim, looked: this.#receipts };
    return this.#keys.claimed(context, claim, prepare, (prepared) =>
      this.#decide(context, request, prepared, keyed, acknowledge),
    );
  }

  #facts(context: RequestContext, { conversationId, command }: CommandRequest): Promise<Facts> {
    const { agents, generation, journal } = this.#deps;
    const full = () => journal.bytes() >= LIMITS.conversationBytes;
    const admit = () => this.#deps.budgeting.admit(this.#deps.state(), context.requestId, command);
    return factsOf(this.#deps.state(), conversationId, command, principalOf(context), {
      agents,
      generation,
      full,
      admit,
    });
  }

  /** From the last look at the receipts to the commit there is no await (**I11**). */
  #decide(
    context: RequestContext,
    request: CommandRequest,
    { facts, refusal }: { readonly facts: Facts; readonly refusal: Rejection | null },
    keyed: Keyed | null,
    acknowledge: Acknowledge,
  ): Result<CommandAnswer> {
    if (refusal) return refused(refusal);
    // The same request may have come twice; where no receipt came, the first look still holds.
    const meanwhile = keyed && keyed.looked !== this.#receipts ? this.#keys.replay(keyed.claim) : null;
    if (meanwhile) return meanwhile;
    const principal = principalOf(context);
    const { command } = request;
    const { runCount: runs, seq } = this.#deps.state();
    const rate = this.#deps.rates.state(context.userId);
    const answerIn = (state: State, made: readonly Event[]): CommandAnswer => ({
      ...answerOf(state, command, { role: readingRole(state, principal), userId: principal.userId }, made),
      replayed: false,
      since: cursorOf(state.identity?.generation ?? "", seq),
      ...(rate ? { rate } : {}),
    });
    let answer: CommandAnswer | null = null;
    const answered = (state: State, made: readonly Event[]) => (answer ??= answerIn(state, made));
    const { rejection, events } = this.#deps.turn({
      input: { type: "command", command, principal, facts },
      ...(keyed ? { receipt: (state, made) => receiptOf(keyed.claim, answered(state, made)) } : {}),
      committed: (state, made) => {
        if (keyed) this.#receipts += 1;
        acknowledge(answered(state, made));
      },
    });
    if (rejection) return { ok: false, rejection: this.#withRun(rejection, command, principal) };
    this.#deps.credentials.keep(context, command, runs, this.#deps.state());
    this.#deps.runLog.keep(context, command, runs, this.#deps.state());
    return { ok: true, value: answered(this.#deps.state(), events) };
  }

  /** A run that ended long ago is held reduced by the core; its view is a row here. */
  #withRun(rejection: Rejection, command: Command, principal: Principal): Rejection {
    if (rejection.code !== "run_finished" || rejection.extensions || !("runId" in command)) return rejection;
    const run = this.#deps.journal.endedRun(command.runId);
    if (!run) return rejection;
    return {
      ...rejection,
      extensions: { run: seenRun(run, readingRole(this.#deps.state(), principal), principal.userId) },
    };
  }

  #checkTarget({ command, conversationId }: CommandRequest, principal: Principal): Rejection | null {
    const state = this.#deps.state();
    if (command.type === "create_conversation") {
      if (!this.#deps.agents.exists(command.body.agent)) {
        const errors = [{ pointer: "/agent", detail: "There is no such agent." }];
        return reject("invalid_request", "There is no such agent.", { errors });
      }
      // One that is there already was made with this key: its receipt tells whose it is, without naming it.
      return null;
    }
    return state.identity?.conversationId === conversationId ? checkVisible(state, principal) : NOT_FOUND;
  }
}
