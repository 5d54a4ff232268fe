import type { PlannerScript } from "./script.ts";

const quoted = (titles: readonly string[]): string => titles.map((title) => `"${title}"`).join(", ");

export const PLANNER_EN: PlannerScript = {
  prompts: [
    "List my plans",
    "Create a plan called Visit Kyoto in spring",
    "Please create a plan to learn the cello",
    'Create plans "Buy paint" and "Paint the fence"',
    "Rename the plan Buy paint to Buy green paint",
    "Add a note to the plan Buy paint: two litres",
    "Delete the plan Buy paint",
    "Tell me a long story",
  ],
  patterns: {
    list: /\b(?:list|show|see|what are|which|have i got)\b.*\bplans?\b|\bmy plans\b/iu,
    create: /\b(?:create|make|add|start|draft|write|save|set up|need|want|like)\b.*\bplan\b/iu,
    called: /\b(?:called|named|titled|entitled)\s*:?\s*(.+)$/iu,
    createTwo: /\b(?:create|make|add)\s+(?:two\s+|the\s+)?plans\s+(?:called\s+)?(.+?)\s+and\s+(.+)$/iu,
    rename: /\brename\s+(?:the\s+|my\s+)?(?:plan\s+)?(.+?)\s+(?:to|as|into)\s+(.+)$/iu,
    note: /\badd\s+(?:a\s+)?notes?\s+to\s+(?:the\s+|my\s+)?(?:plan\s+)?(.+?)\s*:\s*(.+)$/iu,
    remove: /\b(?:delete|remove|drop)\s+(?:the\s+|my\s+)?plan\s+(.+)$/iu,
  },
  looking: "Let me look at your plans.",
  proposing: "I have prepared that. Please confirm it.",
  plans: (titles) => {
    if (titles.length === 0) return "You have no plans yet.";
    return `You have ${titles.length === 1 ? "1 plan" : `${titles.length} plans`}: ${quoted(titles)}.`;
  },
  created: (title) => `Done: the plan "${title}" is saved.`,
  changed: (title) => `Done: the plan "${title}" is changed.`,
  removed: (title) => `Done: the plan "${title}" is deleted.`,
  notFound: (wanted, titles) =>
    titles.length === 0
      ? `I found no plan "${wanted}": you have no plans yet.`
      : `I found no plan "${wanted}". Your plans are: ${quoted(titles)}.`,
  several: (wanted, titles) => `More than one plan fits "${wanted}": ${quoted(titles)}. Which one do you mean?`,
  theList: "the list of your plans",
  creating: (title) => `creating the plan "${title}"`,
  changing: (title) => `changing the plan "${title}"`,
  removing: (title) => `deleting the plan "${title}"`,
};
