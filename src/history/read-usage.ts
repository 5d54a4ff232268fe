/**
 * What a tenant's runs have taken, from the rows of the runs that ended in a range and of the calls that failed in it.
 * One walk over an index of the range; what is not the tenant's is not read.
 */
import { StopCode } from "../protocol/stops.ts";
import { isoOf } from "../protocol/time.ts";
import { AlarmName, type AgentUsage, type Crossing, type Spread, type UsageReport } from "../protocol/usage.ts";
import type { TenantHistory } from "./read-outcome.ts";
import { numberIn, numberOrNull, textIn, type Row } from "./row.ts";
import { TRIP_CODES } from "./stop-kinds.ts";

export interface UsageQuery {
  /** Epoch ms; the range is half open. */
  readonly from: number;
  readonly to: number;
  readonly agent?: string;
}

const ENDED = `FROM runs r CROSS JOIN conversations c ON c.tenant_id = r.tenant_id
    AND c.conversation_id = r.conversation_id AND c.generation = r.generation
  WHERE r.tenant_id = ?1 AND r.finished_at >= ?2 AND r.finished_at < ?3 AND (?4 = '' OR c.agent = ?4)`;
const STOP = "json_extract(r.stop_json, '$.code')";
const SUMS = `SELECT c.agent, ${STOP} AS code, r.status, count(*) AS runs, sum(r.steps) AS rounds,
    sum(r.input_tokens) AS input_tokens, sum(r.output_tokens) AS output_tokens,
    sum(r.cached_input_tokens) AS cached_tokens, sum(r.reasoning_tokens) AS reasoning_tokens,
    sum(coalesce(r.cost_micro_usd, 0)) AS cost, sum(r.cost_micro_usd IS NULL) AS unpriced,
    sum(r.usage_estimated) AS estimated, max(r.request_bytes) AS request_bytes
  ${ENDED} GROUP BY c.agent, code, r.status ORDER BY c.agent`;
/** Nearest rank: the first value that so many of all do not exceed. */
const spread = (value: string) => `SELECT agent, min(CASE WHEN n * 2 >= of THEN value END) AS p50,
    min(CASE WHEN n * 20 >= of * 19 THEN value END) AS p95, max(value) AS max
  FROM (SELECT agent, value, row_number() OVER (PARTITION BY agent ORDER BY value) AS n,
      count(*) OVER (PARTITION BY agent) AS of
    FROM (SELECT c.agent, ${value} AS value ${ENDED}) WHERE value IS NOT NULL) GROUP BY agent`;
const SPREADS = {
  queueWaitMs: spread("r.started_at - r.created_at"),
  firstByteMs: spread("r.first_byte_ms"),
  modelMs: spread("CASE WHEN r.model_ms > 0 THEN r.model_ms END"),
  runMs: spread("r.finished_at - r.started_at"),
} as const;
const TOOL_ERRORS = `SELECT c.agent, t.tool, CASE t.state WHEN 'unknown' THEN 'outcome_unknown'
      ELSE coalesce(json_extract(t.result_json, '$.error.code'), 'tool_failed') END AS code, count(*) AS count
  FROM tool_calls t CROSS JOIN conversations c ON c.tenant_id = t.tenant_id AND c.conversation_id = t.conversation_id
    AND c.generation = t.generation
  WHERE t.tenant_id = ?1 AND t.proposed_at >= ?2 AND t.proposed_at < ?3 AND (?4 = '' OR c.agent = ?4)
    AND t.state IN ('failed', 'refused', 'unknown')
  GROUP BY c.agent, t.tool, code ORDER BY count DESC, t.tool, code`;
const CROSSINGS = `SELECT name, hour_at, value, threshold, seen_at FROM crossings
  WHERE tenant_id = ?1 AND hour_at >= ?2 - 3599999 AND hour_at < ?3 ORDER BY hour_at DESC, name LIMIT 500`;
