/**
 * A hundred watchers that stop reading while a conversation says megabytes: what that costs the service in memory, and
 * that all of them come back with nothing lost. The same is played first to watchers that read, so that what the
 * conversation itself costs is not taken for theirs.
 */
import type { Random } from "../../sim/random.ts";
import { pause, percentile } from "../common/figures.ts";
import { share, signIn, type Person } from "../common/people.ts";
import type { MemoryWatch } from "./memory.ts";
import { LONG, LONG_CHARS } from "./provider.ts";
import { Talk } from "./talk.ts";
import { StormWatcher } from "./watcher.ts";

const READERS = 100;
const SOCKETS_PER_USER = 10;
/** About this much is said to each of them. */
const SAID = 8_000_000;

export interface SlowReaders {
  readonly readers: number;
  readonly saidMb: number;
  /** What of it was kept for each of them until they read again; the rest was left out. */
  readonly keptMb: number;
  /** Above what the same costs with watchers that read. */
  readonly grownMb: number;
  /** What it costs with watchers that read. */
  readonly readingMb: number;
  readonly peakMb: number;
  /** How many the service has closed. */
  readonly closed: number;
  readonly resumed: number;
  readonly gaps: number;
  readonly repeats: number;
  readonly resumeP99Ms: number | null;
}

export interface SlowReadersDeps {
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly memory: MemoryWatch;
  readonly random: Random;
}

export async function slowReaders(deps: SlowReadersDeps): Promise<SlowReaders> {
  const reading = await play(deps, "reading", false);
  const paused = await play(deps, "paused", true);
  const readingMb = Math.max(0, reading.grownMb);
  return { ...paused.figures, grownMb: rounded(paused.grownMb - readingMb), readingMb: rounded(readingMb) };
}

interface Played {
  readonly grownMb: number;
  readonly figures: SlowReaders;
}

async function play(
  { baseUrl, tenantId, memory, random }: SlowReadersDeps,
  name: string,
  pauses: boolean,
): Promise<Played> {
  const people: Person[] = [];
  for (let n = 0; n < READERS / SOCKETS_PER_USER; n++) people.push(await signIn(baseUrl, `${name}-${n}`, tenantId));
  const [owner, ...others] = people;
  if (!owner) throw new Error("nobody reads");
  const talk = await Talk.open(baseUrl, owner, name, LONG, random);
  for (const { userId } of others) await share(baseUrl, talk.place.conversationId, owner, userId, "viewer");
  const resumes: number[] = [];
  const watchers = people.flatMap((person) =>
    Array.from({ length: SOCKETS_PER_USER }, () => new StormWatcher(talk.place, person, resumes)),
  );
  await Promise.all(watchers.map((watcher) => watcher.reconnect()));
  await pause(1_000);
  const before = memory.sample();
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, memory.sample())), 100);
  if (pauses) for (const watcher of watchers) watcher.pause();
  for (let said = 0; said < SAID; said += LONG_CHARS) await talk.say(`#${name}-long -`);
  clearInterval(sampling);

  resumes.length = 0;
  for (const watcher of watchers) watcher.resume();
  await pause(2_000);
  const closed = watchers.filter(({ connected }) => !connected).length;
  const head = await talk.head();
  await Promise.allSettled(watchers.map((watcher) => watcher.reconnect()));
  const figures: SlowReaders = {
    readers: READERS,
    saidMb: Math.round(SAID / 1e5) / 10,
    keptMb: rounded(watchers.reduce((sum, { chars }) => sum + chars, 0) / READERS / 1e6),
    grownMb: 0,
    readingMb: 0,
    peakMb: Math.round(peak),
    closed,
    resumed: watchers.filter(({ seq }) => seq === head).length,
    gaps: watchers.reduce((sum, { gaps }) => sum + gaps, 0),
    repeats: watchers.reduce((sum, { repeats }) => sum + repeats, 0),
    resumeP99Ms: percentile(resumes, 99),
  };
  for (const watcher of watchers) watcher.cut();
  return { grownMb: peak - before, figures };
}

const rounded = (mb: number): number => Math.round(mb * 10) / 10;
