/**
 * The agents of this deployment with their tools by name and their dependencies. Names come from models and clients, so
 * they are looked up in Maps: `constructor` and `__proto__` are names of no tool.
 */
import type { Agent, AgentEnvironment } from "../tools/agent-definition.ts";
import type { Tool, ToolContext } from "../tools/define-tool.ts";
import { agentDigest, toolDigest } from "./digests.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Metadata, RunLimits } from "../protocol/run.ts";
import type { State } from "../run/state.ts";

export class CatalogueEntry {
  readonly agent: Agent;
  readonly tools: ReadonlyMap<string, Tool<unknown>>;
  readonly #environment: AgentEnvironment;
  readonly #toolDigests = new Map<string, Promise<string>>();
  readonly #agentDigests = new Map<string, Promise<string>>();
  #deps: { readonly value: unknown } | null = null;

  constructor(agent: Agent, environment: AgentEnvironment) {
    this.agent = agent;
    this.#environment = environment;
    this.tools = new Map(agent.tools.map((tool) => [tool.name, tool]));
    if (this.tools.size !== agent.tools.length) throw new Error(`agent ${agent.name} has two tools of one name`);
  }

  /** Made when first needed, once per life of the isolate. */
  get deps(): unknown {
    this.#deps ??= { value: this.agent.deps(this.#environment) };
    return this.#deps.value;
  }

  /** Tools that this sign-in may use: what the model is offered, and nothing else. */
  offered(scopes: readonly string[]): Tool<unknown>[] {
    return [...this.tools.values()].filter((tool) => mayUse(tool, scopes));
  }

  /** null: there is no such tool any more. */
  async toolDigest(name: string): Promise<string | null> {
    const tool = this.tools.get(name);
    if (!tool) return null;
    const known = this.#toolDigests.get(name) ?? toolDigest(tool);
    this.#toolDigests.set(name, known);
    return known;
  }

  /** Prompt, tools, limits and model. Cached: only the lab's conversations differ in limits and model. */
  agentDigest(limits: RunLimits, model: string): Promise<string> {
    const key = JSON.stringify([limits, model]);
    const known = this.#agentDigests.get(key) ?? this.#digest(limits, model);
    if (this.#agentDigests.size > 1_000) this.#agentDigests.clear();
    this.#agentDigests.set(key, known);
    return known;
  }

  async #digest(limits: RunLimits, model: string): Promise<string> {
    const { name, prompt } = this.agent;
    const tools = await Promise.all(
      [...this.tools.values()].map(async ({ name: tool, description }) => ({
        digest: (await this.toolDigest(tool)) ?? "",
        description,
      })),
    );
    return agentDigest({
      name,
      prompt: { en: prompt({ locale: "en" }), zh: prompt({ locale: "zh" }) },
      tools,
      limits,
      model,
    });
  }
}

export class ToolCatalogue {
  readonly #entries: ReadonlyMap<string, CatalogueEntry>;

  constructor(agents: Iterable<Agent>, environment: AgentEnvironment) {
    this.#entries = new Map([...agents].map((agent) => [agent.name, new CatalogueEntry(agent, environment)]));
  }
  agent(name: string): CatalogueEntry | undefined {
    return this.#entries.get(name);
  }
  entryOf(state: State): CatalogueEntry | undefined {
    return state.identity ? this.#entries.get(state.identity.agent) : undefined;
  }
  entries(): Iterable<CatalogueEntry> {
    return this.#entries.values();
  }
}

export const mayUse = (tool: Tool<unknown>, scopes: readonly string[]): boolean =>
  tool.scope === undefined || scopes.includes(tool.scope);

const NO_METADATA: Metadata = {};

/** Who acts: the run's user as stored, whatever the model or a body says. */
export function contextOf(state: State, run: { id: string; principal: Principal }, toolCallId: string): ToolContext {
  const { tenantId, userId, roles, scopes, locale } = run.principal;
  const conversationId = state.identity?.conversationId ?? "";
  const metadata = state.identity?.metadata ?? NO_METADATA;
  return { tenantId, userId, roles, scopes, locale, conversationId, runId: run.id, toolCallId, metadata };
}
