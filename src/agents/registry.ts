/** The agents. Adding one is adding a folder beside this file, and a line here. */
import type { Agent, AgentEnvironment } from "../tools/agent-definition.ts";
import { lab } from "./lab/lab.ts";
import { opspilot } from "./opspilot/opspilot.ts";
import { planner } from "./planner/planner.ts";

const AGENTS: readonly Agent[] = [planner, opspilot, lab];

/** Those that this deployment has, by name. @param variable the deployment's variables, by name */
export function availableAgents(variable: AgentEnvironment["variable"]): ReadonlyMap<string, Agent> {
  const available = AGENTS.filter((agent) => agent.available?.(variable) ?? true);
  return new Map(available.map((agent) => [agent.name, agent]));
}
