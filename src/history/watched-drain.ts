/** A drain that tells how far behind it was, so that somebody looks at the figures after it. It changes nothing of it. */
import type { OutboxJournal, Projector } from "../actor/ports.ts";
import { epochOf } from "../protocol/time.ts";

export interface WatchPorts {
  readonly journal: Pick<OutboxJournal, "identity" | "unprojected">;
  readonly now: () => number;
  /** @param lagMs age of the oldest event that lists were waiting for */
  readonly drained: (tenantId: string, lagMs: number) => void;
}

/** What lists wait for. The rest of a run goes along with its end, however long that takes. */
const AWAITED = /^(?:conversation|participant|handover)\.|^run\.(?:completed|failed|cancelled|interrupted)$/;
const LOOKED_AT = 200;

export const watchedDrain = (inner: Projector, { journal, now, drained }: WatchPorts): Projector => ({
  async drain() {
    const since = waitingSince(journal);
    const again = await inner.drain();
    const tenantId = journal.identity()?.tenantId;
    // Not when it failed: the history could not be read either.
    if (since !== null && tenantId !== undefined && again === null) drained(tenantId, Math.max(0, now() - since));
    return again;
  },
});

function waitingSince(journal: WatchPorts["journal"]): number | null {
  if (!journal.identity()) return null;
  const first = journal.unprojected(LOOKED_AT).find(({ event }) => AWAITED.test(event.type));
  return first ? epochOf(first.event.at) : null;
}
