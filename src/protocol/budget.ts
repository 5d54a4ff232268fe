/**
 * What a tenant, or the whole service, may spend. The periods are whole hours and days of UTC, and a call counts in the
 * one in which it began. Money is integer micro-dollars; a call of a model whose price is not known counts by its tokens
 * alone.
 */
import * as z from "zod";

const Amount = z.int().positive().max(1_000_000_000_000_000);

export const BudgetLimits = z.strictObject({
  microUsdPerHour: Amount.optional(),
  microUsdPerDay: Amount.optional(),
  tokensPerHour: Amount.optional(),
  tokensPerDay: Amount.optional(),
  /** Queued and running. Those that wait for somebody do not count. */
  concurrentRuns: Amount.optional(),
});
export type BudgetLimits = z.infer<typeof BudgetLimits>;

export const SpendName = z.enum(["microUsdPerHour", "microUsdPerDay", "tokensPerHour", "tokensPerDay"]);
export type SpendName = z.infer<typeof SpendName>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Spend {
  readonly name: SpendName;
  readonly unit: "tokens" | "microUsd";
  readonly periodMs: number;
}
/** In the order in which a refusal names them: what ends soonest first. */
export const SPENDS: readonly Spend[] = [
  { name: "microUsdPerHour", unit: "microUsd", periodMs: HOUR_MS },
  { name: "tokensPerHour", unit: "tokens", periodMs: HOUR_MS },
  { name: "microUsdPerDay", unit: "microUsd", periodMs: DAY_MS },
  { name: "tokensPerDay", unit: "tokens", periodMs: DAY_MS },
];

export const hasLimits = (limits: BudgetLimits): boolean => Object.values(limits).some((bound) => bound !== undefined);
export const hasSpendLimits = (limits: BudgetLimits): boolean => SPENDS.some(({ name }) => limits[name] !== undefined);

/** Of a limit, when so much of it is used up. */
export const WARN_PERCENTS = [50, 80, 100] as const;

/** `scope`: whose budget it is and which of its limits, for example `tenant.microUsdPerHour`. */
export interface BudgetWarning {
  readonly percent: number;
  readonly scope: string;
}

/** What a call takes, or took; `microUsd` null: its price is not known. */
export interface Amounts {
  readonly tokens: number;
  readonly microUsd: number | null;
}

export const BudgetLevel = z.object({
  used: z.int().nonnegative(),
  reserved: z.int().nonnegative(),
  bound: z.int().positive(),
  /** When the period ends and everything is free again; absent: it has none. */
  resetsAt: z.string().optional(),
});
export type BudgetLevel = z.infer<typeof BudgetLevel>;
export const BudgetLevels = z.partialRecord(z.enum([...SpendName.options, "concurrentRuns"]), BudgetLevel);
export type BudgetLevels = z.infer<typeof BudgetLevels>;
