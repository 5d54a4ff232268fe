/** Deleting a plan: for good, so it is sent once, and only while the plan is as it was shown. */
import * as z from "zod";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok, refused } from "../../tools/outcome.ts";
import { badResponse } from "../../tools/call-json.ts";
import {
  Expected,
  labelsOf,
  outcomeOf,
  ownsPlan,
  planNow,
  PlanId,
  unexpected,
  WRITE_SCOPE,
  type PlanCall,
  type PlannerDeps,
} from "./plan-tools.ts";

export const deletePlan = defineTool({
  name: "delete_plan",
  title: { en: "Delete a plan", zh: "删除计划" },
  description: "Deletes one of the user's plans for good. A person confirms it.",
  effect: "once",
  scope: WRITE_SCOPE,
  input: z.object({ plan_id: PlanId }),
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  reversible: false,
  timeoutMs: 15_000,
  authorize: ownsPlan,
  preview: async ({ plan_id }, call: PlanCall) => {
    const labels = labelsOf(call);
    const plan = await planNow(plan_id, call);
    return {
      rows: [
        { label: labels.deleted, before: plan.title },
        ...(plan.notes === "" ? [] : [{ label: labels.notes, before: plan.notes }]),
      ],
      expect: { version: plan.version },
    };
  },
  execute: async ({ plan_id: id }, call: Execution<PlannerDeps>) => {
    const expected = Expected.safeParse(call.expect);
    if (!expected.success) return unexpected();
    const { version } = expected.data;
    const removed = await call.deps.plans.remove(call.ctx, { id, version }, call.signal);
    if (!removed.ok) return outcomeOf(removed);
    if (removed.value) return ok({ id, deleted: true as const });
    const found = await call.deps.plans.find(call.ctx, id, call.signal);
    if (!found.ok) return outcomeOf(found);
    if (found.value?.plan.version === version) throw badResponse("The store deleted nothing, and said no why.");
    return refused("changed_since_shown", "The plan has changed since it was shown; nothing was done.");
  },
  display: (_, lang) => (lang === "zh" ? "已删除计划。" : "Deleted the plan."),
});
