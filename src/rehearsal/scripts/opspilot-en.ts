import type { OpspilotScript } from "./script.ts";

const NAME = String.raw`(?!(?:it|this|that|the|my|our)\b)[a-z][a-z0-9_-]*`;

export const OPSPILOT_EN: OpspilotScript = {
  prompts: [
    "How are the services?",
    "Something is wrong with the shop: please fix it",
    "Why is checkout failing?",
    "Restart checkout",
    "Set cache_max_mb of checkout to 128",
    "Open an incident for checkout: out of memory",
    "Tell me a long story",
  ],
  patterns: {
    list: /\b(?:list|show|which|what|how)\b.*\bservices?\b|\bstatus\b/iu,
    mend: new RegExp(
      String.raw`\b(?:fix|repair|mend)\s+(?:the\s+)?(?:service\s+)?(?<service>${NAME})\b|\b(?:fix|repair|mend)\b|\b(?:something|anything) is wrong\b|\boutage\b`,
      "iu",
    ),
    explain: new RegExp(
      String.raw`\b(?:why is|what is wrong with|what's wrong with|what happened to|logs? (?:of|for)|look at)\s+(?:the\s+)?(?:service\s+)?(?<service>${NAME})`,
      "iu",
    ),
    restart: new RegExp(String.raw`\brestart\s+(?:the\s+)?(?:service\s+)?(?<service>${NAME})`, "iu"),
    set: new RegExp(
      String.raw`\b(?:set|change)\s+(?:the\s+)?(?<key>\S+)\s+(?:of|on|for|in)\s+(?<service>${NAME})\s+to\s+(?<value>.+)$`,
      "iu",
    ),
    incident: new RegExp(
      String.raw`\bopen\s+(?:an?\s+)?(?:(?<severity>low|high|critical)\s+)?incident\s+(?:for|on|about)\s+(?<service>${NAME})\s*:\s*(?<title>.+)$`,
      "iu",
    ),
  },
  severities: new Map([
    ["low", "low"],
    ["high", "high"],
    ["critical", "critical"],
  ]),
  health: { healthy: "healthy", degraded: "degraded", failing: "failing", restarting: "restarting" },
  looking: "Let me look at the services.",
  services: (each) =>
    each.length === 0 ? "There are no services." : `${each.map(({ id, health }) => `${id} is ${health}`).join(", ")}.`,
  allWell: "All services are healthy; there is nothing to mend.",
  reading: (service, health) => `${service} is ${health}. Let me read its logs.`,
  logs: (service, lines) =>
    lines.length === 0
      ? `The logs of ${service} hold no warnings.`
      : `The logs of ${service} say:\n${lines.map((line) => `- ${line}`).join("\n")}`,
  proposing: "I have prepared that. Please confirm it.",
  proposeRestart: (service) => `I propose to restart ${service}, so that it answers again. Please confirm it.`,
  reason: "It does not answer; see its logs.",
  restarted: (service, health) => `Done: ${service} has restarted${health === null ? "" : ` and is ${health}`}.`,
  proposeSetting: (service, name, value, recommended) =>
    `The cause is still there: ${name} of ${service} is ${value}. I propose to set it to ${recommended}. Please confirm it.`,
  set: (service, name, before, after) =>
    `Done: ${name} of ${service} is now ${after}${before === null ? "" : `; it was ${before}`}.`,
  opened: (id, title) => `Done: ${id ?? "the incident"} is open: "${title}".`,
  sayToRestart: (service) => `If I shall restart it, say: Restart ${service}`,
  sayToSet: (service, name, value) => `To remove the cause, say: Set ${name} of ${service} to ${value}`,
  theServices: "the list of the services",
  lookingAt: (service) => `looking at ${service}`,
  restarting: (service) => `restarting ${service}`,
  setting: (service, name) => `changing ${name} of ${service}`,
  opening: (title) => `opening the incident "${title}"`,
};
