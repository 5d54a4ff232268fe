/**
 * `npm run soak -- --minutes M [--watchers 200 --reconnects 20] [--seed S]`: the built service under bounded load, with a
 * model that answers at random as real ones have, watchers that all come back at once again and again, readers that stop
 * reading, and a history that takes no writes for a while. Then everything must come to rest, with nothing lost.
 * `--figures FILE` keeps the report.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pause, percentile } from "../rigs/common/figures.ts";
import { share, signIn } from "../rigs/common/people.ts";
import { install } from "../rigs/common/runtime.ts";
import { withHistory } from "../rigs/crash/history-file.ts";
import { HistoryOutage } from "../rigs/common/history-outage.ts";
import { MemoryWatch, slopeOf } from "../rigs/soak/memory.ts";
import { SoakProvider } from "../rigs/soak/provider.ts";
import { slowReaders } from "../rigs/soak/slow-readers.ts";
import { Talk } from "../rigs/soak/talk.ts";
import { StormWatcher } from "../rigs/soak/watcher.ts";
import { randomOf } from "../sim/random.ts";
import { startFakeBackend } from "../test/support/fake-backend.ts";
import { keptIn } from "../rigs/common/kept-figures.ts";
import { commit, finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    watchers: { type: "string", default: "200" },
    reconnects: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    figures: { type: "string" },
  },
});
const seed = Number(values.seed);
const forMs = Number(values.minutes) * 60_000;
const rounds = Number(values.reconnects);

const CONVERSATIONS = 10;
const REST_MS = 1_500;
/** In which a storm's watchers come back: they have all lost the connection at the same instant. */
const STORM_MS = 1_000;
const OUTAGE_MS = 5_000;
const SLOW_READERS_MB = 64;
const SETTINGS = {
  BACKOFF_MS: "50",
  COMMAND_BURST: "100000",
  COMMANDS_PER_MINUTE: "100000",
  CANCEL_GRACE_MS: "500",
  WATCHDOG_MS: "1000",
  OUTBOX_MS: "200",
  maxFirstByteMs: "3000",
  maxIdleMs: "3000",
  maxToolMs: "5000",
  maxConversationTokens: "900000000",
  maxRunTokens: "900000000",
};

const started = performance.now();
const dir = mkdtempSync(join(tmpdir(), "holdpoint-soak-"));
const dataDir = join(dir, "data");
mkdirSync(dataDir);
const provider = await SoakProvider.start(seed);
const backend = await startFakeBackend();
console.log("building the bundle");
const built = commit();
const installation = await install(join(dir, "installation"), await bundleInto(join(dir, "bundle")), {
  ...SETTINGS,
  OPENAI_BASE_URL: provider.fake.baseUrl,
  OPENAI_API_KEY: "soak",
  LAB_BACKEND_URL: backend.url,
});
installation.use(dataDir);
const service = installation.start();
await service.ready;
const { baseUrl } = installation;
const memory = new MemoryWatch(service.pid);
const failures: string[] = [];

const resumes: number[] = [];
const talks: Talk[] = [];
const watchers: StormWatcher[] = [];
const perConversation = Math.ceil(Number(values.watchers) / CONVERSATIONS);
for (let n = 0; n < CONVERSATIONS; n++) {
  const owner = await signIn(baseUrl, `ann-${n}`, "soak");
  const talk = await Talk.open(baseUrl, owner, `${seed}-${n}`, `soak-${n}`, randomOf(seed, n));
  talks.push(talk);
  const people = [owner];
  for (const name of ["bo", "cy"]) {
    const other = await signIn(baseUrl, `${name}-${n}`, "soak");
    await share(baseUrl, talk.place.conversationId, owner, other.userId, "editor");
    people.push(other);
  }
  for (let w = 0; w < perConversation; w++) {
    watchers.push(new StormWatcher(talk.place, people[w % people.length] ?? owner, resumes));
  }
}
const lives = talks.map((talk) =>
  talk.live(REST_MS).catch((error: unknown) => failures.push(`a talk broke: ${String(error)}`)),
);

