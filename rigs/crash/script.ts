/**
 * What is said to the lab: each message carries the plan that the model is to follow, so that its answer follows from the
 * request alone, however often a crash has it asked.
 *
 *   #7-3-12 transfer,book_note;lookup_order
 *
 * names the message (seed, conversation, number) and, per step, the calls; `-` is no step at all. After the last step the
 * model says so in words.
 */
import type { Random } from "../../sim/random.ts";
import type { Answer } from "../../test/support/answer-script.ts";
import { isJsonObject, type JsonObject } from "../../test/support/json.ts";

export interface Script {
  /** `#7-3-12` */
  readonly name: string;
  readonly steps: readonly (readonly string[])[];
}

/** How often each is called. */
const TOOLS = {
  transfer: 8,
  book_note: 5,
  transfer_idempotent: 4,
  transfer_probeable: 4,
  lookup_order: 3,
  slow_lookup: 1,
} as const;

export function writeScript(name: string, random: Random): string {
  const list = (length: number, item: () => string) => Array.from({ length }, item);
  const step = () => list(random.pick([1, 1, 1, 1, 2, 2, 3]), () => random.weighted(TOOLS)).join(",");
  return `${name} ${list(random.pick([0, 1, 1, 1, 1, 2, 2]), step).join(";") || "-"}`;
}

export function readScript(text: string): Script | null {
  const [, name, plan] = /^(#[\w-]+) ([a-z_,;]+|-)$/.exec(text) ?? [];
  if (name === undefined || plan === undefined) return null;
  return { name, steps: plan === "-" ? [] : plan.split(";").map((step) => step.split(",")) };
}

/** Which message a request is about, and which of its steps. */
export function readRequest(body: JsonObject): { readonly script: Script; readonly step: number } | null {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
  let found: Script | null = null;
  let step = 0;
  for (const message of messages) {
    const script = message.role === "user" && typeof message.content === "string" ? readScript(message.content) : null;
    if (script) {
      found = script;
      step = 0;
    } else if (message.role === "assistant" && Array.isArray(message.tool_calls)) step += 1;
  }
  return found && { script: found, step };
}

export const lastWords = (name: string): string => `${name} is done: ${"one word after the other, ".repeat(3)}end.`;

/** The calls of a step, or the last words. */
export function answerOf({ name, steps }: Script, step: number, delayMs: number): Answer {
  const calls = steps[step];
  if (calls === undefined) return { text: lastWords(name), delayMs };
  return {
    delayMs,
    toolCalls: calls.map((tool, n) => ({ name: tool, arguments: argsOf(tool, `${name}.${step}.${n}`) })),
  };
}

function argsOf(tool: string, call: string): JsonObject {
  switch (tool) {
    case "book_note":
      return { text: call };
    case "lookup_order":
      return { order_id: call };
    case "slow_lookup":
      return { ms: 30 };
    default:
      return { recipient_id: call, amount_cents: 500 };
  }
}
