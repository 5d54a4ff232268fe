/**
 * The door to a tenant's standing, for those who administer it. A change is answered when it holds everywhere: after the
 * moment for which any isolate may still believe what it knew before.
 */
import { DURATIONS } from "../protocol/limits.ts";
import type { TenantStanding, UserStanding } from "../protocol/standing.ts";
import { standingName } from "./standing-name.ts";

/** As much of the object as this takes. */
export interface StandingStub {
  user(tenantId: string, userId: string): Promise<UserStanding>;
  tenant(tenantId: string): Promise<TenantStanding>;
  deactivate(by: string, tenantId: string, userId?: string): Promise<void>;
  reactivate(by: string, tenantId: string, userId?: string): Promise<void>;
  pause(by: string, tenantId: string): Promise<void>;
  resume(by: string, tenantId: string): Promise<void>;
}

export interface StandingDoor {
  user(tenantId: string, userId: string): Promise<UserStanding>;
  tenant(tenantId: string): Promise<TenantStanding>;
  changeUser(what: "deactivate" | "reactivate", by: string, tenantId: string, userId: string): Promise<UserStanding>;
  changeTenant(
    what: "deactivate" | "reactivate" | "pause" | "resume",
    by: string,
    tenantId: string,
  ): Promise<TenantStanding>;
}

export function standingDoor(
  stubOf: (name: string) => StandingStub,
  wait: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
): StandingDoor {
  const stub = async (tenantId: string) => stubOf(await standingName(tenantId));
  return {
    user: async (tenantId, userId) => (await stub(tenantId)).user(tenantId, userId),
    tenant: async (tenantId) => (await stub(tenantId)).tenant(tenantId),
    changeUser: async (what, by, tenantId, userId) => {
      const object = await stub(tenantId);
      await object[what](by, tenantId, userId);
      await wait(DURATIONS.standingLeaseMs);
      return object.user(tenantId, userId);
    },
    changeTenant: async (what, by, tenantId) => {
      const object = await stub(tenantId);
      await object[what](by, tenantId);
      await wait(DURATIONS.standingLeaseMs);
      return object.tenant(tenantId);
    },
  };
}
