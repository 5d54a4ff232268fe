/**
 * What an answer cost. The provider's figures are the truth; where it sent none (an abort, a cut, a server that does
 * not count) they are estimated and marked, because a call that books nothing is a way around every budget.
 */
import type { Usage } from "../protocol/run.ts";
import { costOf, type Prices } from "./prices.ts";
import type { DecodedAnswer } from "./stream/decoded-answer.ts";

/**
 * Tokens of a text, about: four bytes of UTF-8 each, one for each Chinese, Japanese or Korean character.
 * A tokenizer would be a megabyte of Worker for a figure that is only ever a stand-in.
 */
export function estimateTokens(text: string): number {
  let characters = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xe000) bytes += 2;
    else if (isIdeographic(unit)) characters += 1;
    else bytes += 3;
  }
  return characters + Math.ceil(bytes / 4);
}

const isIdeographic = (unit: number): boolean =>
  (unit >= 0x2e80 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7af) || (unit >= 0xf900 && unit <= 0xfaff);

export interface Spent {
  readonly prices: Prices;
  readonly model: string;
  /** The request's body; null where nothing was sent, or nothing was done with it. */
  readonly body: string | null;
  readonly answer: DecodedAnswer | null;
}

export function usageOf({ prices, model, body, answer }: Spent): Usage {
  const told = answer?.usage ?? null;
  const written = answer === null ? "" : writtenOf(answer);
  // A server that reports zero has not counted.
  const estimateInput = body !== null && (told?.inputTokens ?? 0) === 0;
  const estimateOutput = written !== "" && (told?.outputTokens ?? 0) === 0;
  const tokens = {
    inputTokens: estimateInput ? estimateTokens(body) : (told?.inputTokens ?? 0),
    outputTokens: estimateOutput ? estimateTokens(written) : (told?.outputTokens ?? 0),
    ...(told?.cachedInputTokens === undefined ? {} : { cachedInputTokens: told.cachedInputTokens }),
    ...(told?.reasoningTokens === undefined ? {} : { reasoningTokens: told.reasoningTokens }),
  };
  return {
    ...tokens,
    costMicroUsd: costOf(prices, model, tokens),
    estimated: estimateInput || estimateOutput,
    model,
  };
}

/** Of an answer that nobody heard to its end: what was sent, and as much as was shown. */
export function usageOfLost(spent: Omit<Spent, "answer">, text: string): Usage {
  const tokens = { inputTokens: estimateTokens(spent.body ?? ""), outputTokens: estimateTokens(text) };
  return { ...tokens, costMicroUsd: costOf(spent.prices, spent.model, tokens), estimated: true, model: spent.model };
}

const writtenOf = ({ text, reasoning, refusal, toolCalls }: DecodedAnswer): string =>
  [text, reasoning, refusal, ...toolCalls.flatMap((call) => [call.name, call.arguments])].join("");
