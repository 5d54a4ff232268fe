/**
 * Understands a body that is no stream: a whole chat completion, or the envelope of an error, although a stream was
 * asked for. Anything else (an HTML page, a cut body) is a protocol error.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { AnswerAccumulator, type AnswerBounds } from "./answer-accumulator.ts";
import type { DecodedAnswer } from "./decoded-answer.ts";
import { isJsonObject } from "./json-shape.ts";

export const DEFAULT_BOUNDS: AnswerBounds = { answerChars: LIMITS.answerChars, calls: LIMITS.callsPerStep };

/** Never throws; `sawDone` is false, as the body has an end of its own. */
export function decodeWhole(text: string, bounds: AnswerBounds = DEFAULT_BOUNDS): DecodedAnswer {
  const answer = new AnswerAccumulator(bounds);
  const value = parse(text);
  if (isJsonObject(value)) answer.fold(value);
  else answer.protocolError("the body is neither an event stream nor a JSON object");
  return answer.answer(false);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
