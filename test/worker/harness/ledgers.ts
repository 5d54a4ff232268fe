/** The ledger of a tenant as it stands, and waiting for what it should say. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { BudgetLimits } from "../../../src/protocol/budget.ts";
import { ledgerName } from "../../../src/tenant/ledger-name.ts";
import { signIn, type Person } from "./people.ts";

const BOUNDS = { tokensPerHour: 1_000_000_000, tokensPerDay: 1_000_000_000, concurrentRuns: 1_000_000 };

export const signInOf = (tenantId: string): Promise<Person> => signIn(undefined, tenantId);

/** What it holds, whatever the limits are. */
export async function levelsOf(tenantId: string, limits: BudgetLimits = BOUNDS) {
  const levels = await env.LEDGERS.getByName(await ledgerName(tenantId)).levels(tenantId, limits);
  const { used = 0, reserved = 0 } = levels.tokensPerHour ?? {};
  return { used, reserved, today: levels.tokensPerDay?.used ?? 0, runs: levels.concurrentRuns?.used ?? 0 };
}

/** Until nothing is reserved any more. */
export async function untilSettled(tenantId: string) {
  return vi.waitFor(
    async () => {
      const levels = await levelsOf(tenantId);
      if (levels.reserved > 0) throw new Error(`${levels.reserved} tokens are reserved`);
      return levels;
    },
    { timeout: 15_000, interval: 50 },
  );
}
