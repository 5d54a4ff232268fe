/** What a script is: what people may say, as patterns, and what the model says then, in one language. Data, and how to read what it quotes. */
import type { Result } from "../turn.ts";

export interface CommonScript {
  readonly greeting: RegExp;
  readonly story: RegExp;
  readonly welcome: (prompts: readonly string[]) => string;
  readonly unknown: (said: string, prompts: readonly string[]) => string;
  readonly backAgain: string;
  readonly tale: () => string;
  /** What became of a call that did not succeed. `what` names it, as the end of a sentence. */
  readonly failed: (result: Pick<Result, "code" | "message">, what: string) => string;
  readonly notOffered: (tool: string) => string;
}

/** What a person said of a call, as the result tells it in brackets; "" where nothing was said. */
export function saidIn(message: string, before: string): string {
  const said = /\(([^]+)\)$/.exec(message)?.[1];
  return said === undefined ? "" : before + said;
}

export interface PlannerScript {
  readonly prompts: readonly string[];
  readonly patterns: {
    readonly list: RegExp;
    readonly create: RegExp;
    /** Group 1: what the plan is called. */
    readonly called: RegExp;
    /** Groups 1 and 2: two titles. */
    readonly createTwo: RegExp;
    /** Groups 1 and 2: the plan, and its new title. */
    readonly rename: RegExp;
    /** Groups 1 and 2: the plan, and the notes. */
    readonly note: RegExp;
    /** Group 1: the plan. */
    readonly remove: RegExp;
  };
  readonly looking: string;
  readonly proposing: string;
  readonly plans: (titles: readonly string[]) => string;
  readonly created: (title: string) => string;
  readonly changed: (title: string) => string;
  readonly removed: (title: string) => string;
  readonly notFound: (wanted: string, titles: readonly string[]) => string;
  readonly several: (wanted: string, titles: readonly string[]) => string;
  readonly theList: string;
  readonly creating: (title: string) => string;
  readonly changing: (title: string) => string;
  readonly removing: (title: string) => string;
}

export interface OpspilotScript {
  readonly prompts: readonly string[];
  readonly patterns: {
    readonly list: RegExp;
    /** Group `service`, where one is named: find what is wrong and mend it. */
    readonly mend: RegExp;
    /** Group `service`. */
    readonly explain: RegExp;
    /** Group `service`. */
    readonly restart: RegExp;
    /** Groups `service`, `key` and `value`. */
    readonly set: RegExp;
    /** Groups `service` and `title`, and `severity` where one is named. */
    readonly incident: RegExp;
  };
  /** What people call a severity, as the tool calls it. */
  readonly severities: ReadonlyMap<string, string>;
  readonly health: Readonly<Record<string, string>>;
  readonly looking: string;
  readonly services: (each: readonly { readonly id: string; readonly health: string }[]) => string;
  readonly allWell: string;
  readonly reading: (service: string, health: string) => string;
  readonly logs: (service: string, lines: readonly string[]) => string;
  readonly proposing: string;
  readonly proposeRestart: (service: string) => string;
  readonly reason: string;
  /** Where a person says that it happened, no tool said how it went: then what it would have told is null. */
  readonly restarted: (service: string, health: string | null) => string;
  readonly proposeSetting: (service: string, name: string, value: string, recommended: string) => string;
  readonly set: (service: string, name: string, before: string | null, after: string) => string;
  readonly opened: (id: string | null, title: string) => string;
  readonly sayToRestart: (service: string) => string;
  readonly sayToSet: (service: string, name: string, value: string) => string;
  readonly theServices: string;
  readonly lookingAt: (service: string) => string;
  readonly restarting: (service: string) => string;
  readonly setting: (service: string, name: string) => string;
  readonly opening: (title: string) => string;
}
