/** Asks the model as the actor does: the real adapter, over HTTP against the fake provider, with small limits. */
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import type { Clock } from "../../../src/actor/ports.ts";
import { modelClient, type ModelClient } from "../../../src/effects/model-client.ts";
import { ModelEffects, type ModelDeps } from "../../../src/effects/model-effect.ts";
import { pricesOf } from "../../../src/effects/prices.ts";
import { functionName } from "../../../src/effects/request-messages.ts";
import type { Principal } from "../../../src/protocol/principal.ts";
import type { RunLimits } from "../../../src/protocol/run.ts";
import type { PreparedCall } from "../../../src/run/inputs.ts";
import { defineAgent } from "../../../src/tools/agent-definition.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { ok } from "../../../src/tools/outcome.ts";
import type { Answer } from "../../support/answer-script.ts";
import type { FakeProvider } from "../../support/fake-provider.ts";
import { read, Story } from "./story.ts";

export const sha256 = async (text: string): Promise<string> => createHash("sha256").update(text).digest("base64url");

export const realClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

const tool = (name: string, scope?: string) =>
  defineTool({
    name,
    title: { en: name, zh: name },
    description: `does ${name}`,
    input: z.strictObject({ order_id: z.string().describe("which") }),
    output: z.unknown(),
    effect: "read",
    ...(scope === undefined ? {} : { scope }),
    execute: async () => ok(null),
  });

export const AGENT = defineAgent({
  name: "lab",
  title: { en: "Lab", zh: "实验室" },
  description: { en: "", zh: "" },
  prompt: ({ locale }) => `You are a test. Locale: ${locale ?? "none"}.`,
  tools: [tool("lookup_order"), tool("secret_tool", "lab:secret")],
  model: (metadata) => metadata["model"],
  deps: () => ({}),
});

export interface Asking {
  readonly text?: string;
  readonly principal?: Partial<Principal>;
  readonly limits?: Partial<RunLimits>;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  readonly deps?: Partial<ModelDeps>;
  readonly onText?: (text: string, part: number) => void;
  readonly story?: Story;
}

export const clientOf = (baseUrl: string, model: string, key?: string): ModelClient =>
  modelClient(
    { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model, OPENAI_API_KEY: key },
    {
      fetch: (input, init) => fetch(input, init),
      rehearsal: () => Promise.reject(new Error("no rehearsal here")),
    },
  );

export async function ask(client: ModelClient, asking: Asking = {}) {
  const { limits = {}, principal = {}, deadlineMs = 10_000, signal = new AbortController().signal } = asking;
  const story = asking.story ?? new Story();
  if (!asking.story) story.start(asking.text ?? "hello", principal);
  const effect = story.asking;
  if (!effect) throw new Error("the model is to be asked");
  const shown: { text: string; part: number }[] = [];
  const errors: unknown[] = [];
  const model = new ModelEffects({
    clock: realClock,
    log: { info: () => undefined, warn: () => undefined, error: (_event, error) => errors.push(error) },
    client,
    prices: pricesOf(),
    agentOf: (name) => (name === "lab" ? AGENT : undefined),
    prepareCalls: async (_effect, _io, calls): Promise<PreparedCall[]> =>
      calls.map(({ name, arguments: args }) => read({ tool: functionName(name), args })),
    sha256,
    ...asking.deps,
  });
  const { result, payloads } = await model.ask(
    {
      ...effect,
      run: { ...effect.run, limits: { ...effect.run.limits, ...limits } },
      deadlineAt: Date.now() + deadlineMs,
    },
    {
      state: story.state,
      signal,
      transcript: { append: () => undefined, messages: () => story.json, leavesOut: () => story.leavesOut },
      onText: (text, part) => {
        shown.push({ text, part });
        asking.onText?.(text, part);
      },
    },
  );
  const said = "text" in result ? result.text.text : null;
  const stop = result.kind === "failed" ? result.stop : null;
  return { result, payloads, said, stop, shown, errors, text: shown.map((one) => one.text).join("") };
}

/** Scripts one answer under a model name of its own, asks, and holds that there was exactly one request. */
export async function askFor(provider: FakeProvider, answer: Answer, asking: Asking = {}) {
  const scope = `model-${randomUUID()}`;
  provider.script({ scope, queue: [answer] });
  const outcome = await ask(clientOf(provider.baseUrl, scope, "sk-test"), asking);
  const [request, ...more] = provider.requests(scope);
  if (!request || more.length > 0) throw new Error(`${more.length + (request ? 1 : 0)} requests instead of one`);
  return { ...outcome, scope, request };
}
