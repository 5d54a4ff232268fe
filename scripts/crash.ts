/**
 * `npm run crash -- --random N --triggered M [--seed S]`: the built service on a real disk, its whole process group
 * killed with SIGKILL again and again, at random and at the instants that matter, while people work and watchers come
 * and go; then judged from outside.
 *
 * `--per-seed K` kills go to one data folder; `--lanes L` seeds are played side by side. A failing seed keeps its folder,
 * with what was seen in `seen.json`; `--judge FILE` judges that again, without playing. `--figures FILE` keeps the report.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { check, type Verdict } from "../rigs/crash/check/check.ts";
import { playSeed, type Played, type SeedPlan } from "../rigs/crash/play.ts";
import type { SeedSeen } from "../rigs/crash/seen.ts";
import { PROVIDER_KEY, Surroundings } from "../rigs/crash/surroundings.ts";
import { Tally } from "../rigs/crash/tally.ts";
import { install, type Installation } from "../rigs/common/runtime.ts";
import { keptIn } from "../rigs/common/kept-figures.ts";
import { commit, finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";

const { values } = parseArgs({
  options: {
    random: { type: "string", default: "20" },
    triggered: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    "per-seed": { type: "string", default: "30" },
    lanes: { type: "string", default: "2" },
    conversations: { type: "string", default: "8" },
    judge: { type: "string" },
    figures: { type: "string" },
    /** Where to keep what was seen, of a seed that held. */
    save: { type: "string" },
  },
});
const wanted = { random: Number(values.random), triggered: Number(values.triggered) };
const first = Number(values.seed);
const perSeed = Number(values["per-seed"]);

if (values.judge !== undefined) {
  const { violations, windows } = check(JSON.parse(readFileSync(values.judge, "utf8")) as SeedSeen);
  for (const { law, says } of violations) console.log(`${law}: ${says}`);
  finish(violations.length === 0, { violations: violations.length, ...windows });
}

/** Small, so that everything comes to rest soon. */
const SETTINGS = {
  BACKOFF_MS: "50",
  COMMAND_BURST: "100000",
  COMMANDS_PER_MINUTE: "100000",
  CANCEL_GRACE_MS: "300",
  WATCHDOG_MS: "1000",
  CHECKPOINT_MS: "50",
  OUTBOX_MS: "100",
  REQUEST_TIMEOUT_MS: "5000",
  maxFirstByteMs: "5000",
  maxIdleMs: "5000",
  maxToolMs: "5000",
};

/** The kills, shared out evenly. */
function plansOf(): SeedPlan[] {
  const seeds = Math.max(1, Math.ceil((wanted.random + wanted.triggered) / perSeed));
  const share = (all: number, n: number) => Math.floor(((n + 1) * all) / seeds) - Math.floor((n * all) / seeds);
  return Array.from({ length: seeds }, (_, n) => ({
    seed: first + n,
    random: share(wanted.random, n),
    triggered: share(wanted.triggered, n),
    conversations: Number(values.conversations),
    outages: n % 2 === 1,
  }));
}

const started = performance.now();
const dir = mkdtempSync(join(tmpdir(), "holdpoint-crash-"));
console.log("building the bundle");
// The sources may go on changing: what is killed is what was built.
const built = commit();
const bundleDir = await bundleInto(join(dir, "bundle"));
const plans = plansOf();
const waiting = [...plans];
const tally = new Tally();
let playing = 0;

async function lane(n: number): Promise<void> {
  const surroundings = await Surroundings.start();
  const installation = await install(join(dir, `lane-${n}`), bundleDir, {
    ...SETTINGS,
    OPENAI_BASE_URL: surroundings.provider.baseUrl,
    OPENAI_API_KEY: PROVIDER_KEY,
    LAB_BACKEND_URL: surroundings.backend.url,
  });
  playing ||= performance.now();
  for (let plan = waiting.shift(); plan; plan = waiting.shift()) await playOne(plan, installation, surroundings);
  await surroundings.close();
}

async function playOne(plan: SeedPlan, installation: Installation, surroundings: Surroundings): Promise<void> {
  const { seed } = plan;
  const dataDir = join(dir, `seed-${seed}`);
  mkdirSync(dataDir);
  const begun = performance.now();
  const violations: { law: string; says: string }[] = [];
  try {
    const played = await playSeed(plan, installation, surroundings, dataDir, () => tally.progress());
    const verdict = check(played.seen);
    violations.push(...verdict.violations);
    tally.add(played, verdict);
    keep(played, verdict, dataDir);
  } catch (error) {
    const says = error instanceof Error ? (error.stack ?? error.message) : String(error);
    violations.push({ law: "plays to its end", says });
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const held = violations.length === 0;
  console.log(`seed ${seed}: ${held ? "held" : `${violations.length} violations`} after ${seconds} s`);
  if (held) return rmSync(dataDir, { recursive: true, force: true });
  tally.fail(seed, dataDir, violations);
  for (const { law, says } of violations.slice(0, 20)) console.log(`  ${law}: ${says}`);
  console.log(`  the data is kept in ${dataDir}`);
}

function keep({ seen }: Played, { violations }: Verdict, dataDir: string): void {
  const file = violations.length > 0 ? join(dataDir, "seen.json") : values.save;
  if (file !== undefined) writeFileSync(file, JSON.stringify(seen));
}

await Promise.all(Array.from({ length: Math.min(Number(values.lanes), plans.length) }, (_, n) => lane(n)));
if (tally.failed.length === 0) rmSync(dir, { recursive: true, force: true });
finish(
  tally.holds(wanted),
  {
    commit: built,
    ...tally.figures((performance.now() - playing) / 1_000),
    seed: first,
    seeds: plans.length,
    ms: Math.round(performance.now() - started),
    settings: SETTINGS,
  },
  keptIn(values.figures),
);
