/** What became of the connections that the service made: to the provider, and to the backend. */
import { expect, vi } from "vitest";
import { backend, provider } from "./fakes.ts";
import type { Talk } from "./talk.ts";

interface Exchange {
  readonly atMs: number;
  readonly endedBy: string | null;
  readonly endedAfterMs: number | null;
}

export const askedOf = (talk: Talk) => provider.requests(talk.scope);
export const calledOf = (talk: Talk) => backend.requests(talk.person.userId);

/** Until the backend has had so many requests of this conversation's person. */
export async function untilCalled(talk: Talk, requests: number): Promise<void> {
  const called = async () => expect(await calledOf(talk)).toHaveLength(requests);
  await vi.waitFor(called, { timeout: 10_000, interval: 20 });
}

/**
 * The last exchange of the list was ended by the service, at most a second after `since` (epoch ms, taken just before
 * the cancel was sent), and none is open.
 */
export async function expectHungUp(list: () => Promise<readonly Exchange[]>, since: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const all = await list();
      expect(all.map(({ endedBy }) => endedBy)).not.toContain(null);
      const last = all.at(-1);
      expect(last?.endedBy).toBe("client");
      expect((last?.atMs ?? 0) + (last?.endedAfterMs ?? 0) - since).toBeLessThan(1_000);
    },
    { timeout: 5_000, interval: 20 },
  );
}
