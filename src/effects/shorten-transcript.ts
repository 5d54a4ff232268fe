/**
 * What the model is told after it has refused a request as too long: less, so that the conversation can go on. Cuts only
 * where a user speaks, so that every call keeps its answer. The log keeps everything; this is what is told of it.
 */
import { userMessage } from "./request-messages.ts";

export interface Told {
  /** Messages, encoded, with commas between them. */
  readonly json: string;
  /** Where in it users begin to speak. */
  readonly turns: readonly number[];
}

/** Of the turn that did not fit, what must not be forgotten. */
export interface LastTurn {
  readonly calls: readonly { readonly name: string; readonly became: string }[];
  /** Encoded messages of operators. */
  readonly said: readonly string[];
}

/** The last turn goes where it is most of it; else the oldest turns go, at least half of what was told. */
export function shortened({ json, turns }: Told, last: LastTurn): Told {
  const from = turns.at(-1);
  if (from === undefined) return { json, turns };
  const half = json.length / 2;
  if (from < half) {
    // The user's is the last: a request never ends in a message of the assistant.
    const instead = [...last.said, userMessage(leftOut(last))].join(",");
    return { json: json.slice(0, from) + instead, turns };
  }
  const cut = turns.find((at) => at >= half) ?? from;
  const head = `${userMessage(BEGINNING)},`;
  const kept = turns.filter((at) => at >= cut).map((at) => at - cut + head.length);
  return { json: head + json.slice(cut), turns: kept };
}

const BEGINNING = "(The beginning of this conversation is left out: it is too long for you.)";
const LEFT_OUT = "A message is left out here: it was too long for you.";

function leftOut({ calls }: LastTurn): string {
  if (calls.length === 0) return `(${LEFT_OUT})`;
  const list = calls.map(({ name, became }) => `${name}: ${became}`).join("; ");
  return `(${LEFT_OUT} What was called for it: ${list}.)`;
}
