import * as z from "zod";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { observeAll, ServiceView } from "./observe.ts";
import { nameOf, OPS_TEXTS } from "./ops-texts.ts";
import type { OpsDeps } from "./ops-tools.ts";

export const listServices = defineTool({
  name: "list_services",
  title: { en: "List services", zh: "列出服务" },
  description: "Lists all services with their health, latency, errors and memory, as of now.",
  effect: "read",
  input: z.object({}),
  output: z.object({ services: z.array(ServiceView) }),
  timeoutMs: 10_000,
  execute: async (_, { ctx, deps }: Execution<OpsDeps>) =>
    ok({ services: observeAll(await deps.fleet.load(ctx.tenantId), deps.now()) }),
  display: ({ services }, lang) => {
    const texts = OPS_TEXTS[lang];
    return texts.list(services.map(({ id, health }) => texts.one(nameOf(id, lang), texts.health[health])));
  },
});
