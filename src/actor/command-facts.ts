/**
 * The facts of a command: what the core must be told because it cannot ask. Worked out before the decision, which then
 * reads the state anew; a fact about a call that has changed meanwhile fails that call's digest check.
 */
import type { Command } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Facts, PreparedEdit, ResumeFacts } from "../run/inputs.ts";
import type { State } from "../run/state.ts";
import { targetOf } from "../run/targets.ts";
import type { AgentPort } from "./ports.ts";

export interface FactSources {
  readonly agents: AgentPort;
  readonly generation: () => string;
  /** Whether the conversation has the bytes that one may have. */
  readonly full: () => boolean;
}

export async function factsOf(
  state: State,
  conversationId: string,
  command: Command,
  principal: Principal,
  { agents, generation, full }: FactSources,
): Promise<Facts> {
  switch (command.type) {
    case "create_conversation":
      return { create: { conversationId, generation: generation() } };
    case "start_run":
      return {
        start: { ...(await agents.start(state, command.body.limits, principal)), ...(full() ? { full: true } : {}) },
      };
    case "retry_run":
      return { start: { ...(await agents.start(state, undefined, principal)), ...(full() ? { full: true } : {}) } };
    case "resume":
      return { resume: await resumeFacts(state, command, agents) };
    default:
      return {};
  }
}

async function resumeFacts(
  state: State,
  { body }: Extract<Command, { type: "resume" }>,
  agents: AgentPort,
): Promise<ResumeFacts> {
  const toolDigests: Record<string, string | null> = {};
  const edits: Record<string, PreparedEdit> = {};
  const results: Record<string, ResumeFacts["results"][string]> = {};
  for (const { toolCallId, ...one } of [...(body.decisions ?? []), ...(body.resolutions ?? [])]) {
    const target = targetOf(state, toolCallId);
    if (!target) continue;
    const { call, whole, run } = target;
    toolDigests[toolCallId] = await agents.toolDigest(state, call.tool);
    if ("decision" in one && one.decision === "edit" && whole && call.state === "awaiting_confirmation") {
      edits[toolCallId] = await agents.prepareEdit(state, whole, call, one.args);
    }
    if ("outcome" in one && one.outcome === "happened" && one.result !== undefined) {
      results[toolCallId] = agents.prepareResult(state, run, call, one.result);
    }
  }
  return { toolDigests, edits, results };
}
