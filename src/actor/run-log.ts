/**
 * What the log of the service tells of runs: how they ended, which limit tripped, which calls failed, each with the
 * request that started the run, as long as this life remembers it. No text of anybody, no arguments, no results.
 */
import type { Command } from "../protocol/commands.ts";
import type { Event } from "../protocol/events.ts";
import { runIdOf } from "../protocol/ids.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { findRun } from "../run/status.ts";
import type { State } from "../run/state.ts";
import type { Log } from "./ports.ts";

type Trace = Pick<RequestContext, "requestId" | "traceId">;

export class RunLog {
  readonly #log: Log;
  readonly #traces = new Map<string, Trace>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Of the run that this command started, or that it answered. */
  keep({ requestId, traceId }: RequestContext, command: Command, runsBefore: number, state: State): void {
    const { identity, runCount } = state;
    const started = runCount > runsBefore ? runIdOf(identity?.conversationId ?? "", runCount) : null;
    const runId = started ?? ("runId" in command ? command.runId : null);
    if (runId !== null && findRun(state, runId)?.stop === null) this.#traces.set(runId, { requestId, traceId });
  }

  committed(events: readonly Event[], { identity }: State): void {
    for (const event of events) {
      const { conversationId, tenantId, agent } = identity ?? {};
      const { runId = "" } = event;
      const about = { ...this.#traces.get(runId), tenantId, agent, conversationId, runId };
      switch (event.type) {
        case "run.completed":
        case "run.failed":
        case "run.cancelled": {
          const { stop, steps, usage } = event.data;
          const { inputTokens, outputTokens, costMicroUsd } = usage;
          const spent = { steps, inputTokens, outputTokens, costMicroUsd };
          this.#log.info("run_ended", { ...about, code: stop.code, ...spent, provider: stop.provider });
          this.#traces.delete(runId);
          break;
        }
        case "limit.tripped": {
          const { limit, figure, bound, code, pattern: kind, tool } = event.data;
          this.#log.warn("limit_tripped", { ...about, limit, figure, bound, code, kind, tool });
          break;
        }
        case "tool_call.refused":
        case "tool_call.finished": {
          const { toolCallId, payload } = event.data;
          if (payload.success || !payload.error) break;
          const { code, layer: kind, http } = payload.error;
          this.#log.info("tool_failed", { ...about, toolCallId, tool: payload.tool, code, kind, status: http?.status });
          break;
        }
        case "tool_call.became_unknown": {
          const { toolCallId, reason, error } = event.data;
          this.#log.warn("tool_unknown", { ...about, toolCallId, reason, code: error?.code });
          break;
        }
        default:
          break;
      }
    }
  }
}
