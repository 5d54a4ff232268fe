import * as z from "zod";
import { isoOf } from "../../protocol/time.ts";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { Level, LEVELS, linesOf } from "./log-lines.ts";
import { nameOf, OPS_TEXTS } from "./ops-texts.ts";
import { look, noSuchService, ServiceId, type OpsDeps } from "./ops-tools.ts";

const DEFAULT_LIMIT = 20;

export const readLogs = defineTool({
  name: "read_logs",
  title: { en: "Read logs", zh: "读取日志" },
  description: "The latest lines of a service's logs, oldest first: warnings and errors, or what is asked for.",
  effect: "read",
  input: z.object({
    service_id: ServiceId,
    level: Level.optional().describe("Lines of at least this level; warn by default."),
    limit: z.int().min(1).max(100).optional().describe("How many at most; 20 by default."),
  }),
  output: z.object({
    serviceId: z.string(),
    lines: z.array(z.object({ at: z.string(), level: Level, message: z.string() })),
    /** There are older lines than these. */
    more: z.boolean(),
  }),
  timeoutMs: 10_000,
  execute: async ({ service_id, level = "warn", limit = DEFAULT_LIMIT }, call: Execution<OpsDeps>) => {
    const seen = await look(service_id, call);
    if (!seen) return noSuchService();
    const least = LEVELS.indexOf(level);
    const all = linesOf(seen.fleet, seen.spec, call.deps.now()).filter((line) => LEVELS.indexOf(line.level) >= least);
    const lines = all.slice(-limit).map(({ at, ...line }) => ({ at: isoOf(at), ...line }));
    return ok({ serviceId: service_id, lines, more: all.length > limit });
  },
  display: ({ serviceId, lines }, lang) => OPS_TEXTS[lang].logs(nameOf(serviceId, lang), lines.length),
});
