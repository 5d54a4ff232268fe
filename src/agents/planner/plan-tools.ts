/** What the planner's tools share: the owner, refusals of the store as outcomes, a row's version as expectation. */
import * as z from "zod";
import type { Call, Refusal } from "../../tools/define-tool.ts";
import { langOf, type Lang } from "../../protocol/texts.ts";
import { notSent, refused, type ToolOutcome } from "../../tools/outcome.ts";
import { badResponse } from "../../tools/call-json.ts";
import type { Plan, PlanStore, Stored } from "./plan-store.ts";

export interface PlannerDeps {
  readonly plans: PlanStore;
}
export type PlanCall = Call<PlannerDeps>;

export const WRITE_SCOPE = "plans:write";
export const NOTES_CHARS = 2_000;
export const PlanId = z.string().min(1).max(64).describe("The plan's id, as list_plans gives it.");
export const Expected = z.object({ version: z.int() });

export const LABELS = {
  en: { plan: "Plan", title: "Title", notes: "Notes", deleted: "Deleted for good" },
  zh: { plan: "计划", title: "标题", notes: "备注", deleted: "永久删除" },
} as const;

export const labelsOf = ({ ctx }: Pick<PlanCall, "ctx">) => LABELS[langOf(ctx.locale)];

/** May this user touch this plan? Another's plan is as unknown as one that does not exist. */
export async function ownsPlan({ plan_id }: { plan_id: string }, call: PlanCall): Promise<Refusal> {
  const found = await call.deps.plans.find(call.ctx, plan_id, call.signal);
  if (!found.ok) return { ok: false, code: found.refused.code, message: found.refused.message };
  return found.value ? { ok: true } : { ok: false, code: "not_found", message: "There is no such plan." };
}

/** The plan as it stands now, for a preview; a preview that cannot see it fails. */
export async function planNow(id: string, call: PlanCall): Promise<Plan> {
  const found = await call.deps.plans.find(call.ctx, id, call.signal);
  if (found.ok && found.value) return found.value.plan;
  throw new Error("the plan is not there to be shown");
}

export const outcomeOf = <T>(answer: Stored<T> & { ok: false }): ToolOutcome<never> =>
  refused(answer.refused.code, answer.refused.message, answer.refused);

/**
 * Nothing matched id and version. Either an earlier attempt of this act did (then it is done), or the plan has changed
 * since it was shown; and where the store contradicts itself, nobody knows.
 */
export async function afterMiss(id: string, version: number, mark: string, call: PlanCall): Promise<ToolOutcome<Plan>> {
  const found = await call.deps.plans.find(call.ctx, id, call.signal);
  if (!found.ok) return outcomeOf(found);
  if (found.value?.lastChange === mark) return { kind: "ok", data: found.value.plan };
  if (found.value?.plan.version === version) throw badResponse("The store changed nothing, and said no why.");
  return refused("changed_since_shown", "The plan has changed since it was shown; nothing was done.");
}

/** An expectation that is not there would let anything be overwritten. */
export const unexpected = (): ToolOutcome<never> =>
  notSent("changed_since_shown", "It is not known which version was shown; nothing was done.");

export const quoted = (title: string, lang: Lang): string => (lang === "zh" ? `“${title}”` : `"${title}"`);