const LAG = `SELECT coalesce(max(value), 0) AS lag FROM figures
  WHERE tenant_id = ?1 AND name = 'lagMs' AND hour_at >= ?2 - 3599999 AND hour_at < ?3`;

export async function readUsage(
  { tenantId, db }: TenantHistory,
  { from, to, agent = "" }: UsageQuery,
): Promise<UsageReport> {
  const names = Object.keys(SPREADS) as (keyof typeof SPREADS)[];
  const range = [tenantId, from, to];
  const [sums, errors, crossings, lag, ...spreads] = await Promise.all([
    rows(db, SUMS, ...range, agent),
    rows(db, TOOL_ERRORS, ...range, agent),
    rows(db, CROSSINGS, ...range),
    rows(db, LAG, ...range),
    ...names.map((name) => rows(db, SPREADS[name], ...range, agent)),
  ]);
  const agents = new Map<string, Mutable<AgentUsage>>();
  const of = (row: Row) => {
    const name = textIn(row, "agent");
    const known = agents.get(name) ?? unused(name);
    agents.set(name, known);
    return known;
  };
  for (const row of sums) add(of(row), row);
  names.forEach((name, at) => {
    for (const row of spreads[at] ?? []) of(row)[name] = spreadIn(row);
  });
  for (const row of errors) {
    of(row).toolErrors.push({ tool: textIn(row, "tool"), code: textIn(row, "code"), count: numberIn(row, "count") });
  }
  const [behind] = lag;
  return {
    tenantId,
    from: isoOf(from),
    to: isoOf(to),
    agents: [...agents.values()].toSorted((a, b) => (a.agent < b.agent ? -1 : 1)),
    lagMs: behind ? numberIn(behind, "lag") : 0,
    crossings: crossings.map(crossingIn),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

async function rows(db: TenantHistory["db"], sql: string, ...params: unknown[]): Promise<Row[]> {
  return (
    await db
      .prepare(sql)
      .bind(...params)
      .all()
  ).results;
}

const unused = (agent: string): Mutable<AgentUsage> => ({
  agent,
  runs: { completed: 0, failed: 0, cancelled: 0 },
  rounds: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  costMicroUsd: 0,
  unpricedRuns: 0,
  estimatedRuns: 0,
  requestBytes: 0,
  stops: {},
  trips: {},
  toolErrors: [],
});

/** Runs of one agent that ended in one way. */
function add(usage: Mutable<AgentUsage>, row: Row): void {
  const count = numberIn(row, "runs");
  const status = textIn(row, "status");
  if (status === "completed" || status === "failed" || status === "cancelled") usage.runs[status] += count;
  usage.rounds += numberIn(row, "rounds");
  usage.inputTokens += numberIn(row, "input_tokens");
  usage.outputTokens += numberIn(row, "output_tokens");
  usage.cachedInputTokens += numberIn(row, "cached_tokens");
  usage.reasoningTokens += numberIn(row, "reasoning_tokens");
  usage.costMicroUsd += numberIn(row, "cost");
  usage.unpricedRuns += numberIn(row, "unpriced");
  usage.estimatedRuns += numberIn(row, "estimated");
  usage.requestBytes = Math.max(usage.requestBytes, numberOrNull(row, "request_bytes") ?? 0);
  const code = StopCode.safeParse(row["code"]);
  if (!code.success) return;
  usage.stops[code.data] = (usage.stops[code.data] ?? 0) + count;
  if (TRIP_CODES.has(code.data)) usage.trips[code.data] = (usage.trips[code.data] ?? 0) + count;
}

const spreadIn = (row: Row): Spread => ({
  p50: Math.max(0, numberIn(row, "p50")),
  p95: Math.max(0, numberIn(row, "p95")),
  max: Math.max(0, numberIn(row, "max")),
});

const crossingIn = (row: Row): Crossing => ({
  name: AlarmName.parse(row["name"]),
  hour: isoOf(numberIn(row, "hour_at")),
  value: numberIn(row, "value"),
  threshold: numberIn(row, "threshold"),
  seenAt: isoOf(numberIn(row, "seen_at")),
});
