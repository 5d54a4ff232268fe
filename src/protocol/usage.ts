/** What a tenant's runs have taken, per agent, and where a figure is above its threshold. Of the history: it may lag. */
import * as z from "zod";
import { BudgetLevels } from "./budget.ts";
import { StopCode } from "./stops.ts";

const Count = z.int().nonnegative();

/** Of the runs that ended in the range: half of them, nineteen in twenty, and the longest. Milliseconds. */
export const Spread = z.object({ p50: Count, p95: Count, max: Count });
export type Spread = z.infer<typeof Spread>;

export const AgentUsage = z.object({
  agent: z.string(),
  /** Runs that ended, by how. */
  runs: z.object({ completed: Count, failed: Count, cancelled: Count }),
  /** Model steps. */
  rounds: Count,
  inputTokens: Count,
  outputTokens: Count,
  cachedInputTokens: Count,
  reasoningTokens: Count,
  /** Micro-dollars of the runs whose price is known; `unpricedRuns` are not in it. */
  costMicroUsd: Count,
  unpricedRuns: Count,
  /** Runs of which a part was estimated. */
  estimatedRuns: Count,
  /** Absent: no run had it. */
  queueWaitMs: Spread.optional(),
  firstByteMs: Spread.optional(),
  modelMs: Spread.optional(),
  runMs: Spread.optional(),
  /** Longest body of one model request. */
  requestBytes: Count,
  /** By stop code, `final_answer` included. */
  stops: z.partialRecord(StopCode, Count),
  /** Runs that a limit has ended, by stop code. */
  trips: z.partialRecord(StopCode, Count),
  /** Failed and refused calls by tool and code; those that nobody knows of are `outcome_unknown`. */
  toolErrors: z.array(z.object({ tool: z.string(), code: z.string(), count: Count })),
});
export type AgentUsage = z.infer<typeof AgentUsage>;

export const AlarmName = z.enum([
  "trips",
  "timeouts",
  "modelErrors",
  "toolErrors",
  "microUsd",
  "requestBytes",
  "queueWaitMs",
  "lagMs",
]);
export type AlarmName = z.infer<typeof AlarmName>;

export const Crossing = z.object({
  name: AlarmName,
  /** The hour, and when it was seen. */
  hour: z.string(),
  value: Count,
  threshold: Count,
  seenAt: z.string(),
});
export type Crossing = z.infer<typeof Crossing>;

export const UsageReport = z.object({
  tenantId: z.string(),
  from: z.string(),
  to: z.string(),
  agents: z.array(AgentUsage),
  /** The most that the history was behind in the range. */
  lagMs: Count,
  crossings: z.array(Crossing),
  /** What is used of the tenant's limits now; absent: it has none. */
  budget: BudgetLevels.optional(),
});
export type UsageReport = z.infer<typeof UsageReport>;
