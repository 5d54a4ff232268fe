import { describe, expect, test } from "vitest";
import type { SweepOrder, Swept } from "../../src/protocol/rpc.ts";
import { Standings } from "../../src/tenant/standings.ts";
import { BATCH, SETTLED_MS, sweepBatch, type SweepPorts } from "../../src/tenant/sweep.ts";
import { memorySql } from "./sql.ts";

const START = 1_800_000_000_000;

/** A tenant with conversations that have something to stop, and a clock that moves only when nothing is due. */
class Tenant {
  readonly standings = new Standings(memorySql());
  readonly visits: { order: SweepOrder; id: string; at: number }[] = [];
  readonly failures: (string | null)[] = [];
  readonly open = new Map<string, Swept>();
  known: string[] = [];
  listFails = 0;
  visitFails = new Set<string>();
  now = START;

  async sweepUntilDone(): Promise<void> {
    for (let batches = 0; batches < 1_000; batches++) {
      const due = this.standings.due(this.now);
      if (due) this.standings.keep(await sweepBatch(due, this.#ports));
      else {
        const next = this.standings.nextDue();
        if (next === null) return;
        this.now = next;
      }
    }
    throw new Error("the sweep does not end");
  }

  get #ports(): SweepPorts {
    return {
      conversations: async (_order, after, limit) => {
        if (this.listFails-- > 0) throw new Error("no list");
        return this.known.filter((id) => id > after).slice(0, limit);
      },
      visit: async (order, id) => {
        this.visits.push({ order, id, at: this.now });
        if (this.visitFails.delete(id)) throw new Error("not there");
        const swept = this.open.get(id) ?? { runs: 0, sockets: 0 };
        this.open.delete(id);
        return swept;
      },
      now: () => this.now,
      failed: (_error, id) => void this.failures.push(id),
    };
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => `c${String(n).padStart(5, "0")}`);

describe("a sweep", () => {
  test("visits every conversation, in batches, and ends with a pass that finds nothing", async () => {
    const tenant = new Tenant();
    tenant.known = ids(3 * BATCH + 1);
    tenant.open.set("c00000", { runs: 1, sockets: 2 }).set("c00100", { runs: 0, sockets: 1 });
    tenant.standings.deactivate({ tenantId: "acme", by: "root", now: START }, "ann");
    await tenant.sweepUntilDone();
    const { sweep } = tenant.standings.user("acme", "ann");
    expect(sweep).toMatchObject({ state: "done", runs: 1, sockets: 3 });
    expect(tenant.visits.length).toBe(tenant.known.length * (sweep?.passes ?? 0));
    expect(new Set(tenant.visits.map(({ id }) => id)).size).toBe(tenant.known.length);
    expect(tenant.visits[0]?.order).toEqual({ tenantId: "acme", userId: "ann", kind: "deactivated" });
  });

  test("does not believe an early pass: what the list learns late is found", async () => {
    const tenant = new Tenant();
    tenant.standings.deactivate({ tenantId: "acme", by: "root", now: START });
    const learnt = START + SETTLED_MS - 1;
    const until = tenant.sweepUntilDone.bind(tenant);
    Object.defineProperty(tenant, "known", { get: () => (tenant.now >= learnt ? ["late"] : []) });
    tenant.open.set("late", { runs: 1, sockets: 0 });
    await until();
    expect(tenant.standings.tenant("acme").sweep).toMatchObject({ state: "done", runs: 1 });
  });

  test("goes on until nothing is found, however long that takes", async () => {
    const tenant = new Tenant();
    tenant.known = ["a"];
    tenant.standings.deactivate({ tenantId: "acme", by: "root", now: START });
    let left = 9;
    tenant.open.get = () => ({ runs: left-- > 0 ? 1 : 0, sockets: 0 });
    await tenant.sweepUntilDone();
    expect(tenant.standings.tenant("acme").sweep).toMatchObject({ state: "done", runs: 9, passes: 10 });
  });

  test("comes again to a conversation that could not be reached, and after a list that could not be read", async () => {
    const tenant = new Tenant();
    tenant.known = ["a", "b"];
    tenant.visitFails.add("b");
    tenant.listFails = 2;
    tenant.open.set("b", { runs: 1, sockets: 0 });
    tenant.standings.deactivate({ tenantId: "acme", by: "root", now: START });
    await tenant.sweepUntilDone();
    expect(tenant.failures).toEqual([null, null, "b"]);
    expect(tenant.standings.tenant("acme").sweep).toMatchObject({ state: "done", runs: 1 });
  });

  test("gives way to another order for the same people, and is forgotten where they are let in again", async () => {
    const tenant = new Tenant();
    tenant.known = ["a"];
    tenant.standings.pause({ tenantId: "acme", by: "root", now: START });
    const begun = tenant.standings.due(START);
    tenant.standings.resume({ tenantId: "acme", by: "root", now: START });
    if (begun) tenant.standings.keep({ ...begun, due_at: null });
    expect(tenant.standings.due(START)).toMatchObject({ kind: "resumed" });
    tenant.standings.deactivate({ tenantId: "acme", by: "root", now: START }, "ann");
    tenant.standings.reactivate({ tenantId: "acme", by: "root", now: START }, "ann");
    await tenant.sweepUntilDone();
    expect(tenant.visits.every(({ order }) => order.userId === undefined)).toBe(true);
  });
});
