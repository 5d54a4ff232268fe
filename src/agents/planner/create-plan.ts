/** Creating a plan. Its id belongs to the act, so that an act whose answer was lost can be asked about. */
import * as z from "zod";
import { badResponse } from "../../tools/call-json.ts";
import { defineTool, type Call, type Execution } from "../../tools/define-tool.ts";
import { AmbiguousOutcome, ok } from "../../tools/outcome.ts";
import { markOf, Plan } from "./plan-store.ts";
import { TITLE_CHARS, titleOf } from "./plan-title.ts";
import {
  labelsOf,
  NOTES_CHARS,
  outcomeOf,
  quoted,
  WRITE_SCOPE,
  type PlanCall,
  type PlannerDeps,
} from "./plan-tools.ts";

const planIdOf = async (idempotencyKey: string): Promise<string> => `plan_${await markOf(idempotencyKey)}`;

export const createPlan = defineTool({
  name: "create_plan",
  title: { en: "Create a plan", zh: "创建计划" },
  description: "Creates a plan of the user. The title is a short title, not the user's sentence. A person confirms it.",
  effect: "probeable",
  scope: WRITE_SCOPE,
  input: z.object({
    title: z
      .string()
      .min(1, { error: "must say in a few words what the plan is about" })
      .max(TITLE_CHARS)
      .describe(`A short title of at most ${TITLE_CHARS} characters, for example "Visit Kyoto in spring".`),
    notes: z.string().max(NOTES_CHARS).optional().describe("Anything else to remember about it."),
  }),
  output: Plan,
  reversible: true,
  undo: "delete_plan",
  timeoutMs: 15_000,
  normalize: (args) =>
    typeof args === "object" && args !== null && "title" in args && typeof args.title === "string"
      ? { ...args, title: titleOf(args.title) }
      : args,
  // One's own plans are one's own: owner and plan are written in one statement, and nothing else is touched.
  authorize: () => ({ ok: true }),
  preview: ({ title, notes }, call: PlanCall) => {
    const labels = labelsOf(call);
    return { rows: [{ label: labels.title, after: title }, ...(notes ? [{ label: labels.notes, after: notes }] : [])] };
  },
  execute: async ({ title, notes = "" }, { ctx, deps, signal, idempotencyKey }: Execution<PlannerDeps>) => {
    const mark = await markOf(idempotencyKey);
    const plan = await deps.plans.insert(ctx, { id: await planIdOf(idempotencyKey), title, notes, mark }, signal);
    if (!plan.ok) return outcomeOf(plan);
    if (plan.value.title !== title) throw badResponse("The store answered with another plan.");
    return ok(plan.value);
  },
  probe: async (key, _args, { ctx, deps, signal }: Call<PlannerDeps>) => {
    const found = await deps.plans.find(ctx, await planIdOf(key), signal);
    // A store that refuses to say whether the plan is there has not said that it is not.
    if (!found.ok) throw new AmbiguousOutcome(found.refused);
    return found.value ? { found: true, outcome: ok(found.value.plan) } : { found: false };
  },
  display: ({ title }, lang) =>
    lang === "zh" ? `已创建计划${quoted(title, lang)}。` : `Created the plan ${quoted(title, "en")}.`,
});
