/** What an agent is: a prompt, tools, limits and policy. Adding one is adding a folder under `agents/`. */
import type { Metadata, RunLimits } from "../protocol/run.ts";
import type { Tool, ToolContext } from "./define-tool.ts";

/** What the service offers to agents' own adapters. */
export interface AgentEnvironment {
  readonly app: D1Database;
  readonly fetch: typeof fetch;
  /** Variables of the deployment, by name; an agent reads only its own. */
  readonly variable: (name: string) => string | undefined;
  readonly now: () => number;
  /** Resolves after `ms`, rejects with the abort's reason; absent: by the platform's timers. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface AgentDefinition<Deps> {
  readonly name: string;
  readonly title: { readonly en: string; readonly zh: string };
  readonly description: { readonly en: string; readonly zh: string };
  /** Built for each run: only what stands here of the user reaches the model. */
  readonly prompt: (ctx: Pick<ToolContext, "locale">) => string;
  readonly tools: readonly Tool<Deps>[];
  readonly limits?: Partial<RunLimits>;
  readonly onLimit?: "stop" | "ask";
  readonly handoverOnLimit?: boolean;
  readonly modelRetries?: 0 | 1 | 2;
  /** The model's name, where a conversation may choose it (the lab agent); else the service's. */
  readonly model?: (metadata: Metadata) => string | undefined;
  readonly confirmationTtlMs?: (metadata: Metadata) => number | undefined;
  readonly limitsOf?: (metadata: Metadata) => Partial<RunLimits>;
  readonly deps: (environment: AgentEnvironment) => Deps;
  /** Whether this deployment has it (the lab agent needs its backend). */
  readonly available?: (variable: AgentEnvironment["variable"]) => boolean;
}

/** An agent among others: its dependencies are bound, so nobody else can hand it the wrong ones. */
export interface Agent extends Omit<AgentDefinition<unknown>, "deps"> {
  readonly deps: (environment: AgentEnvironment) => unknown;
}

export function defineAgent<Deps>(definition: AgentDefinition<Deps>): Agent {
  // Only what its own `deps` returns is handed to its tools, so nobody can give them another agent's.
  return definition as unknown as Agent;
}
