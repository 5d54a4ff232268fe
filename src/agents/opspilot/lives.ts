/**
 * The lives of a service, from its start to its crash or its next restart: what stored facts, the tenant and the time
 * make of it. Pure: the same facts at the same time are the same life.
 *
 * A cache fills at a steady rate up to its bound. Without a bound it fills the memory; above three quarters the service
 * is slow, at the limit it is killed and stays down until somebody restarts it.
 */
import { chance } from "./dice.ts";
import type { ServiceSpec } from "./fleet.ts";

export interface Setting {
  readonly name: string;
  readonly value: number;
  readonly version: number;
  /** Epoch ms, as all times here. */
  readonly changedAt: number;
}
export interface SettingChange {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly changedAt: number;
}
export interface Restart {
  readonly boot: number;
  readonly startedAt: number;
}

/** What is stored of one service. Restarts and changes are the latest ones, oldest first. */
export interface Facts {
  readonly createdAt: number;
  readonly boot: number;
  readonly startedAt: number;
  readonly settings: readonly Setting[];
  readonly restarts: readonly Restart[];
  readonly changes: readonly SettingChange[];
}

/** From `from` on the memory grows from `mb` until `capMb`. */
export interface Stretch {
  readonly from: number;
  readonly mb: number;
  readonly capMb: number;
}
export interface Life {
  readonly boot: number;
  readonly startedAt: number;
  readonly readyAt: number;
  /** When the next restart began; null: this life is the present one. */
  readonly endedAt: number | null;
  /** When memory ran out, if nothing changes; null: it does not. */
  readonly crashAt: number | null;
  readonly stretches: readonly Stretch[];
  readonly mbPerMinute: number;
}

export const SLOW_SHARE = 0.75;
const MINUTE = 60_000;
const RESTART_MS = 3_000;
const RESTART_SPREAD_MS = 3_000;
/** No restart takes longer. */
export const LONGEST_RESTART_MS = RESTART_MS + RESTART_SPREAD_MS;

const restartMs = (tenantId: string, spec: ServiceSpec, boot: number): number =>
  RESTART_MS + Math.floor(RESTART_SPREAD_MS * chance(tenantId, spec.id, "restart", boot));

const rateOf = (tenantId: string, spec: ServiceSpec): number =>
  spec.fillMbPerMinute * (0.9 + 0.2 * chance(tenantId, spec.id, "fill"));

/** Oldest first; at least one. */
export function livesOf(tenantId: string, spec: ServiceSpec, facts: Facts): Life[] {
  const starts = startsOf(spec, facts);
  return starts.map((start, at) => lifeOf(tenantId, spec, facts, start, starts[at + 1]?.startedAt ?? null));
}

function startsOf(spec: ServiceSpec, { restarts, boot, startedAt, createdAt }: Facts): readonly Restart[] {
  const [first] = restarts;
  if (!first) return [{ boot, startedAt }];
  return first.boot === 2 ? [{ boot: 1, startedAt: createdAt - spec.ageMs }, ...restarts] : restarts;
}

function lifeOf(tenantId: string, spec: ServiceSpec, facts: Facts, start: Restart, endedAt: number | null): Life {
  const { boot, startedAt } = start;
  const readyAt = startedAt + restartMs(tenantId, spec, boot);
  const mbPerMinute = rateOf(tenantId, spec);
  const { cacheSetting } = spec;
  const turns = facts.changes.filter(
    ({ name, changedAt }) => name === cacheSetting && changedAt > readyAt && changedAt < (endedAt ?? Infinity),
  );
  const stretches: Stretch[] = [];
  let crashAt: number | null = null;
  let mb = spec.baseMb;
  for (const [at, from] of [readyAt, ...turns.map(({ changedAt }) => changedAt)].entries()) {
    const capMb = capOf(spec, facts, from);
    mb = Math.min(mb, capMb);
    stretches.push({ from, mb, capMb });
    const to = turns[at]?.changedAt ?? endedAt ?? Infinity;
    crashAt = crossing({ from, mb, capMb }, mbPerMinute, spec.limitMb, to);
    if (crashAt !== null) break;
    mb = grown({ from, mb, capMb }, mbPerMinute, to);
  }
  return { boot, startedAt, readyAt, endedAt, crashAt, stretches, mbPerMinute };
}

/** A cache takes effect as soon as it is set, down as well as up. */
function capOf(spec: ServiceSpec, facts: Facts, at: number): number {
  if (spec.cacheSetting === undefined) return spec.baseMb;
  const value = valueAt(facts, spec.cacheSetting, at);
  return value === 0 ? Infinity : spec.baseMb + value;
}

export function valueAt({ changes, settings }: Facts, name: string, at: number): number {
  const own = changes.filter((change) => change.name === name);
  const before = own.findLast(({ changedAt }) => changedAt <= at);
  if (before) return before.after;
  return own[0]?.before ?? settings.find((setting) => setting.name === name)?.value ?? 0;
}

const grown = ({ from, mb, capMb }: Stretch, mbPerMinute: number, at: number): number =>
  at === Infinity ? capMb : Math.min(capMb, mb + ((at - from) / MINUTE) * mbPerMinute);

/** When the memory reaches `mb` in this stretch, before `to`; null: it does not, or stood there from the beginning. */
export function crossing(stretch: Stretch, mbPerMinute: number, mb: number, to: number): number | null {
  if (stretch.mb >= mb || stretch.capMb < mb || mbPerMinute <= 0) return null;
  const at = Math.ceil(stretch.from + ((mb - stretch.mb) / mbPerMinute) * MINUTE);
  return at < to ? at : null;
}

/** @param at not before the life's readiness, nor after its crash */
export function memoryAt({ stretches, mbPerMinute }: Life, at: number): number {
  const stretch = stretches.findLast(({ from }) => from <= at) ?? stretches[0];
  return stretch ? grown(stretch, mbPerMinute, at) : 0;
}
