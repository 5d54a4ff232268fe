/** What the agents of the simulation say about commands. */
import type { AgentPort } from "../src/actor/ports.ts";
import { RUN_LIMITS } from "../src/protocol/limits.ts";
import { sha256 } from "./digest.ts";
import type { Config } from "./config.ts";
import { resultOf, type ToolBackend } from "./tools.ts";

export const AGENT = "sim";

export function agentPort(config: Config, tools: ToolBackend, later: () => Promise<void>): AgentPort {
  return {
    exists: (agent) => agent === AGENT,
    async start(_state, limits) {
      await later();
      return {
        agentDigest: sha256("agent"),
        limits: { ...RUN_LIMITS, ...config.limits, ...limits },
        policy: { ...config.policy },
      };
    },
    async toolDigest(_state, tool) {
      await later();
      return tools.digestOf(tool);
    },
    async prepareEdit(_state, _run, call, args) {
      await later();
      if (typeof args !== "object" || args === null) return { kind: "refused", detail: "no object" };
      if ("invalid" in args) return { kind: "refused", detail: "These arguments are not valid.", pointer: "/invalid" };
      const changed = "changed" in args;
      const kept = changed ? { ...args, changed: "normalised" } : args;
      return {
        kind: "ready",
        args: kept,
        argsDigest: tools.argsDigestOf(call.id, call.tool, kept),
        gate: call.gate ?? { ...config.gates },
        changed,
      };
    },
    prepareResult: (_state, _run, call, result) =>
      typeof result === "object" && result !== null && "invalid" in result
        ? { invalid: "This is not a result of the tool." }
        : resultOf(call.id, call.tool, { data: result, source: "person" }),
  };
}
