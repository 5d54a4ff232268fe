/**
 * What the scripted model sees: the user's last words, the tools it is offered, and what became of its calls since.
 * It reads results as a model would, from the transcript: it knows nothing else of the world.
 */
import { isObject, parseJson, textIn, type JsonObject } from "./json.ts";

export type Lang = "en" | "zh";

export interface Result {
  readonly tool: string;
  readonly args: JsonObject;
  readonly success: boolean;
  readonly data: unknown;
  readonly code: string;
  readonly message: string;
}

export interface Turn {
  readonly said: string;
  readonly lang: Lang;
  /** An operator has answered, and the last words are the sentence that hands the conversation back. */
  readonly handedBack: boolean;
  /** Names of the parameters by tool. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
  /** Each round of calls since the user's last words, with its results in call order. */
  readonly rounds: readonly (readonly Result[])[];
}

export interface Move {
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly args: JsonObject }[];
  /** Takes its time: something to cancel. */
  readonly slow?: boolean;
}

/** How `effects/transcript.ts` says it. */
const HANDED_BACK = /^\(A person of the service answered above and has handed the conversation back/;

/** @param body as `checkRequest` let it through */
export function readTurn(body: JsonObject): Turn {
  const messages = (Array.isArray(body["messages"]) ? body["messages"] : []).filter(isObject);
  const from = messages.findLastIndex(({ role }) => role === "user");
  const said = textIn(messages[from]?.["content"]);
  const handedBack = HANDED_BACK.test(said);
  const earlier = messages.slice(0, from).findLast(({ role, content }) => role === "user" && content !== said);
  return {
    said,
    handedBack,
    lang: /\p{Script=Han}/u.test(handedBack ? textIn(earlier?.["content"]) : said) ? "zh" : "en",
    offered: offeredOf(body["tools"]),
    rounds: roundsOf(messages.slice(from + 1)),
  };
}

function offeredOf(tools: unknown): Map<string, readonly string[]> {
  const offered = new Map<string, readonly string[]>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const fn: unknown = isObject(tool) ? tool["function"] : null;
    if (!isObject(fn)) continue;
    const parameters = isObject(fn["parameters"]) ? fn["parameters"] : {};
    offered.set(textIn(fn["name"]), Object.keys(isObject(parameters["properties"]) ? parameters["properties"] : {}));
  }
  return offered;
}

function roundsOf(messages: readonly JsonObject[]): Result[][] {
  const rounds: Result[][] = [];
  const contents = new Map(
    messages.filter(({ role }) => role === "tool").map((one) => [textIn(one["tool_call_id"]), textIn(one["content"])]),
  );
  for (const { tool_calls: calls } of messages) {
    if (!Array.isArray(calls)) continue;
    rounds.push(calls.filter(isObject).map((call) => resultOf(call, contents.get(textIn(call["id"])) ?? "")));
  }
  return rounds;
}

function resultOf(call: JsonObject, content: string): Result {
  const fn = isObject(call["function"]) ? call["function"] : {};
  const written = parseJson(textIn(fn["arguments"]));
  const told = parseJson(content);
  const result = isObject(told) ? told : {};
  const error = isObject(result["error"]) ? result["error"] : {};
  // A person may have edited the call: the result then says what ran.
  const args = isObject(result["args"]) ? result["args"] : written;
  return {
    tool: textIn(fn["name"]),
    args: isObject(args) ? args : {},
    success: result["success"] === true,
    data: result["data"],
    code: textIn(error["code"]),
    message: textIn(error["message"]),
  };
}
