/** Reads a usage object as the various vendors write it. */
import type { DecodedUsage } from "./decoded-answer.ts";
import { isJsonObject, type JsonObject } from "./json-shape.ts";

/** Null where the object holds no figure at all. */
export function readUsage(value: unknown): DecodedUsage | null {
  if (!isJsonObject(value)) return null;
  const input = tokens(value.prompt_tokens) ?? tokens(value.input_tokens);
  const output = tokens(value.completion_tokens) ?? tokens(value.output_tokens);
  if (input === undefined && output === undefined) return null;
  const cached = detail(value, "prompt_tokens_details", "cached_tokens") ?? tokens(value.prompt_cache_hit_tokens); // DeepSeek
  const reasoning = detail(value, "completion_tokens_details", "reasoning_tokens");
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}

/**
 * A usage object is the level so far and not an increment: some vendors send one with every chunk, some send zeros
 * after the real one. The highest level of each figure is the answer's.
 */
export function higherUsage(known: DecodedUsage | null, next: DecodedUsage): DecodedUsage {
  if (known === null) return next;
  const cached = highest(known.cachedInputTokens, next.cachedInputTokens);
  const reasoning = highest(known.reasoningTokens, next.reasoningTokens);
  return {
    inputTokens: Math.max(known.inputTokens, next.inputTokens),
    outputTokens: Math.max(known.outputTokens, next.outputTokens),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}

export function sameUsage(a: DecodedUsage | null, b: DecodedUsage | null): boolean {
  return (
    a?.inputTokens === b?.inputTokens &&
    a?.outputTokens === b?.outputTokens &&
    a?.cachedInputTokens === b?.cachedInputTokens &&
    a?.reasoningTokens === b?.reasoningTokens
  );
}

function detail(usage: JsonObject, group: string, name: string): number | undefined {
  const details = usage[group];
  return isJsonObject(details) ? tokens(details[name]) : undefined;
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function highest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : Math.max(a, b ?? 0);
}
