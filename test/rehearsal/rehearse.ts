/** Talks to the rehearsal model as the service does: core, transcript, package, reader and decoder are the real ones. */
import { modelClient } from "../../src/effects/model-client.ts";
import { rehearsalFetch, type RehearsalOptions } from "../../src/rehearsal/rehearsal-fetch.ts";
import type { PreparedCall } from "../../src/run/inputs.ts";
import * as z from "zod";
import { opspilot as OPSPILOT } from "../../src/agents/opspilot/opspilot.ts";
import { defineAgent, type Agent } from "../../src/tools/agent-definition.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { ok } from "../../src/tools/outcome.ts";
import { ask, type Asking } from "../effects/model/ask.ts";
import { read, ready, Story } from "../effects/model/story.ts";

const tool = (name: string, input: z.ZodType, scope?: string) =>
  defineTool({
    name,
    title: { en: name, zh: name },
    description: name,
    input,
    output: z.unknown(),
    ...(scope === undefined ? {} : { scope }),
    authorize: () => ({ ok: true }),
    execute: async () => ok(null),
  });

/** Offers what the planner offers. */
export const PLANNER = defineAgent({
  name: "planner",
  title: { en: "Planner", zh: "计划" },
  description: { en: "", zh: "" },
  prompt: () => "You keep plans.",
  tools: [
    tool("list_plans", z.object({ limit: z.int().optional() })),
    tool("create_plan", z.object({ title: z.string(), notes: z.string().optional() }), "plans:write"),
    tool("update_plan", z.object({ plan_id: z.string(), title: z.string().optional() }), "plans:write"),
    tool("delete_plan", z.object({ plan_id: z.string() }), "plans:write"),
  ],
  deps: () => ({}),
});

export const offline: typeof fetch = () => Promise.reject(new Error("the rehearsal must not go outside"));

const READS: ReadonlySet<string> = new Set(["list_plans", "list_services", "get_service", "read_logs"]);

export class Rehearsal {
  readonly story: Story;
  readonly #options: RehearsalOptions;
  readonly #scopes: string[];
  readonly #agent: Agent;

  constructor(options: RehearsalOptions = { faults: true }, scopes = ["plans:write"], agent = PLANNER) {
    this.story = new Story(agent.name);
    this.#options = options;
    this.#scopes = scopes;
    this.#agent = agent;
  }

  static opspilot(scopes = ["services:restart", "config:write", "incidents:write"]): Rehearsal {
    return new Rehearsal({}, scopes, OPSPILOT);
  }

  get calls() {
    return this.story.state.active?.calls.filter(({ step }) => step === this.story.state.active?.step?.n) ?? [];
  }

  /** Says it, and lets the model answer once. */
  async say(text: string): Promise<string> {
    this.story.start(text, { scopes: [...this.#scopes, "confirmations:decide"] });
    return this.next();
  }

  /** The model's next answer, taken by the core. Returns what it said. */
  async next(asking: Asking = {}): Promise<string> {
    const { result, text } = await this.ask(asking);
    this.story.model(result);
    return text;
  }

  ask(asking: Asking = {}) {
    const client = modelClient({}, { fetch: offline, rehearsal: rehearsalFetch(this.#options) });
    const prepareCalls = async (_: unknown, __: unknown, calls: readonly { name: string; arguments: string }[]) =>
      calls.map(({ name, arguments: args }): PreparedCall => {
        const make = READS.has(name) ? read : ready;
        return make({ tool: name, args: JSON.parse(args) });
      });
    return ask(client, {
      story: this.story,
      ...asking,
      deps: { agentOf: () => this.#agent, prepareCalls, ...asking.deps },
    });
  }

  /** The calls in flight succeed with these data, in order. */
  works(...data: unknown[]): void {
    for (const one of data) this.story.works(one);
  }
}
