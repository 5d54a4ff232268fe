/**
 * How the scripted model plays the planner. A scene is a function of the turn alone, called again after each round of
 * results: nothing is remembered but the transcript. It tells what the results say, and nothing that they do not.
 */
import { isObject, textIn } from "../json.ts";
import type { Lang, Move, Result, Turn } from "../turn.ts";
import { bare, COMMON } from "./common.ts";
import { PLANNER_EN } from "./planner-en.ts";
import { PLANNER_ZH } from "./planner-zh.ts";
import type { PlannerScript } from "./script.ts";

export const PLANNER: Readonly<Record<Lang, PlannerScript>> = { en: PLANNER_EN, zh: PLANNER_ZH };

/** null: the planner's script has nothing for this. */
export function playPlanner(turn: Turn): Move | null {
  if (!turn.offered.has("list_plans")) return null;
  const script = PLANNER[turn.lang];
  const { said } = turn;
  const { patterns } = script;
  const removed = patterns.remove.exec(said);
  if (removed) return onPlan(turn, bare(removed[1]), "delete_plan", {});
  const renamed = patterns.rename.exec(said);
  if (renamed) return onPlan(turn, bare(renamed[1]), "update_plan", { title: bare(renamed[2]) });
  const noted = patterns.note.exec(said);
  if (noted) return onPlan(turn, bare(noted[1]), "update_plan", { notes: bare(noted[2]) });
  const two = patterns.createTwo.exec(said);
  if (two) return create(turn, [bare(two[1]), bare(two[2])]);
  if (patterns.create.test(said)) {
    // Without a name the whole sentence goes in, as models do: making a title of it is the tool's business.
    const called = patterns.called.exec(said);
    return create(turn, [called ? bare(called[1]) : said]);
  }
  return patterns.list.test(said) ? list(turn) : null;
}

function list(turn: Turn): Move {
  const script = PLANNER[turn.lang];
  const [found] = turn.rounds[0] ?? [];
  if (!found) return { text: script.looking, calls: [{ tool: "list_plans", args: {} }] };
  if (!found.success) return { text: COMMON[turn.lang].failed(found, script.theList) };
  return { text: script.plans(plansOf(found).map(({ title }) => title)) };
}

function create(turn: Turn, titles: readonly string[]): Move {
  const script = PLANNER[turn.lang];
  if (!turn.offered.has("create_plan")) return { text: COMMON[turn.lang].notOffered("create_plan") };
  const [results] = turn.rounds;
  if (results) return { text: results.map((one) => outcome(turn.lang, one, titleOf(one))).join("\n") };
  return { text: script.proposing, calls: titles.map((title) => ({ tool: "create_plan", args: { title } })) };
}

/** Change or delete: first the list, to find the id, then the call, then what became of it. */
function onPlan(turn: Turn, wanted: string, tool: "update_plan" | "delete_plan", change: Record<string, string>): Move {
  const script = PLANNER[turn.lang];
  const [[found] = [], results] = turn.rounds;
  if (!turn.offered.has(tool)) return { text: COMMON[turn.lang].notOffered(tool) };
  if (!found) return { text: script.looking, calls: [{ tool: "list_plans", args: {} }] };
  if (!found.success) return { text: COMMON[turn.lang].failed(found, script.theList) };
  const plans = plansOf(found);
  const fitting = fit(plans, wanted);
  const [plan, ...others] = fitting;
  if (!plan)
    return {
      text: script.notFound(
        wanted,
        plans.map(({ title }) => title),
      ),
    };
  if (others.length > 0)
    return {
      text: script.several(
        wanted,
        fitting.map(({ title }) => title),
      ),
    };
  if (!results) return { text: script.proposing, calls: [{ tool, args: { plan_id: plan.id, ...change } }] };
  return { text: results.map((one) => outcome(turn.lang, one, titleOf(one) || plan.title)).join("\n") };
}

function outcome(lang: Lang, result: Result, title: string): string {
  const script = PLANNER[lang];
  const told = (done: string, doing: string) => (result.success ? done : COMMON[lang].failed(result, doing));
  switch (result.tool) {
    case "update_plan":
      return told(script.changed(title), script.changing(title));
    case "delete_plan":
      return told(script.removed(title), script.removing(title));
    default:
      return told(script.created(title), script.creating(title));
  }
}

interface Plan {
  readonly id: string;
  readonly title: string;
}

function plansOf({ data }: Result): Plan[] {
  const plans: unknown = isObject(data) ? data["plans"] : data;
  if (!Array.isArray(plans)) return [];
  return plans.filter(isObject).map(({ id, title }) => ({ id: textIn(id), title: textIn(title) }));
}

/** The plans of exactly this title, else those that have it in theirs. */
function fit(plans: readonly Plan[], wanted: string): Plan[] {
  const key = wanted.toLowerCase();
  const same = plans.filter(({ title }) => title.toLowerCase() === key);
  return same.length > 0 ? same : plans.filter(({ title }) => key !== "" && title.toLowerCase().includes(key));
}

/** As the tool says that it is now, else as it was asked for. */
const titleOf = ({ data, args }: Result): string =>
  textIn(isObject(data) ? data["title"] : undefined) || textIn(args["title"]);
