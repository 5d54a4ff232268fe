/**
 * What the model is told after it has refused a request as too long: less, so that the conversation can go on. Cuts only
 * where a user speaks, so that every call keeps its answer. The log keeps everything; this is what is told of it.
 */
import * as z from "zod";
import { userMessage } from "./request-messages.ts";

export interface Told {
  /** Messages, encoded, with commas between them. */
  readonly json: string;
  /** Where in it users begin to speak. */
  readonly turns: readonly number[];
}

export interface Shortened extends Told {
  /** How many messages of the conversation are no longer told; sentences of ours do not count. */
  readonly leftOut: number;
}

/** Of the turn that did not fit, what must not be forgotten. */
export interface LastTurn {
  readonly calls: readonly { readonly name: string; readonly became: string }[];
  /** Encoded messages of operators. */
  readonly said: readonly string[];
}

/** The last turn goes where it is most of it; else the oldest turns go, at least half of what was told. */
export function shortened({ json, turns }: Told, last: LastTurn): Shortened {
  const from = turns.at(-1);
  if (from === undefined) return { json, turns, leftOut: 0 };
  const half = json.length / 2;
  if (from < half) {
    // The user's is the last: a request never ends in a message of the assistant.
    const instead = [...last.said, userMessage(leftOut(last))].join(",");
    const gone = saidIn(json.slice(from)) - last.said.length;
    return { json: json.slice(0, from) + instead, turns, leftOut: Math.max(0, gone) };
  }
  const cut = turns.find((at) => at >= half) ?? from;
  const head = `${userMessage(BEGINNING)},`;
  const kept = turns.filter((at) => at >= cut).map((at) => at - cut + head.length);
  return { json: head + json.slice(cut), turns: kept, leftOut: saidIn(json.slice(0, cut)) };
}

const BEGINNING = "(The beginning of this conversation is left out: it is too long for you.)";
const LEFT_OUT = "A message is left out here: it was too long for you.";

/** Messages of the conversation in this stretch of what is told, whose commas may be at its end. */
function saidIn(stretch: string): number {
  const messages = z.array(z.object({ content: z.unknown() })).parse(JSON.parse(`[${stretch.replace(/,$/, "")}]`));
  return messages.filter(({ content }) => !isOurs(content)).length;
}

const isOurs = (content: unknown): boolean =>
  typeof content === "string" && (content === BEGINNING || content.startsWith(`(${LEFT_OUT}`));

function leftOut({ calls }: LastTurn): string {
  if (calls.length === 0) return `(${LEFT_OUT})`;
  const list = calls.map(({ name, became }) => `${name}: ${became}`).join("; ");
  return `(${LEFT_OUT} What was called for it: ${list}.)`;
}
