/**
 * What an object's adapters hand over to, but for `fetch`. A root: wiring, no decisions. Tests give an object others, to
 * have it die at an instant of their choosing.
 */
import type { HistoryDatabase } from "./history/statement.ts";
import type { JournalStorage } from "./storage/durable-journal.ts";
import type { SocketHost } from "./stream/durable-sockets.ts";
import type { RegistryObject } from "./tenant/registry-object.ts";

export interface Platform {
  readonly storage: JournalStorage;
  readonly sockets: SocketHost;
  readonly history: HistoryDatabase;
  readonly registry: (name: string) => Pick<DurableObjectStub<RegistryObject>, "claim" | "release">;
}

export const platformOf = (ctx: DurableObjectState, env: Env): Platform => ({
  storage: ctx.storage,
  sockets: ctx,
  // Asked for when it is used: an environment that cannot give it now must not keep the object from being made.
  get history() {
    return env.HISTORY;
  },
  registry: (name) => env.REGISTRY.getByName(name),
});
