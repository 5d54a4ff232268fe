/** Changing a plan: exactly the version that was shown, and only once, however often it is sent. */
import * as z from "zod";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { markOf, Plan } from "./plan-store.ts";
import { asTitle, TITLE_CHARS } from "./plan-title.ts";
import {
  afterMiss,
  Expected,
  labelsOf,
  NOTES_CHARS,
  outcomeOf,
  ownsPlan,
  planNow,
  PlanId,
  quoted,
  unexpected,
  WRITE_SCOPE,
  type PlanCall,
  type PlannerDeps,
} from "./plan-tools.ts";

export const updatePlan = defineTool({
  name: "update_plan",
  title: { en: "Change a plan", zh: "修改计划" },
  description: "Changes title or notes of one of the user's plans. A person confirms it.",
  effect: "idempotent",
  scope: WRITE_SCOPE,
  input: z
    .object({
      plan_id: PlanId,
      title: z.string().min(1).max(TITLE_CHARS).optional().describe("The new title."),
      notes: z.string().max(NOTES_CHARS).optional().describe("The new notes; an empty text removes them."),
    })
    .refine(({ title, notes }) => title !== undefined || notes !== undefined, { error: "nothing to change" }),
  output: Plan,
  reversible: true,
  undo: "update_plan",
  timeoutMs: 15_000,
  normalize: (args) =>
    typeof args === "object" && args !== null && "title" in args && typeof args.title === "string"
      ? { ...args, title: asTitle(args.title) }
      : args,
  authorize: ownsPlan,
  preview: async ({ plan_id, title, notes }, call: PlanCall) => {
    const labels = labelsOf(call);
    const plan = await planNow(plan_id, call);
    return {
      rows: [
        ...(title === undefined ? [{ label: labels.plan, value: plan.title }] : []),
        ...(title === undefined ? [] : [{ label: labels.title, before: plan.title, after: title }]),
        ...(notes === undefined ? [] : [{ label: labels.notes, before: plan.notes, after: notes }]),
      ],
      expect: { version: plan.version },
    };
  },
  execute: async ({ plan_id, title, notes }, call: Execution<PlannerDeps>) => {
    const expected = Expected.safeParse(call.expect);
    if (!expected.success) return unexpected();
    const { version } = expected.data;
    const mark = await markOf(call.idempotencyKey);
    const change = {
      id: plan_id,
      version,
      mark,
      ...(title === undefined ? {} : { title }),
      ...(notes === undefined ? {} : { notes }),
    };
    const plan = await call.deps.plans.update(call.ctx, change, call.signal);
    if (!plan.ok) return outcomeOf(plan);
    return plan.value ? ok(plan.value) : afterMiss(plan_id, version, mark, call);
  },
  display: ({ title }, lang) =>
    lang === "zh" ? `已修改计划${quoted(title, lang)}。` : `Changed the plan ${quoted(title, lang)}.`,
});
