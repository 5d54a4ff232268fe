/**
 * Where a tenant's fleet is kept. Every call names the tenant, and it stands in each statement. A write that nobody can
 * vouch for is thrown as `AmbiguousOutcome`; what returns is what the store says.
 */
import type { ToolContext } from "../../tools/define-tool.ts";
import type { Fleet } from "./observe.ts";

export type Who = Pick<ToolContext, "tenantId" | "userId">;

export interface RestartAct {
  readonly serviceId: string;
  /** The boot that is ended, and no other. */
  readonly boot: number;
  /** Names the act, the same over its repeats. */
  readonly act: string;
}
export interface SettingAct {
  readonly serviceId: string;
  readonly name: string;
  readonly value: number;
  /** The version that is changed, and no other. */
  readonly version: number;
  readonly act: string;
}
export interface ChangedSetting {
  readonly before: number;
  readonly after: number;
  readonly version: number;
}
export interface IncidentAct {
  readonly serviceId: string;
  readonly severity: string;
  readonly title: string;
  readonly details: string;
  readonly act: string;
}
export interface StoredIncident {
  readonly number: number;
  readonly serviceId: string;
  readonly severity: string;
  readonly title: string;
  readonly openedAt: number;
}

export interface FleetStore {
  /** Made when it is first asked for. */
  load(tenantId: string): Promise<Fleet>;
  /** Of this act, this time or an earlier one: the boot that it began. null: the service is at another boot. */
  restart(who: Who, act: RestartAct): Promise<{ readonly boot: number } | null>;
  /** Of this act, this time or an earlier one. null: the setting has another version. */
  set(who: Who, act: SettingAct): Promise<ChangedSetting | null>;
  /** One incident per act. */
  open(who: Who, act: IncidentAct): Promise<StoredIncident>;
  incident(tenantId: string, act: string): Promise<StoredIncident | null>;
  /** Newest first. */
  incidentsOf(tenantId: string, serviceId: string, limit: number): Promise<readonly StoredIncident[]>;
}

/** Names an act outside without giving its key away: 24 hexadecimal digits. */
export async function actOf(idempotencyKey: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`fleet:${idempotencyKey}`));
  return Array.from(new Uint8Array(bytes).subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
