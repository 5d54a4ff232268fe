/** The Durable Object of one shard of a tenant's register. Each call is one synchronous turn. */
import { DurableObject } from "cloudflare:workers";
import { KEY_LIFE_MS, Registry, type ClaimRequest } from "./registry.ts";

export class RegistryObject extends DurableObject<Env> {
  #registry: Registry | null = null;
  #swept = false;

  claim(request: ClaimRequest): boolean {
    const now = Date.now();
    const claimed = this.#open(now).claim(request, now);
    // One alarm a day is enough: an expired row is free for the next request at once, swept or not.
    if (!this.#swept) void this.ctx.storage.setAlarm(now + KEY_LIFE_MS);
    this.#swept = true;
    return claimed;
  }

  release(request: ClaimRequest): void {
    this.#open(Date.now()).release(request);
  }

  override alarm(): void {
    const now = Date.now();
    const next = this.#open(now).sweep(now);
    if (next !== null) void this.ctx.storage.setAlarm(Math.max(next, now + KEY_LIFE_MS / 24));
    this.#swept = next !== null;
  }

  #open(now: number): Registry {
    this.#registry ??= this.ctx.storage.transactionSync(() => new Registry(this.ctx.storage.sql, now));
    return this.#registry;
  }
}
