/**
 * The conversation as the tenant's ledger sees it: starts that ask to be let in, and how many of its runs are queued or
 * running. It decides nothing: a refusal is a fact for the core, and a ledger that is told nothing only forgets.
 */
import type { Command } from "../protocol/commands.ts";
import type { Rejection } from "../protocol/problems.ts";
import type { Usage } from "../protocol/run.ts";
import { lostRequest } from "../run/outstanding.ts";
import { statusOf } from "../run/status.ts";
import type { State } from "../run/state.ts";
import type { Clock, Log, ModelPort, Transcript } from "./ports.ts";
import type { Admission, BudgetPort } from "./tenant-ports.ts";

/** So often is said again what has not changed: the ledger forgets what nobody speaks of. */
const SAY_AGAIN_MS = 10 * 60_000;

export interface BudgetingDeps {
  readonly budget?: BudgetPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly model: ModelPort;
  readonly transcript: () => Transcript;
}

export class Budgeting {
  readonly #deps: BudgetingDeps;
  /** Let in, and not registered yet; by request. */
  readonly #letIn = new Map<string, Admission>();
  #said: { readonly runs: number; readonly at: number } | null = null;

  constructor(deps: BudgetingDeps) {
    this.#deps = deps;
  }

  /** null: it may begin, as far as the budget goes. */
  async admit(state: State, requestId: string, command: Command): Promise<Rejection | null> {
    const { identity } = state;
    const { budget } = this.#deps;
    if (!budget || !identity) return null;
    const text = command.type === "start_run" ? command.body.input.text : "";
    const { tenantId, conversationId } = identity;
    const admission = { tenantId, conversationId, id: requestId, text };
    const refused = await budget.admit(admission);
    if (!refused) this.#letIn.set(requestId, admission);
    return refused;
  }

  /** The request has been answered: what was let in is registered now, or comes to nothing. */
  answered(requestId: string, registered: boolean): void {
    const admission = this.#letIn.get(requestId);
    if (!admission) return;
    this.#letIn.delete(requestId);
    if (!registered) this.#deps.budget?.release(admission);
  }

  /** What the model request has cost, about, that died with the life before. */
  lost(state: State, text: string): { readonly usage?: Usage } {
    const { model, log, transcript } = this.#deps;
    const effect = lostRequest(state);
    if (!effect || !model.lost) return {};
    try {
      return { usage: model.lost(effect, { state, transcript: transcript() }, text) };
    } catch (error) {
      log.error("lost_request_not_counted", error, { runId: effect.run.id });
      return {};
    }
  }

  committed(state: State): void {
    const { identity, active, queue } = state;
    const { budget, clock } = this.#deps;
    if (!budget || !identity) return;
    const busy = active !== null && statusOf(state, active) !== "interrupted";
    const runs = queue.length + (busy ? 1 : 0);
    const now = clock.now();
    const known = this.#said?.runs === runs && (runs === 0 || now - this.#said.at < SAY_AGAIN_MS);
    if (known) return;
    this.#said = { runs, at: now };
    budget.occupied(identity.tenantId, identity.conversationId, runs);
  }
}
