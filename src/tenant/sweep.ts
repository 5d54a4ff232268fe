/**
 * Carries a change of standing to the conversations: closes sockets, stops runs, or lets them go on. The list of
 * conversations may lag, and a request that was let in just before may still be on its way: so it goes over the list
 * again and again, until a pass that began late enough finds nothing more to do.
 *
 * It decides nothing about runs: each conversation's actor does.
 */
import type { SweepOrder, Swept } from "../protocol/rpc.ts";
import type { SweepRow } from "./standings.ts";

export interface SweepPorts {
  /** Ids above `after`, ascending. */
  readonly conversations: (order: SweepOrder, after: string, limit: number) => Promise<readonly string[]>;
  readonly visit: (order: SweepOrder, conversationId: string) => Promise<Swept>;
  readonly now: () => number;
  readonly failed: (error: unknown, conversationId: string | null) => void;
}

/** Conversations visited between two looks at the clock, and at once. */
export const BATCH = 48;
const AT_ONCE = 6;
/** Between two passes. */
export const PAUSE_MS = 1_500;
/** By then every request that was let in before has come to its end, and the list knows of what it began. */
export const SETTLED_MS = 5_000;
const AFTER_FAILURE_MS = 5_000;

/** One batch. @returns the row as it is to be kept: `due_at` null where nothing is left to do */
export async function sweepBatch(row: SweepRow, ports: SweepPorts): Promise<SweepRow> {
  const order = orderOf(row);
  let ids: readonly string[];
  try {
    ids = await ports.conversations(order, row.after, BATCH);
  } catch (error) {
    ports.failed(error, null);
    return { ...row, due_at: ports.now() + AFTER_FAILURE_MS };
  }
  let { found, runs, sockets } = row;
  await atMost(AT_ONCE, ids, async (id) => {
    try {
      const swept = await ports.visit(order, id);
      if (swept.runs + swept.sockets > 0) found += 1;
      runs += swept.runs;
      sockets += swept.sockets;
    } catch (error) {
      // It may be there still: the next pass asks again.
      found += 1;
      ports.failed(error, id);
    }
  });
  const conversations = row.conversations + ids.length;
  const next = { ...row, found, runs, sockets, conversations };
  return ids.length < BATCH
    ? endPass(next, ports.now())
    : { ...next, after: ids.at(-1) ?? row.after, due_at: ports.now() };
}

function endPass(row: SweepRow, now: number): SweepRow {
  const passes = row.passes + 1;
  const done = row.found === 0 && row.pass_began_at >= row.ordered_at + SETTLED_MS;
  if (done) return { ...row, passes, due_at: null };
  // Patient with what stays out of reach, quick in the beginning.
  const at = now + PAUSE_MS * Math.min(20, passes);
  return { ...row, passes, found: 0, after: "", pass_began_at: at, due_at: at };
}

const orderOf = ({ tenant_id: tenantId, user_id, kind }: SweepRow): SweepOrder => ({
  tenantId,
  kind,
  ...(user_id === "" ? {} : { userId: user_id }),
});

async function atMost<T>(n: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: n }, worker));
}
