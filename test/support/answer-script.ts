/**
 * The answers that a test can script, and their check.
 *
 * Everything that can be wrong with a script is found when it is handed in, and not in the middle of a run, where it
 * would look like a failure of the service under test.
 */
import { BadRequest, atLeastZero, isJsonObject, onlyKnown } from "./json.ts";
import type { End, FixtureLibrary } from "./stream-fixtures.ts";

export type Writes = "planned" | "single" | "bytewise";
export type Usage = {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly [more: string]: unknown;
};

/** `waitMs` passes before anything is sent; the socket is cut after so many bytes or writes of the body. */
type Cut = {
  readonly waitMs?: number;
  readonly destroyAfterBytes?: number;
  readonly destroyAfterWrites?: number;
};
type Completion = Cut & {
  readonly delayMs?: number;
  /** `false`: never sent. Without it: sent where it was asked for. */
  readonly usage?: Usage | false;
  readonly finishReason?: string;
};

export type FixtureAnswer = Cut & { readonly fixture: string; readonly writes?: Writes };
export type RawAnswer = Cut & {
  readonly raw: string;
  readonly encoding?: BufferEncoding;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly splitAt?: readonly number[];
  readonly delaysMs?: readonly number[];
  readonly end?: End;
  readonly writes?: Writes;
};
export type ToolCallsAnswer = Completion & {
  readonly toolCalls: readonly { readonly id?: string; readonly name: string; readonly arguments?: unknown }[];
  readonly text?: string;
};
/** One delta per word, or `chunks` of them. */
export type TextAnswer = Completion & { readonly text: string; readonly chunks?: number };
/** Nothing, or only the head; after `ms` the socket is cut. */
export type HangAnswer = { readonly hang: true | "headers"; readonly ms?: number; readonly waitMs?: number };
export type StatusAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly waitMs?: number;
};
export type Answer = FixtureAnswer | RawAnswer | ToolCallsAnswer | TextAnswer | HangAnswer | StatusAnswer;

const CUT = ["waitMs", "destroyAfterBytes", "destroyAfterWrites"];
/** The first match decides the kind, so `{toolCalls, text}` is a call with a preamble. */
const KINDS = {
  fixture: ["fixture", "writes", ...CUT],
  raw: ["raw", "encoding", "status", "headers", "splitAt", "delaysMs", "end", "writes", ...CUT],
  toolCalls: ["toolCalls", "text", "delayMs", "usage", "finishReason", ...CUT],
  text: ["text", "chunks", "delayMs", "usage", "finishReason", ...CUT],
  hang: ["hang", "ms", "waitMs"],
  status: ["status", "headers", "body", "waitMs"],
} as const;
const NUMBERS = ["waitMs", "delayMs", "ms", "destroyAfterBytes", "destroyAfterWrites", "status", "chunks"];

/** Throws `BadRequest` where the answer is none, or names a fixture that is not there. */
export function checkAnswer(answer: unknown, fixtures: FixtureLibrary): asserts answer is Answer {
  if (!isJsonObject(answer)) throw new BadRequest(`an answer must be an object, not ${JSON.stringify(answer)}`);
  const kinds = ["fixture", "raw", "toolCalls", "text", "hang", "status"] as const;
  const kind = kinds.find((key) => answer[key] !== undefined);
  if (kind === undefined) throw new BadRequest(`an answer needs one of: ${kinds.join(", ")}`);
  onlyKnown(answer, KINDS[kind], `answer of kind "${kind}"`);
  for (const key of NUMBERS) {
    if (answer[key] !== undefined && !atLeastZero(answer[key])) {
      throw new BadRequest(`${key} must be a number of at least 0`);
    }
  }
  const { writes, status } = answer;
  if (writes !== undefined && writes !== "planned" && writes !== "single" && writes !== "bytewise") {
    throw new BadRequest('writes must be "planned", "single" or "bytewise"');
  }
  if (typeof status === "number" && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new BadRequest("status must be a whole number from 200 to 599");
  }
  if (kind === "fixture") fixtures.get(String(answer.fixture));
  if (kind === "raw") checkRaw(answer.raw, answer.splitAt ?? [], answer.delaysMs);
  if (kind === "text" && typeof answer.text !== "string") throw new BadRequest("text must be a string");
  if (kind === "toolCalls") checkCalls(answer.toolCalls);
}

function checkRaw(raw: unknown, splitAt: unknown, delaysMs: unknown): void {
  if (typeof raw !== "string") throw new BadRequest("raw must be a string");
  const rising =
    Array.isArray(splitAt) &&
    splitAt.every((edge, i) => Number.isInteger(edge) && edge > (i === 0 ? 0 : splitAt[i - 1]));
  if (!rising) throw new BadRequest("splitAt must be rising byte offsets above 0");
  if (delaysMs !== undefined && !(Array.isArray(delaysMs) && delaysMs.length === splitAt.length + 1)) {
    throw new BadRequest("delaysMs needs one entry more than splitAt");
  }
}

function checkCalls(calls: unknown): void {
  if (!Array.isArray(calls) || !calls.every((call) => isJsonObject(call) && typeof call.name === "string")) {
    throw new BadRequest("toolCalls must be an array of {id?, name, arguments}");
  }
}
