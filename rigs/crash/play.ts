/** One seed: eight conversations on one data folder, killed again and again, then left in peace and read out. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { randomOf, type Random } from "../../sim/random.ts";
import { pause } from "../common/figures.ts";
import { HistoryOutage } from "../common/history-outage.ts";
import type { Installation } from "../common/runtime.ts";
import { Room } from "./room.ts";
import { Reaper } from "./reaper.ts";
import type { ModelRequest, SeedSeen } from "./seen.ts";
import { PROVIDER_KEY, type Surroundings } from "./surroundings.ts";
import { withHistory } from "./history-file.ts";

const REST_MS = 90_000;

export interface SeedPlan {
  readonly seed: number;
  readonly random: number;
  readonly triggered: number;
  readonly conversations: number;
  /** Whether the history takes no writes now and then. */
  readonly outages: boolean;
}

export interface Played {
  readonly seen: SeedSeen;
  readonly reaper: Reaper;
}

export async function playSeed(
  plan: SeedPlan,
  installation: Installation,
  surroundings: Surroundings,
  dataDir: string,
  progress: () => void,
): Promise<Played> {
  const { seed } = plan;
  const rooms: Room[] = [];
  const sometimes = randomOf(seed, "history");
  const reaper = new Reaper(installation, randomOf(seed, "reaper"), () => {
    if (sometimes.chance(0.15)) noteHistory(dataDir, rooms);
  });
  const models = new Map<string, ModelRequest[]>();
  surroundings.begin({ seed, hit: (trigger, key) => reaper.hit(trigger, key), models }, seed % 2 === 0);
  installation.use(dataDir);
  try {
    await reaper.start();
    const world = { seed, baseUrl: installation.baseUrl, reaper, surroundings };
    for (let n = 0; n < plan.conversations; n++) {
      rooms.push(await Room.open({ ...world, n, random: (use) => randomOf(seed, n, use) }));
    }
    const outages = plan.outages ? historyOutages(dataDir, randomOf(seed, "outages"), () => surroundings.calm) : null;
    for (const room of rooms) room.people.begin();
    await reaper.carryOut(shuffled(plan, randomOf(seed, "order")), progress);

    surroundings.calm = true;
    await outages;
    await Promise.all(rooms.map((room) => room.settle(REST_MS)));
    await Promise.all(rooms.map((room) => room.readOut()));
    await historyFollows(dataDir, rooms);
  } finally {
    await reaper.stop();
    for (const room of rooms) room.abandon();
  }
  const requests = surroundings.requests();
  const effects = surroundings.backend.ledger().byKey;
  const conversations = withHistory(dataDir, (history) =>
    rooms.map((room) => room.seen({ history, requests, effects, models })),
  );
  if (!conversations) throw new Error("there is no history to read");
  const serviceLog = readFileSync(join(dataDir, "service.log"), "utf8");
  const secrets = [PROVIDER_KEY, ...rooms.flatMap((room) => room.tokens())];
  return { seen: { seed, conversations, kills: reaper.kills, requests, serviceLog, secrets }, reaper };
}

function shuffled({ random, triggered }: SeedPlan, dice: Random): ("random" | "triggered")[] {
  const kinds = [...Array<"random">(random).fill("random"), ...Array<"triggered">(triggered).fill("triggered")];
  for (let at = kinds.length - 1; at > 0; at--) {
    const other = dice.below(at + 1);
    const [a, b] = [kinds[at], kinds[other]];
    if (a === undefined || b === undefined) break;
    kinds[at] = b;
    kinds[other] = a;
  }
  return kinds;
}

async function historyOutages(dataDir: string, dice: Random, over: () => boolean): Promise<void> {
  while (!over()) {
    await pause(dice.between(1_000, 5_000));
    let outage: HistoryOutage | null = null;
    try {
      outage = HistoryOutage.open(dataDir);
      outage.begin();
      await pause(dice.between(100, 1_500));
      outage.end();
    } catch {
      // The database was busy, or is not there yet: another time.
    } finally {
      outage?.close();
    }
  }
}

function noteHistory(dataDir: string, rooms: readonly Room[]): void {
  withHistory(dataDir, (history) => {
    for (const room of rooms) room.stood.push(history.seq(room.id));
  });
}

/** Gives the history time to follow; whether it did is the checker's to say. */
async function historyFollows(dataDir: string, rooms: readonly Room[]): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until; await pause(100)) {
    try {
      const done = withHistory(dataDir, (history) => rooms.every((room) => history.seq(room.id) >= room.head));
      if (done) return;
    } catch {
      // A copy of a file that is being written need not be whole; the one at the end is.
    }
  }
}
