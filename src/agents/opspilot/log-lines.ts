/** The logs of a service: what its lives left in writing, oldest first. Logs are in English, as logs are. */
import * as z from "zod";
import { chance } from "./dice.ts";
import { settingOf, specOf, type ServiceSpec } from "./fleet.ts";
import { crossing, livesOf, memoryAt, SLOW_SHARE, valueAt, type Facts, type Life } from "./lives.ts";
import { latencyOf, type Fleet } from "./observe.ts";

export const LEVELS = ["info", "warn", "error"] as const;
export const Level = z.enum(LEVELS);
export type Level = z.infer<typeof Level>;

export interface Line {
  /** Epoch ms. */
  readonly at: number;
  readonly level: Level;
  readonly message: string;
}

const MINUTE = 60_000;
/** So many minutes of traffic are kept. */
const TRAFFIC_MINUTES = 10;
const SHARES = [SLOW_SHARE, 0.9];

/** @param until lines after it have not been written yet */
export function linesOf(fleet: Fleet, spec: ServiceSpec, until: number): Line[] {
  const facts = fleet.services.get(spec.id);
  if (!facts) return [];
  const lives = livesOf(fleet.tenantId, spec, facts);
  const lines = [
    ...lives.flatMap((life) => [...startOf(spec, facts, life), ...fillingOf(spec, life), ...crashOf(life, until)]),
    ...facts.changes.flatMap(({ name, before, after, changedAt }) => [
      line(changedAt, "info", `${name} changed from ${before} to ${after}`),
      ...(after === 0 && name === spec.cacheSetting ? [unbounded(spec, changedAt)] : []),
    ]),
    ...spec.dependsOn.flatMap((id) => upstreamOf(fleet, id, facts.createdAt)),
    ...trafficOf(fleet, spec, lives.at(-1), until),
  ];
  return lines.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
}

const line = (at: number, level: Level, message: string): Line => ({ at, level, message });

function startOf(spec: ServiceSpec, facts: Facts, { boot, startedAt, readyAt }: Life): Line[] {
  const { cacheSetting } = spec;
  const open = cacheSetting !== undefined && valueAt(facts, cacheSetting, readyAt) === 0;
  return [
    line(startedAt, "info", boot === 1 ? "starting" : "restart requested: stopping and starting again"),
    line(readyAt, "info", `ready after ${((readyAt - startedAt) / 1_000).toFixed(1)} s (boot ${boot})`),
    ...(open ? [unbounded(spec, readyAt)] : []),
  ];
}

function unbounded(spec: ServiceSpec, at: number): Line {
  const name = spec.cacheSetting ?? "";
  const recommended = settingOf(spec, name)?.recommended ?? 0;
  return line(at, "warn", `${name} is 0: the cache has no bound (recommended: ${recommended})`);
}

function fillingOf(spec: ServiceSpec, { stretches, mbPerMinute, endedAt, crashAt }: Life): Line[] {
  return stretches.flatMap((stretch, at) => {
    const to = stretches[at + 1]?.from ?? crashAt ?? endedAt ?? Infinity;
    return SHARES.flatMap((share) => {
      const when = crossing(stretch, mbPerMinute, share * spec.limitMb, to);
      const used = Math.round(share * spec.limitMb);
      const grows = `the cache grows by ${Math.round(mbPerMinute)} MB a minute`;
      return when === null ? [] : [line(when, "warn", `memory at ${used} of ${spec.limitMb} MB: ${grows}`)];
    });
  });
}

/** A service that is down says so less and less often. */
function crashOf({ crashAt, endedAt }: Life, until: number): Line[] {
  if (crashAt === null) return [];
  const lines = [
    line(crashAt, "error", "out of memory: killed (exit 137)"),
    line(crashAt + 2_000, "error", "out of memory again while starting; staying down until somebody restarts it"),
  ];
  const end = Math.min(endedAt ?? Infinity, until);
  for (let minutes = 1; crashAt + minutes * MINUTE < end; minutes *= 2) {
    lines.push(
      line(crashAt + minutes * MINUTE, "error", `health check failed: connection refused, down for ${minutes} min`),
    );
  }
  return lines;
}

function upstreamOf(fleet: Fleet, id: string, since: number): Line[] {
  const spec = specOf(id);
  const facts = fleet.services.get(id);
  if (!spec || !facts) return [];
  return livesOf(fleet.tenantId, spec, facts).flatMap(({ boot, startedAt, readyAt, crashAt }) => [
    ...(boot > 1 ? [line(startedAt, "warn", `upstream ${id} is restarting`)] : []),
    ...(boot > 1 || readyAt >= since ? [line(readyAt, "info", `upstream ${id} answers again`)] : []),
    ...(crashAt === null ? [] : [line(crashAt, "error", `upstream ${id} does not answer (HTTP 503)`)]),
  ]);
}

function trafficOf({ tenantId }: Fleet, spec: ServiceSpec, life: Life | undefined, until: number): Line[] {
  if (!life) return [];
  const last = Math.floor(until / MINUTE);
  return Array.from({ length: TRAFFIC_MINUTES }, (_, back) => (last - back) * MINUTE).flatMap((at) => {
    if (at <= life.readyAt || (life.crashAt !== null && at >= life.crashAt)) return [];
    const served = Math.round(spec.requestsPerMinute * (0.8 + 0.4 * chance(tenantId, spec.id, "served", at)));
    const p95 = latencyOf(tenantId, spec, memoryAt(life, at), at);
    return [line(at, "info", `served ${served} requests in a minute, p95 ${p95} ms`)];
  });
}
