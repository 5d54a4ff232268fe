/** How services do at a moment: what a monitor would show. */
import * as z from "zod";
import { isoOf } from "../../protocol/time.ts";
import { chance } from "./dice.ts";
import { FLEET, type ServiceSpec } from "./fleet.ts";
import { livesOf, memoryAt, SLOW_SHARE, type Facts, type Life } from "./lives.ts";

export const Health = z.enum(["healthy", "degraded", "failing", "restarting"]);
export type Health = z.infer<typeof Health>;

export const ServiceView = z.object({
  id: z.string(),
  health: Health,
  /** null: it answers nobody. */
  p95Ms: z.int().nullable(),
  errorPercent: z.number(),
  memoryMb: z.int(),
  memoryLimitMb: z.int(),
  boot: z.int(),
  startedAt: z.string(),
});
export type ServiceView = z.infer<typeof ServiceView>;

/** A tenant's services with what is stored of each. */
export interface Fleet {
  readonly tenantId: string;
  readonly services: ReadonlyMap<string, Facts>;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export function observeAll(fleet: Fleet, now: number): ServiceView[] {
  return FLEET.flatMap((spec) => observe(fleet, spec, now) ?? []);
}

/** null: the tenant has no such service. */
export function observe(fleet: Fleet, spec: ServiceSpec, now: number): ServiceView | null {
  const facts = fleet.services.get(spec.id);
  const life = facts && livesOf(fleet.tenantId, spec, facts).at(-1);
  if (!life) return null;
  const health = healthOf(fleet, spec, life, now);
  const up = health === "healthy" || health === "degraded";
  const memory = up ? memoryAt(life, now) : health === "failing" ? spec.limitMb : 0;
  return {
    id: spec.id,
    health,
    p95Ms: up ? latencyOf(fleet.tenantId, spec, memory, now) : null,
    errorPercent: errorsOf(fleet, spec, health, memory, now),
    memoryMb: Math.round(memory),
    memoryLimitMb: spec.limitMb,
    boot: life.boot,
    startedAt: isoOf(life.startedAt),
  };
}

function healthOf(fleet: Fleet, spec: ServiceSpec, life: Life, now: number): Health {
  if (now < life.readyAt) return "restarting";
  if (life.crashAt !== null && now >= life.crashAt) return "failing";
  const slow = memoryAt(life, now) >= SLOW_SHARE * spec.limitMb;
  return slow || lacks(fleet, spec, now) ? "degraded" : "healthy";
}

/** Whether something that it needs does not answer. */
function lacks(fleet: Fleet, { dependsOn }: ServiceSpec, now: number): boolean {
  return dependsOn.some((id) => {
    const spec = FLEET.find((one) => one.id === id);
    const facts = fleet.services.get(id);
    const life = spec && facts && livesOf(fleet.tenantId, spec, facts).at(-1);
    return life !== undefined && (now < life.readyAt || (life.crashAt !== null && now >= life.crashAt));
  });
}

/** A daily wave, some noise by the minute, and a memory that is nearly full. */
export function latencyOf(tenantId: string, spec: ServiceSpec, memoryMb: number, now: number): number {
  const wave = 1 + 0.2 * Math.sin((2 * Math.PI * (now % DAY)) / DAY + 6 * chance(tenantId, spec.id, "phase"));
  const noise = 0.94 + 0.12 * chance(tenantId, spec.id, "latency", Math.floor(now / MINUTE));
  const pressure = Math.max(0, (memoryMb / spec.limitMb - 0.6) / 0.4);
  return Math.max(1, Math.round(spec.latencyMs * wave * noise * (1 + 8 * pressure ** 2)));
}

function errorsOf(fleet: Fleet, spec: ServiceSpec, health: Health, memoryMb: number, now: number): number {
  if (health === "failing" || health === "restarting") return 100;
  const noise = 0.3 * chance(fleet.tenantId, spec.id, "errors", Math.floor(now / MINUTE));
  const slow = memoryMb >= SLOW_SHARE * spec.limitMb ? 4 : 0;
  const lacking = lacks(fleet, spec, now) ? 14 : 0;
  return Math.round(10 * (noise + slow + lacking)) / 10;
}
