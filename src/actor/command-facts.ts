/**
 * The facts of a command: what the core must be told because it cannot ask. Worked out before the decision, which then
 * reads the state anew; a fact about a call that has changed meanwhile fails that call's digest check.
 */
import type { Command } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Rejection } from "../protocol/problems.ts";
import type { Facts, PreparedEdit, ResumeFacts } from "../run/inputs.ts";
import type { State } from "../run/state.ts";
import { targetOf } from "../run/targets.ts";
import type { AgentPort } from "./ports.ts";

type StartFacts = NonNullable<Facts["start"]>;

export interface FactSources {
  readonly agents: AgentPort;
  readonly generation: () => string;
  /** Whether the conversation has the bytes that one may have. */
  readonly full: () => boolean;
  /** Why the tenant may begin no run now; null: it may. */
  readonly admit: () => Promise<Rejection | null>;
}

export async function factsOf(
  state: State,
  conversationId: string,
  command: Command,
  principal: Principal,
  sources: FactSources,
): Promise<Facts> {
  const { agents, generation } = sources;
  switch (command.type) {
    case "create_conversation":
      return { create: { conversationId, generation: generation() } };
    case "start_run":
      return { start: await startFacts(sources, agents.start(state, command.body.limits, principal)) };
    case "retry_run":
      return { start: await startFacts(sources, agents.start(state, undefined, principal)) };
    case "resume":
      return { resume: await resumeFacts(state, command, agents) };
    default:
      return {};
  }
}

async function startFacts({ admit, full }: FactSources, agent: ReturnType<AgentPort["start"]>): Promise<StartFacts> {
  const [start, refused] = await Promise.all([agent, admit()]);
  return { ...start, ...(full() ? { full: true } : {}), ...(refused ? { refused } : {}) };
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
