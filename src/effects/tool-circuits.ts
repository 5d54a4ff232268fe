/**
 * The breakers of a tenant's tools over all its runs, as this isolate knows them. Nobody is asked before a call while all
 * is well: a failure is reported, and the report's answer says whether the breaker is open. So a success costs nothing,
 * and where a tool is down each isolate finds out with one call.
 *
 * It decides no outcome. A call that a person has approved is never refused by it: a given yes is carried out.
 */
import type { Clock, Log } from "../actor/ports.ts";
import type { ToolAnswer } from "../run/inputs.ts";

export interface CircuitStub {
  toolFailed(
    tenantId: string,
    tool: string,
    rules: CircuitRules,
  ): Promise<{ readonly failures: number; readonly openUntil: number; readonly opened: boolean }>;
  toolWorked(tenantId: string, tool: string): Promise<void>;
}
export interface CircuitRules {
  readonly failures: number;
  readonly openMs: number;
}

export interface CircuitDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: CircuitRules;
  readonly ledger: (tenantId: string) => Promise<CircuitStub>;
}

/** Tools remembered; beyond that all are forgotten, and found out again. */
const REMEMBERED = 10_000;

export class ToolCircuits {
  readonly #deps: CircuitDeps;
  /** Of tools that have failed: until when they are open (epoch ms); 0: not yet. */
  readonly #failing = new Map<string, number>();

  constructor(deps: CircuitDeps) {
    this.#deps = deps;
  }

  isOpen(tenantId: string, tool: string): boolean {
    return (this.#failing.get(keyOf(tenantId, tool)) ?? 0) > this.#deps.clock.now();
  }

  /** What became of a call. Nobody waits for the report. */
  report(tenantId: string, tool: string, answer: ToolAnswer): void {
    const verdict = verdictOf(answer);
    const key = keyOf(tenantId, tool);
    if (verdict === "failed") void this.#failed(tenantId, tool, key);
    else if (verdict === "worked" && this.#failing.delete(key)) void this.#worked(tenantId, tool);
  }

  async #failed(tenantId: string, tool: string, key: string): Promise<void> {
    const { log, rules, ledger } = this.#deps;
    // From now on a success is news.
    if (this.#failing.size >= REMEMBERED) this.#failing.clear();
    this.#failing.set(key, this.#failing.get(key) ?? 0);
    try {
      const { failures, openUntil, opened } = await (await ledger(tenantId)).toolFailed(tenantId, tool, rules);
      this.#failing.set(key, openUntil);
      if (opened) log.warn("tool_circuit_opened", { tenantId, tool, figure: failures, bound: rules.failures });
    } catch (error) {
      log.error("ledger_unavailable", error, { tenantId, tool });
    }
  }

  async #worked(tenantId: string, tool: string): Promise<void> {
    try {
      await (await this.#deps.ledger(tenantId)).toolWorked(tenantId, tool);
    } catch (error) {
      this.#deps.log.error("ledger_unavailable", error, { tenantId, tool });
    }
  }
}

/**
 * What an outcome says about the tool and not about the call: no answer, a gateway's or a network's failure, a broken
 * contract. A refusal on purpose is a tool that works; an abort says nothing.
 */
function verdictOf(answer: ToolAnswer): "failed" | "worked" | null {
  switch (answer.kind) {
    case "ok":
    case "absent":
      return "worked";
    case "ambiguous":
      return answer.reason === "cancelled" ? null : "failed";
    case "failed": {
      if (answer.proof === "definitive") return "worked";
      const { error } = answer.payload;
      return error?.retryable === true && error.code !== "tool_circuit_open" ? "failed" : null;
    }
  }
}

const keyOf = (tenantId: string, tool: string): string => `${tenantId.length}:${tenantId}${tool}`;
