/**
 * The Durable Object of a tenant's standing: who counts, and the sweeps that carry a change to the conversations. A root:
 * it wires the tenant's rows to the history and to the conversations' objects. It decides nothing.
 */
import { DurableObject } from "cloudflare:workers";
import { deploymentOf } from "./deployment.ts";
import { stubFor } from "./edge/stub-for.ts";
import { historyFor } from "./history/history-for.ts";
import { readHoldings } from "./history/read-holdings.ts";
import type { Standing, TenantStanding, UserStanding } from "./protocol/standing.ts";
import { Standings, type Change } from "./tenant/standings.ts";
import { sweepBatch, type SweepPorts } from "./tenant/sweep.ts";

/** One life of the alarm; what is left is taken up by the next. */
const ALARM_MS = 10_000;
const AFTER_FAILURE_MS = 5_000;

export class StandingObject extends DurableObject<Env> {
  readonly #standings = new Standings(this.ctx.storage.sql);

  standing(tenantId: string, userId: string): Standing {
    return this.#standings.of(tenantId, userId);
  }

  standings(tenantId: string, userIds: readonly string[]): readonly Standing[] {
    return userIds.map((userId) => this.#standings.of(tenantId, userId));
  }

  user(tenantId: string, userId: string): UserStanding {
    return this.#standings.user(tenantId, userId);
  }

  tenant(tenantId: string): TenantStanding {
    return this.#standings.tenant(tenantId);
  }

  deactivate(by: string, tenantId: string, userId?: string): void {
    this.#change(by, tenantId, (change) => this.#standings.deactivate(change, userId));
  }

  reactivate(by: string, tenantId: string, userId?: string): void {
    this.#change(by, tenantId, (change) => this.#standings.reactivate(change, userId));
  }

  pause(by: string, tenantId: string): void {
    this.#change(by, tenantId, (change) => this.#standings.pause(change));
  }

  resume(by: string, tenantId: string): void {
    this.#change(by, tenantId, (change) => this.#standings.resume(change));
  }

  /** Never throws: the platform drops an alarm that keeps failing, and a sweep would end half-way. */
  override async alarm(): Promise<void> {
    try {
      const ports = await this.#ports();
      for (const until = Date.now() + ALARM_MS; Date.now() < until;) {
        const row = this.#standings.due(Date.now());
        if (!row) break;
        this.#standings.keep(await sweepBatch(row, ports));
      }
      const next = this.#standings.nextDue();
      if (next !== null) await this.ctx.storage.setAlarm(next);
    } catch (error) {
      await this.ctx.storage.setAlarm(Date.now() + AFTER_FAILURE_MS);
      const { log } = await deploymentOf(this.env);
      log.error("sweep_failed", error);
    }
  }

  #change(by: string, tenantId: string, change: (change: Change) => void): void {
    const now = Date.now();
    this.ctx.storage.transactionSync(() => change({ tenantId, by, now }));
    if (this.#standings.nextDue() !== null) void this.ctx.storage.setAlarm(now);
  }

  async #ports(): Promise<SweepPorts> {
    const { log } = await deploymentOf(this.env);
    return {
      conversations: ({ tenantId, userId }, after, limit) =>
        readHoldings(historyFor(this.env.HISTORY, tenantId), {
          after,
          limit,
          ...(userId === undefined ? {} : { userId }),
        }),
      visit: async (order, conversationId) =>
        (await stubFor(this.env, { id: order.tenantId }, conversationId)).swept(order),
      now: () => Date.now(),
      failed: (error, conversationId) =>
        log.error("sweep_failed", error, conversationId === null ? {} : { conversationId }),
    };
  }
}
