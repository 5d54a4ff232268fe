/** What the agents say about commands, and about themselves: facts for the core, worked out before its decision. */
import type { AgentPort } from "../actor/ports.ts";
import type { AgentDescription } from "../protocol/agent.ts";
import type { PartialLimits, RunLimits } from "../protocol/run.ts";
import type { Lang } from "../protocol/texts.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import type { Facts, PreparedEdit } from "../run/inputs.ts";
import type { CallState, RunState, State } from "../run/state.ts";
import { describeTool } from "../tools/describe-tool.ts";
import type { Preparation } from "./preparation.ts";
import type { CatalogueEntry, ToolCatalogue } from "./tool-catalogue.ts";
import type { ToolSettings } from "./tool-settings.ts";

export class Agents implements AgentPort {
  readonly #catalogue: ToolCatalogue;
  readonly #preparation: Preparation;
  readonly #settings: ToolSettings;

  constructor(catalogue: ToolCatalogue, preparation: Preparation, settings: ToolSettings) {
    this.#catalogue = catalogue;
    this.#preparation = preparation;
    this.#settings = settings;
  }

  exists(agent: string): boolean {
    return this.#catalogue.agent(agent) !== undefined;
  }

  /** Rejects where the conversation's agent has left this deployment: a deployment's mistake, not a caller's. */
  async start(state: State, asked: PartialLimits | undefined): Promise<NonNullable<Facts["start"]>> {
    const entry = this.#catalogue.entryOf(state);
    if (!entry) throw new Error(`this deployment has no agent ${state.identity?.agent ?? ""}`);
    const { agent } = entry;
    const metadata = state.identity?.metadata ?? {};
    const bounds = this.#bounds(entry, agent.limitsOf?.(metadata));
    return {
      agentDigest: await entry.agentDigest(bounds, agent.model?.(metadata) ?? this.#settings.model),
      limits: within(bounds, asked),
      policy: {
        onLimit: agent.onLimit ?? "stop",
        handoverOnLimit: agent.handoverOnLimit ?? false,
        modelRetries: agent.modelRetries ?? 0,
        cancelGraceMs: this.#settings.cancelGraceMs,
        backoffMs: this.#settings.backoffMs,
      },
    };
  }

  async toolDigest(state: State, tool: string): Promise<string | null> {
    return (await this.#catalogue.entryOf(state)?.toolDigest(tool)) ?? null;
  }

  prepareEdit(state: State, run: RunState, call: CallState, args: unknown): Promise<PreparedEdit> {
    return this.#preparation.edit(state, run, call, args);
  }

  prepareResult(
    state: State,
    run: Pick<RunState, "principal">,
    call: CallState,
    result: unknown,
  ): ToolResult | { readonly invalid: string } {
    return this.#preparation.result(state, run, call, result);
  }

  /** All agents of this deployment, as `GET /v1/agents` shows them. */
  describe(lang: Lang): Promise<AgentDescription[]> {
    return Promise.all(
      [...this.#catalogue.entries()].map(async (entry) => {
        const { agent } = entry;
        const limits = this.#bounds(entry, undefined);
        return {
          name: agent.name,
          title: agent.title[lang],
          description: agent.description[lang],
          digest: await entry.agentDigest(limits, this.#settings.model),
          tools: [...entry.tools.values()].map((tool) => describeTool(tool, lang)),
          limits,
        };
      }),
    );
  }

  #bounds({ agent }: CatalogueEntry, own: Partial<RunLimits> | undefined): RunLimits {
    return { ...this.#settings.limits, ...agent.limits, ...own };
  }
}

/** A run may be given less than its agent allows, never more. */
function within(bounds: RunLimits, asked: PartialLimits | undefined): RunLimits {
  const limits = { ...bounds };
  for (const name of Object.keys(bounds) as (keyof RunLimits)[]) {
    limits[name] = Math.min(bounds[name], asked?.[name] ?? bounds[name]);
  }
  return limits;
}
