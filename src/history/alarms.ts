/**
 * Whether a figure of the hour is above its threshold: looked at after what is new has been brought over, at most once a
 * minute for each tenant and isolate. Crossing one is a row and a line in the log, once an hour for each figure.
 *
 * A threshold is a number, or so many times what an hour of the day before had. It decides nothing about runs (**I9**).
 */
import type { Log } from "../actor/ports.ts";
import type { AlarmName } from "../protocol/usage.ts";
import { numberIn } from "./row.ts";
import { MODEL_CODES, TIMEOUT_CODES, TRIP_CODES } from "./stop-kinds.ts";
import type { HistoryDatabase } from "./statement.ts";

/** A fixed bound, or a multiple of the mean hour of the last day, which is at least `least`. */
export type Threshold = number | { readonly times: number; readonly least: number };
export type Thresholds = Readonly<Partial<Record<AlarmName, Threshold>>>;

const HOUR_MS = 3_600_000;
const LOOK_MS = 60_000;
const REMEMBERED = 10_000;

const listOf = (codes: ReadonlySet<string>) => [...codes].map((code) => `'${code}'`).join(", ");
const stopped = (codes: ReadonlySet<string>) => `sum(json_extract(stop_json, '$.code') IN (${listOf(codes)}))`;
const RUNS = `SELECT coalesce(${stopped(TRIP_CODES)}, 0) AS trips, coalesce(${stopped(TIMEOUT_CODES)}, 0) AS timeouts,
    coalesce(${stopped(MODEL_CODES)}, 0) AS modelErrors, coalesce(sum(cost_micro_usd), 0) AS microUsd,
    coalesce(max(request_bytes), 0) AS requestBytes, coalesce(max(started_at - created_at), 0) AS queueWaitMs
  FROM runs WHERE tenant_id = ?1 AND finished_at >= ?2 AND finished_at < ?3`;
const TOOLS = `SELECT count(*) AS toolErrors FROM tool_calls
  WHERE tenant_id = ?1 AND proposed_at >= ?2 AND proposed_at < ?3 AND state IN ('failed', 'refused', 'unknown')`;
const KEEP_LAG = `INSERT INTO figures (tenant_id, name, hour_at, value) VALUES (?1, 'lagMs', ?2, ?3)
  ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`;
const CROSS = `INSERT INTO crossings (tenant_id, hour_at, name, value, threshold, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT DO NOTHING RETURNING name`;
/** Of these the worst of a day is no sum: its baseline is the worst itself. */
const WORST: ReadonlySet<AlarmName> = new Set(["requestBytes", "queueWaitMs", "lagMs"]);

interface Known {
  lookedAt: number;
  lagMs: number;
}

export interface AlarmPorts {
  readonly db: HistoryDatabase;
  readonly log: Log;
  readonly now: () => number;
  readonly thresholds: Thresholds;
}

export class Alarms {
  readonly #ports: AlarmPorts;
  readonly #known = new Map<string, Known>();

  constructor(ports: AlarmPorts) {
    this.#ports = ports;
  }

  /** Never rejects. @param lagMs how far the history was behind, before it was brought up to date just now */
  async look(tenantId: string, lagMs: number): Promise<void> {
    const { now, log } = this.#ports;
    const at = now();
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    const known = this.#known.get(tenantId) ?? { lookedAt: 0, lagMs: 0 };
    this.#known.set(tenantId, known);
    known.lagMs = Math.max(known.lagMs, lagMs);
    if (at - known.lookedAt < LOOK_MS) return;
    known.lookedAt = at;
    const worst = known.lagMs;
    known.lagMs = 0;
    try {
      await this.#compare(tenantId, at, worst);
    } catch (error) {
      log.warn("alarms_not_looked_at", { tenantId, error: error instanceof Error ? error.name : "thrown" });
    }
  }

  async #compare(tenantId: string, now: number, lagMs: number): Promise<void> {
    const { thresholds, log, db } = this.#ports;
    const hour = now - (now % HOUR_MS);
    await db.prepare(KEEP_LAG).bind(tenantId, hour, lagMs).all();
    const wanted = Object.entries(thresholds) as [AlarmName, Threshold][];
    const figures = { ...(await this.#figures(tenantId, hour, hour + HOUR_MS)), lagMs };
    const day = wanted.some(([, threshold]) => typeof threshold !== "number")
      ? await this.#figures(tenantId, hour - 24 * HOUR_MS, hour)
      : null;
    for (const [name, threshold] of wanted) {
      const bound = typeof threshold === "number" ? threshold : baseline(name, threshold, day);
      const value = figures[name] ?? 0;
      if (value <= bound) continue;
      const { results } = await db.prepare(CROSS).bind(tenantId, hour, name, value, bound, now).all();
      if (results.length > 0) log.warn("alarm", { tenantId, kind: name, figure: value, bound });
    }
  }

  async #figures(tenantId: string, from: number, to: number): Promise<Partial<Record<AlarmName, number>>> {
    const { db } = this.#ports;
    const [[runs], [tools]] = (await Promise.all(
      [RUNS, TOOLS].map(async (sql) => (await db.prepare(sql).bind(tenantId, from, to).all()).results),
    )) as [Record<string, unknown>[], Record<string, unknown>[]];
    const names = ["trips", "timeouts", "modelErrors", "microUsd", "requestBytes", "queueWaitMs"] as const;
    return {
      ...Object.fromEntries(names.map((name) => [name, runs ? numberIn(runs, name) : 0])),
      toolErrors: tools ? numberIn(tools, "toolErrors") : 0,
    };
  }
}

function baseline(
  name: AlarmName,
  { times, least }: Exclude<Threshold, number>,
  day: Partial<Record<AlarmName, number>> | null,
): number {
  const usual = (day?.[name] ?? 0) / (WORST.has(name) ? 1 : 24);
  return Math.max(least, Math.ceil(usual * times));
}
