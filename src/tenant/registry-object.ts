/** The Durable Object of one shard of a tenant's register. Each change is one synchronous turn. */
import { DurableObject } from "cloudflare:workers";
import { KEY_LIFE_MS, Registry, type ClaimRequest } from "./registry.ts";

export class RegistryObject extends DurableObject<Env> {
  #registry: Registry | null = null;
  /** Whether this life has seen to it that a sweep will come. */
  #sweeping = false;

  async claim(request: ClaimRequest): Promise<boolean> {
    const { storage } = this.ctx;
    // One sweep a day is enough: an expired row is free for the next request at once, swept or not. A standing one must
    // not be put off, or a register whose lives are shorter than a day would never be swept.
    const standing = this.#sweeping || (await storage.getAlarm()) !== null;
    const now = Date.now();
    const claimed = this.#open(now).claim(request, now);
    if (!standing) void storage.setAlarm(now + KEY_LIFE_MS);
    this.#sweeping = true;
    return claimed;
  }

  release(request: ClaimRequest): void {
    const now = Date.now();
    this.#open(now).release(request, now);
  }

  override alarm(): void {
    const now = Date.now();
    const next = this.#open(now).sweep(now);
    if (next !== null) void this.ctx.storage.setAlarm(Math.max(next, now + KEY_LIFE_MS / 24));
    this.#sweeping = next !== null;
  }

  #open(now: number): Registry {
    this.#registry ??= this.ctx.storage.transactionSync(() => new Registry(this.ctx.storage.sql, now));
    return this.#registry;
  }
}
