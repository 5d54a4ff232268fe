import * as z from "zod";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { Plan } from "./plan-store.ts";
import { outcomeOf, type PlannerDeps } from "./plan-tools.ts";

const DEFAULT_LIMIT = 20;
const SHOWN = 10;

export const listPlans = defineTool({
  name: "list_plans",
  title: { en: "List plans", zh: "列出计划" },
  description: "Lists the user's own plans, newest first. An empty list means that there are none.",
  effect: "read",
  input: z.object({ limit: z.int().min(1).max(100).optional().describe("How many at most; 20 by default.") }),
  output: z.object({ plans: z.array(Plan) }),
  timeoutMs: 10_000,
  execute: async ({ limit }, { ctx, deps, signal }: Execution<PlannerDeps>) => {
    const plans = await deps.plans.list(ctx, limit ?? DEFAULT_LIMIT, signal);
    return plans.ok ? ok({ plans: [...plans.value] }) : outcomeOf(plans);
  },
  display: ({ plans }, lang) => {
    const titles = plans.slice(0, SHOWN).map(({ title }) => title);
    const more = plans.length - titles.length;
    if (lang === "zh") {
      if (plans.length === 0) return "你还没有计划。";
      return `你有 ${plans.length} 个计划：${titles.join("；")}${more > 0 ? `；另有 ${more} 个` : ""}。`;
    }
    if (plans.length === 0) return "You have no plans yet.";
    const count = plans.length === 1 ? "1 plan" : `${plans.length} plans`;
    return `You have ${count}: ${titles.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
  },
});