const dice = randomOf(seed, "storms");
let lost = 0;
async function storm(): Promise<void> {
  await Promise.all(
    watchers.map(async (watcher) => {
      await pause(dice.next() * STORM_MS);
      if (!(await watcher.reconnect())) lost += 1;
    }),
  );
}

async function storms(): Promise<void> {
  const begun = performance.now();
  for (let round = 0; round < rounds; round++) {
    await storm();
    console.log(
      `storm ${round + 1} of ${rounds}: resume p99 ${percentile(resumes, 99)} ms, ${Math.round(memory.sample())} MB`,
    );
    const next = begun + ((round + 1) * forMs * 0.9) / rounds;
    await pause(Math.max(0, next - performance.now()));
  }
}

async function outage(): Promise<void> {
  await pause(forMs / 3);
  const history = HistoryOutage.open(dataDir);
  history.begin();
  await pause(OUTAGE_MS);
  history.end();
  history.close();
  console.log(`the history took no writes for ${OUTAGE_MS} ms`);
}

await Promise.all([storms(), outage()]);
const steady = memory.samples.slice(Math.floor(memory.samples.length / 4));
provider.calm = true;
for (const talk of talks) talk.end();
await Promise.all(lives);
const slow = await slowReaders({ baseUrl, tenantId: "soak", memory, random: randomOf(seed, "slow") });
console.log(`slow readers: ${JSON.stringify(slow)}`);

// At rest: one message more in each conversation, every watcher at the head, the history with it.
let unanswered = 0;
for (const talk of talks) {
  const run = await talk.say(`#${seed}-last -`);
  if (run?.status !== "completed") unanswered += 1;
}
const heads = new Map(
  await Promise.all(talks.map(async (talk) => [talk.place.conversationId, await talk.head()] as const)),
);
await storm();
const behind = watchers.filter(({ seq, place }) => seq !== heads.get(place.conversationId)).length;
let historyBehind = heads.size;
for (const until = performance.now() + 30_000; historyBehind > 0 && performance.now() < until; await pause(200)) {
  historyBehind =
    withHistory(dataDir, (history) => [...heads].filter(([id, head]) => history.seq(id) < head).length) ?? heads.size;
}
memory.stop();
for (const watcher of watchers) watcher.cut();
await service.kill();
await Promise.all([provider.fake.close(), backend.close()]);

const count = (of: (watcher: StormWatcher) => number) => watchers.reduce((sum, watcher) => sum + of(watcher), 0);
const stuck = talks.flatMap((talk) => talk.stuck);
const ends: Record<string, number> = {};
for (const talk of talks) for (const [end, n] of Object.entries(talk.ends)) ends[end] = (ends[end] ?? 0) + n;
const figures = {
  gaps: count(({ gaps }) => gaps),
  repeats: count(({ repeats }) => repeats),
  stuck: stuck.length,
  unanswered,
  behind,
  historyBehind,
  lost,
};
const calm = Object.values(figures).every((n) => n === 0) && failures.length === 0;
const read = slow.grownMb < SLOW_READERS_MB && slow.resumed === slow.readers && slow.gaps + slow.repeats === 0;
if (calm && read) rmSync(dir, { recursive: true, force: true });
else console.log(`the data is kept in ${dataDir}`);
finish(
  calm && read,
  {
    commit: built,
    ...figures,
    ...(failures.length > 0 ? { failures } : {}),
    minutes: Number(values.minutes),
    watchers: watchers.length,
    reconnects: rounds,
    stormMs: STORM_MS,
    resumes: resumes.length,
    retries: count(({ retries }) => retries),
    resumeP50Ms: percentile(resumes, 50),
    resumeP99Ms: percentile(resumes, 99),
    events: count(({ events }) => events),
    runs: talks.reduce((sum, { runs }) => sum + runs, 0),
    ends,
    providerFaults: provider.faults,
    memoryMbPerMinute: slopeOf(steady),
    memoryMb: Math.round(steady.at(-1)?.mb ?? 0),
    slowReaders: slow,
    outageMs: OUTAGE_MS,
    seed,
    ms: Math.round(performance.now() - started),
    settings: SETTINGS,
  },
  keptIn(values.figures),
);
