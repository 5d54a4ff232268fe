/**
 * How the scripted model plays opspilot. As the planner's scenes, these are functions of the turn alone: what is wrong
 * with a service, which setting is the cause and what came of an act, it has from the results or not at all.
 */
import { isObject, textIn, type JsonObject } from "../json.ts";
import type { Lang, Move, Result, Turn } from "../turn.ts";
import { bare, COMMON } from "./common.ts";
import { OPSPILOT_EN } from "./opspilot-en.ts";
import { OPSPILOT_ZH } from "./opspilot-zh.ts";
import type { OpspilotScript } from "./script.ts";

export const OPSPILOT: Readonly<Record<Lang, OpspilotScript>> = { en: OPSPILOT_EN, zh: OPSPILOT_ZH };

/** null: opspilot's script has nothing for this. */
export function playOpspilot(turn: Turn): Move | null {
  if (!turn.offered.has("list_services")) return null;
  const { patterns, severities } = OPSPILOT[turn.lang];
  const heard = (pattern: RegExp) => pattern.exec(turn.said)?.groups;
  const incident = heard(patterns.incident);
  if (incident) {
    const severity = severities.get(incident["severity"]?.toLowerCase() ?? "") ?? "high";
    const args = { service_id: incident["service"] ?? "", severity, title: bare(incident["title"]) };
    return act(turn, "open_incident", args);
  }
  const set = heard(patterns.set);
  if (set) {
    const value = bare(set["value"]);
    const args = { service_id: set["service"] ?? "", key: set["key"] ?? "" };
    return act(turn, "set_config", { ...args, value: /^\d{1,9}$/.test(value) ? Number(value) : value });
  }
  const restart = heard(patterns.restart);
  if (restart) return act(turn, "restart_service", { service_id: restart["service"] ?? "" });
  const explain = heard(patterns.explain);
  if (explain) return explained(turn, explain["service"] ?? explain["named"] ?? "");
  if (patterns.mend.test(turn.said)) return mend(turn, heard(patterns.mend)?.["service"]);
  return patterns.list.test(turn.said) ? list(turn) : null;
}

function act(turn: Turn, tool: string, args: JsonObject): Move {
  if (!turn.offered.has(tool)) return { text: COMMON[turn.lang].notOffered(tool) };
  const [results] = turn.rounds;
  if (!results) return { text: OPSPILOT[turn.lang].proposing, calls: [{ tool, args }] };
  return { text: results.map((one) => outcome(turn.lang, one)).join("\n") };
}

function list(turn: Turn): Move {
  const script = OPSPILOT[turn.lang];
  const [found] = turn.rounds[0] ?? [];
  if (!found) return { text: script.looking, calls: [{ tool: "list_services", args: {} }] };
  if (!found.success) return { text: COMMON[turn.lang].failed(found, script.theServices) };
  const named = servicesOf(found).map(({ id, health }) => ({ id, health: wordFor(script, health) }));
  return { text: script.services(named) };
}

const lookAt = (service_id: string) => [
  { tool: "get_service", args: { service_id } },
  { tool: "read_logs", args: { service_id } },
];

function explained(turn: Turn, service: string): Move {
  const script = OPSPILOT[turn.lang];
  const [looked] = turn.rounds;
  if (!looked) return { text: script.looking, calls: lookAt(service) };
  const failed = looked.find(({ success }) => !success);
  if (failed) return { text: COMMON[turn.lang].failed(failed, script.lookingAt(service)) };
  const { health, cause, told } = finding(turn.lang, service, looked);
  const advice = [
    ...(health === "failing" ? [script.sayToRestart(service)] : []),
    ...(cause ? [script.sayToSet(service, cause.name, cause.recommended)] : []),
  ];
  return { text: [told, ...advice].join("\n") };
}

