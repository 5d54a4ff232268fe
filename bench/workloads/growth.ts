/**
 * How things grow: a long conversation's snapshot, many sockets that sleep, a long list. Compared with the same thing
 * small, or with the floor where it has it.
 */
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { newName, Talk } from "../load/talk.ts";
import { nowUs } from "../measure/clock.ts";
import { alternate, type Side } from "../measure/side.ts";
import type { Surroundings, Workload } from "./workload.ts";

/** Seven events each. */
const LONG_TURNS = 1_430;
const SLEEPERS = 2_000;
const AT_ONCE = 20;
/** The runtime lets an object sleep when nothing has come for ten seconds. */
const FALLS_ASLEEP_MS = 16_000;
const WOKEN = 40;
const LISTED = 100_000;
const FEW = 100;
const PAGE = 50;
const READS = 30;

export const growth: Workload = {
  name: "growth",
  about: `a snapshot of 10,000 events, ${SLEEPERS} sleeping sockets, a list of ${LISTED} conversations`,
  thorough: true,
  async run(surroundings) {
    await snapshots(surroundings);
    await lists(surroundings);
    await sleepers(surroundings);
  },
};

async function snapshots({ sides, ours }: Surroundings): Promise<void> {
  const side = sides.find(({ peer }) => peer === ours);
  for (const [of, turns] of [
    ["short", 1],
    ["long", LONG_TURNS],
  ] as const) {
    const conversation = newName("c");
    const talk = await new Talk(ours, conversation).connect();
    for (let turn = 0; turn < turns; turn++) await talk.turn("n=1");
    await talk.close();
    const path = `/v1/conversations/${await ours.idOf(conversation)}`;
    for (let read = 0; read < READS; read++) side?.add(`snapshot ${of}`, await timed(() => ours.read(path)));
    for (let read = 0; read < READS; read++) {
      const again = new Talk(ours, conversation);
      side?.add(`greeting ${of}`, await timed(() => again.connect()));
      await again.close();
    }
  }
}

async function lists({ sides, ours }: Surroundings): Promise<void> {
  const side = sides.find(({ peer }) => peer === ours);
  const db = new DatabaseSync(ours.historyFile());
  db.exec("PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 10000");
  for (const [tenantId, conversations] of [
    ["few", FEW],
    ["many", LISTED],
  ] as const) {
    for (const table of ["conversations", "participants"]) copyRows(db, table, tenantId, conversations);
    for (let read = 0; read < READS; read++) {
      const from = nowUs();
      const page = await ours.read(`/v1/conversations?limit=${PAGE}`, { userId: "bench", tenantId });
      side?.add(`list ${tenantId}`, nowUs() - from);
      const { data } = JSON.parse(page) as { data: unknown[] };
      if (data.length !== PAGE) throw new Error(`a page of ${data.length}`);
    }
  }
  db.close();
}

/** So many copies of one conversation, as another tenant's, each a millisecond younger than the one before. */
function copyRows(db: DatabaseSync, table: string, tenantId: string, times: number): void {
  const columns = db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name));
  const copied = columns.map((name) => {
    if (name === "tenant_id") return `'${tenantId}'`;
    if (name === "conversation_id") return "printf('%026d', n)";
    return name.endsWith("created_at") ? `${name} + n` : name;
  });
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${times})
    INSERT INTO ${table} (${columns.join(", ")}) SELECT ${copied.join(", ")}
    FROM numbers, (SELECT * FROM ${table} WHERE tenant_id NOT IN ('few', 'many') ORDER BY conversation_id LIMIT 1)`);
}

async function sleepers({ sides }: Surroundings): Promise<void> {
  const asleep = new Map<Side, Talk[]>();
  for (const side of sides) {
    const before = side.usage.residentMb();
    const talks: Talk[] = [];
    for (let from = 0; from < SLEEPERS; from += AT_ONCE) {
      talks.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => new Talk(side.peer).connect()))));
    }
    asleep.set(side, talks);
    await setTimeout(FALLS_ASLEEP_MS);
    side.add("asleep resident", (side.usage.residentMb() - before) / SLEEPERS);
    const cpu = side.usage.cpuUs();
    await setTimeout(FALLS_ASLEEP_MS);
    side.add("asleep cpu", (side.usage.cpuUs() - cpu) / (FALLS_ASLEEP_MS / 1_000));
  }
  await alternate(sides, WOKEN, async (side, round) => {
    const turn = await asleep.get(side)?.[round]?.turn("n=1");
    if (turn) side.add("woken ack", turn.ackAt - turn.sentAt);
  });
  for (const talks of asleep.values()) {
    for (let from = 0; from < talks.length; from += AT_ONCE) {
      await Promise.all(talks.slice(from, from + AT_ONCE).map((talk) => talk.close()));
    }
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = nowUs();
  await work();
  return nowUs() - from;
}
