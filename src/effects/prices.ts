/**
 * What tokens cost, in integer micro-dollars. A model that is not in the table costs `null`: unknown, never zero.
 *
 * Prices per million tokens, so a price in dollars is a whole number of micro-dollars per token times a million.
 * They change, and providers grant discounts: `MODEL_PRICES` overrides or adds rows.
 */
import * as z from "zod";

const PriceRow = z.strictObject({
  /** Micro-dollars per million tokens. */
  input: z.int().nonnegative(),
  cachedInput: z.int().nonnegative(),
  output: z.int().nonnegative(),
  asOf: z.string(),
});
export type PriceRow = z.infer<typeof PriceRow>;
export type Prices = ReadonlyMap<string, PriceRow>;

/** @param usd [input, cached input, output] in dollars per million tokens */
function row(asOf: string, usd: readonly [number, number, number]): PriceRow {
  const [input, cachedInput, output] = usd.map((dollars) => Math.round(dollars * 1_000_000));
  return { input: input ?? 0, cachedInput: cachedInput ?? 0, output: output ?? 0, asOf };
}

/** Source: https://developers.openai.com/api/docs/pricing, standard tier, short context. */
const PRICES: readonly (readonly [string, PriceRow])[] = [
  ["gpt-4o", row("2026-06", [2.5, 1.25, 10])],
  ["gpt-4o-mini", row("2026-06", [0.15, 0.075, 0.6])],
  ["gpt-4.1", row("2026-06", [2, 0.5, 8])],
  ["gpt-4.1-mini", row("2026-06", [0.4, 0.1, 1.6])],
  ["gpt-4.1-nano", row("2026-06", [0.1, 0.025, 0.4])],
  ["gpt-5", row("2026-06", [1.25, 0.125, 10])],
  ["gpt-5-mini", row("2026-06", [0.25, 0.025, 2])],
  ["gpt-5-nano", row("2026-06", [0.05, 0.005, 0.4])],
  ["gpt-5.1", row("2026-06", [1.25, 0.125, 10])],
  ["gpt-5.2", row("2026-06", [1.75, 0.175, 14])],
  ["gpt-5.4", row("2026-06", [2.5, 0.25, 15])],
  // The rehearsal model is a script of ours: it really costs nothing.
  ["rehearsal-1", row("2026-11", [0, 0, 0])],
];

/**
 * The table, with the rows of `MODEL_PRICES`: JSON `{"<model>": {input, cachedInput, output, asOf}}`.
 * @throws where the variable is no such JSON: a deployment with a wrong price table must not start
 */
export function pricesOf(override?: string): Prices {
  const more = override === undefined ? {} : z.record(z.string(), PriceRow).parse(JSON.parse(override));
  return new Map([...PRICES, ...Object.entries(more)]);
}

export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
}

/** Micro-dollars, rounded up; null where the model's price is not known. A dated name costs what its model costs. */
export function costOf(prices: Prices, model: string, tokens: Tokens): number | null {
  const price = prices.get(model) ?? prices.get(model.replace(/-\d{4}-\d{2}-\d{2}$/, ""));
  if (!price) return null;
  const cached = Math.min(tokens.cachedInputTokens ?? 0, tokens.inputTokens);
  // In BigInt: ten million tokens at a thousand dollars a million are beyond 2^53.
  const sum =
    BigInt(tokens.inputTokens - cached) * BigInt(price.input) +
    BigInt(cached) * BigInt(price.cachedInput) +
    BigInt(tokens.outputTokens) * BigInt(price.output);
  return Number((sum + 999_999n) / 1_000_000n);
}