/** List, look, restart what fails, then remove the cause: one step a round. */
function mend(turn: Turn, wanted: string | undefined): Move {
  const script = OPSPILOT[turn.lang];
  const common = COMMON[turn.lang];
  const [[found] = [], looked, ...acts] = turn.rounds;
  if (!found) return { text: script.looking, calls: [{ tool: "list_services", args: {} }] };
  if (!found.success) return { text: common.failed(found, script.theServices) };
  const service = toMend(servicesOf(found), wanted);
  if (!service) return { text: script.allWell };
  const { id } = service;
  if (!looked) return { text: script.reading(id, wordFor(script, service.health)), calls: lookAt(id) };
  const blind = looked.find(({ success }) => !success);
  if (blind) return { text: common.failed(blind, script.lookingAt(id)) };
  const { health, cause, told } = finding(turn.lang, id, looked);

  const [first, second] = acts.map(([result]) => result);
  const restarts = health === "failing";
  const before = restarts ? first : undefined;
  if (restarts && !turn.offered.has("restart_service"))
    return { text: `${told}\n${common.notOffered("restart_service")}` };
  if (restarts && !before) {
    const args = { service_id: id, reason: script.reason };
    return { text: `${told}\n${script.proposeRestart(id)}`, calls: [{ tool: "restart_service", args }] };
  }
  const soFar = before ? outcome(turn.lang, before) : told;
  if (before?.success === false || !cause) return { text: soFar };
  const changed = restarts ? second : first;
  if (changed) return { text: outcome(turn.lang, changed) };
  if (!turn.offered.has("set_config")) return { text: `${soFar}\n${common.notOffered("set_config")}` };
  const { name, value, recommended } = cause;
  return {
    text: `${soFar}\n${script.proposeSetting(id, name, value, recommended)}`,
    calls: [{ tool: "set_config", args: { service_id: id, key: name, value: Number(recommended) } }],
  };
}

interface Service {
  readonly id: string;
  readonly health: string;
}

/** The named one unless it is well; else one that fails, else one that is slow. */
function toMend(services: readonly Service[], wanted: string | undefined): Service | undefined {
  const named = services.find(({ id }) => id === wanted?.toLowerCase());
  const ill = named ? [named] : services;
  return ill.find(({ health }) => health === "failing") ?? ill.find(({ health }) => health === "degraded");
}

interface Cause {
  readonly name: string;
  readonly value: string;
  readonly recommended: string;
}

const SHOWN = 5;

/** What a look at a service and its logs says. A setting is the cause where the logs name it as it stands now. */
function finding(lang: Lang, service: string, looked: readonly Result[]) {
  const [view = {}, logs = {}] = looked.map(({ data }) => (isObject(data) ? data : {}));
  const lines = objectsIn(logs["lines"]).map(({ message }) => textIn(message));
  const telling = lines.filter((line) => !line.startsWith("health check failed"));
  const settings = objectsIn(view["settings"]);
  const blamed = settings.find(
    ({ name, value, recommended }) =>
      value !== recommended && lines.some((line) => line.startsWith(`${textIn(name)} is ${String(value)}:`)),
  );
  const cause: Cause | null = blamed
    ? { name: textIn(blamed["name"]), value: String(blamed["value"]), recommended: String(blamed["recommended"]) }
    : null;
  return { health: textIn(view["health"]), cause, told: OPSPILOT[lang].logs(service, telling.slice(-SHOWN)) };
}

function outcome(lang: Lang, result: Result): string {
  const script = OPSPILOT[lang];
  const { args } = result;
  const data = isObject(result.data) ? result.data : {};
  const told = (done: string, doing: string) => (result.success ? done : COMMON[lang].failed(result, doing));
  const service = textIn(args["service_id"]);
  switch (result.tool) {
    case "set_config": {
      const name = textIn(args["key"]);
      const after = String(data["after"] ?? args["value"]);
      const before = data["before"] === undefined ? null : String(data["before"]);
      return told(script.set(service, name, before, after), script.setting(service, name));
    }
    case "open_incident": {
      const title = textIn(data["title"]) || textIn(args["title"]);
      return told(script.opened(textIn(data["id"]) || null, title), script.opening(title));
    }
    default: {
      const health = textIn(data["health"]);
      return told(
        script.restarted(service, health === "" ? null : wordFor(script, health)),
        script.restarting(service),
      );
    }
  }
}

const wordFor = ({ health: words }: OpspilotScript, health: string): string =>
  Object.hasOwn(words, health) ? (words[health] ?? health) : health;

const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

function servicesOf({ data }: Result): Service[] {
  const services = objectsIn(isObject(data) ? data["services"] : data);
  return services.map(({ id, health }) => ({ id: textIn(id), health: textIn(health) }));
}
