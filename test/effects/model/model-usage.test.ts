import { expect, test } from "vitest";
import { estimateTokens, usageOf } from "../../../src/effects/model-usage.ts";
import { costOf, pricesOf } from "../../../src/effects/prices.ts";
import type { DecodedAnswer, DecodedUsage } from "../../../src/effects/stream/decoded-answer.ts";

const prices = pricesOf();
const answer = (text: string, usage: DecodedUsage | null): DecodedAnswer => ({
  text,
  reasoning: "",
  refusal: "",
  toolCalls: [],
  finishReason: "stop",
  usage,
  model: null,
  failure: null,
  sawDone: true,
});

test("a cost is an integer of micro-dollars, rounded up, with cached input at its own price", () => {
  expect(costOf(prices, "gpt-5-mini", { inputTokens: 1_000_000, outputTokens: 0 })).toBe(250_000);
  expect(costOf(prices, "gpt-5-mini", { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 1_000_000 })).toBe(
    25_000,
  );
  expect(costOf(prices, "gpt-5-mini", { inputTokens: 1, outputTokens: 1 })).toBe(3);
  expect(costOf(prices, "gpt-5-nano", { inputTokens: 1, outputTokens: 0 })).toBe(1);
});

test("more tokens than were sent are never taken for cached", () => {
  expect(costOf(prices, "gpt-5-mini", { inputTokens: 10, outputTokens: 0, cachedInputTokens: 99 })).toBe(1);
});

test("large figures stay exact", () => {
  const dear = pricesOf(JSON.stringify({ dear: { input: 1_000_000_001, cachedInput: 0, output: 0, asOf: "2026-11" } }));
  expect(costOf(dear, "dear", { inputTokens: 90_000_000, outputTokens: 0 })).toBe(90_000_000_090);
});

test("a model that is not in the table has no known cost, and a dated name costs what its model costs", () => {
  expect(costOf(prices, "somebody-s-model", { inputTokens: 1, outputTokens: 1 })).toBeNull();
  expect(costOf(prices, "constructor", { inputTokens: 1, outputTokens: 1 })).toBeNull();
  expect(costOf(prices, "gpt-4o-2024-08-06", { inputTokens: 1_000_000, outputTokens: 0 })).toBe(2_500_000);
});

test("the rehearsal costs nothing", () => {
  expect(costOf(prices, "rehearsal-1", { inputTokens: 1_000, outputTokens: 1_000 })).toBe(0);
});

test("a price table that is none stops the deployment", () => {
  expect(() => pricesOf("{")).toThrow();
  expect(() => pricesOf('{"m": {"input": 0.5}}')).toThrow();
});

test("tokens are estimated as four bytes each, and one for each ideograph", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens("abcdefgh")).toBe(2);
  expect(estimateTokens("你好世界")).toBe(4);
  expect(estimateTokens("🚀")).toBe(1);
  expect(estimateTokens("привет")).toBe(3);
});

test("the provider's figures are taken as they are; zero is no figure", () => {
  const told = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, reasoningTokens: 1 };
  const spent = { prices, model: "gpt-5-mini", body: "x".repeat(400) };
  expect(usageOf({ ...spent, answer: answer("hello", told) })).toMatchObject({ ...told, estimated: false });
  const zeros = usageOf({ ...spent, answer: answer("12345678", { inputTokens: 0, outputTokens: 0 }) });
  expect(zeros).toMatchObject({ inputTokens: 100, outputTokens: 2, estimated: true, costMicroUsd: 29 });
  expect(usageOf({ ...spent, body: null, answer: null })).toMatchObject({
    inputTokens: 0,
    outputTokens: 0,
    estimated: false,
  });
});
