/**
 * A day of many conversations, in counts: which object is asked how often in its busiest second. Pure but for the chance
 * that it is given; what one turn asks of whom is a table (`ASKED`), read off the code and measured by the bench.
 */
import type { Random } from "../../sim/random.ts";

export interface Day {
  readonly conversations: number;
  readonly tenants: number;
  /** Share of the n-th largest tenant falls as 1 / n ** skew. */
  readonly skew: number;
  readonly turnsPerConversation: number;
  /** Seconds between a conversation's turns, on average. */
  readonly pauseSeconds: number;
  /** How much busier the busiest hour is than the average. */
  readonly peak: number;
  /** Whether tenants, and the whole service, have a budget: then their ledgers are asked. */
  readonly budgets: boolean;
}

export const SHARDS = 16;

/** Requests of one turn, by who is asked. */
export const ASKED = {
  /** The start's frame, the runtime's alarm now and then. */
  conversation: 1.1,
  /** The claim of the key. */
  register: 1,
  /** Once per lease and isolate; at most once for each turn of one user. */
  standing: 1,
  /** Reserve and settle of one model request, admission and what occupies. */
  ledger: 4,
  /** The batch that brings the turn over. */
  history: 1,
} as const;

export type Asked = keyof typeof ASKED;

export interface Hottest {
  readonly object: Asked | "ledger of the service";
  /** Of one object (of one shard, for the register), in the day's busiest second. */
  readonly perSecond: number;
  /** In its busiest hour, on average. */
  readonly perSecondInPeakHour: number;
}

const DAY_SECONDS = 86_400;

/** One sine over the day: `peak` at its crest, and what is left at its trough. */
const activity = (second: number, peak: number): number =>
  Math.max(0.05, 1 + (peak - 1) * Math.sin((2 * Math.PI * second) / DAY_SECONDS));

/** Conversations of the largest tenant: its objects are the busiest of their kind. */
export function largestTenant({ conversations, tenants, skew }: Day): number {
  let sum = 0;
  for (let n = 1; n <= tenants; n++) sum += n ** -skew;
  return Math.round(conversations / sum);
}

/** Turns in each second, over all the conversations given. */
export function turnsBySecond(day: Day, conversations: number, random: Random): Uint32Array {
  const starts = new Float64Array(DAY_SECONDS);
  let sum = 0;
  for (let second = 0; second < DAY_SECONDS; second++) starts[second] = sum += activity(second, day.peak);
  const turns = new Uint32Array(DAY_SECONDS);
  for (let conversation = 0; conversation < conversations; conversation++) {
    let at = secondOf(starts, random.next() * sum);
    do {
      const second = Math.floor(at) % DAY_SECONDS;
      turns[second] = (turns[second] ?? 0) + 1;
      at += -Math.log(1 - random.next()) * day.pauseSeconds;
    } while (random.next() > 1 / day.turnsPerConversation);
  }
  return turns;
}

/** The first second whose sum reaches `target`. */
function secondOf(sums: Float64Array, target: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function hottest(day: Day, random: Random): Hottest[] {
  const all = turnsBySecond(day, day.conversations, random);
  const ofTenant = turnsBySecond(day, largestTenant(day), random);
  const one = (object: Asked, turns: Uint32Array, shards: number): Hottest => ({
    object,
    perSecond: busiest(turns, shards, random) * ASKED[object],
    perSecondInPeakHour: (peakHour(turns) / 3_600 / shards) * ASKED[object],
  });
  return [
    // A conversation has one run at a time: no more than a turn in the time that a turn takes.
    {
      object: "conversation",
      perSecond: ASKED.conversation,
      perSecondInPeakHour: ASKED.conversation / day.pauseSeconds,
    },
    one("register", ofTenant, SHARDS),
    one("standing", ofTenant, 1),
    ...(day.budgets
      ? [one("ledger", ofTenant, 1), { ...one("ledger", all, 1), object: "ledger of the service" as const }]
      : []),
    one("history", all, 1),
  ];
}

/** The most that falls on one shard in one second, where each turn takes one by the hash of its key. */
function busiest(turns: Uint32Array, shards: number, random: Random): number {
  let most = 0;
  for (const count of turns) {
    if (count <= most) continue;
    const load = new Uint32Array(shards);
    for (let turn = 0; turn < count; turn++) {
      const shard = random.below(shards);
      load[shard] = (load[shard] ?? 0) + 1;
    }
    most = Math.max(most, ...load);
  }
  return most;
}

function peakHour(turns: Uint32Array): number {
  let [sum, most] = [0, 0];
  for (const [second, count] of turns.entries()) {
    sum += count - (turns[second - 3_600] ?? 0);
    most = Math.max(most, sum);
  }
  return most;
}
