/**
 * `npm run crash -- --random N --triggered M [--seed S]`: the built service on a real disk, its whole process group
 * killed with SIGKILL again and again, at random and at the instants that matter, while people work and watchers come
 * and go; then judged from outside.
 *
 * `--per-seed K` kills go to one data folder. A failing seed keeps its folder.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { check } from "../rigs/crash/check/check.ts";
import { playSeed, type SeedPlan } from "../rigs/crash/play.ts";
import { PROVIDER_KEY, Surroundings } from "../rigs/crash/surroundings.ts";
import { percentile } from "../rigs/common/figures.ts";
import { install } from "../rigs/common/runtime.ts";
import { finish } from "./report.ts";

const { values } = parseArgs({
  options: {
    random: { type: "string", default: "20" },
    triggered: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    "per-seed": { type: "string", default: "60" },
  },
});
const wanted = { random: Number(values.random), triggered: Number(values.triggered) };
const first = Number(values.seed);
const perSeed = Number(values["per-seed"]);

/** Small, so that everything comes to rest soon. */
const SETTINGS = {
  BACKOFF_MS: "50",
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
function plans(): SeedPlan[] {
  const seeds = Math.max(1, Math.ceil((wanted.random + wanted.triggered) / perSeed));
  const share = (all: number, n: number) => Math.floor(((n + 1) * all) / seeds) - Math.floor((n * all) / seeds);
  return Array.from({ length: seeds }, (_, n) => ({
    seed: first + n,
    random: share(wanted.random, n),
    triggered: share(wanted.triggered, n),
  }));
}

const started = performance.now();
const dir = mkdtempSync(join(tmpdir(), "holdpoint-crash-"));
const surroundings = await Surroundings.start();
console.log("building the bundle");
const installation = await install(join(dir, "installation"), {
  ...SETTINGS,
  OPENAI_BASE_URL: surroundings.provider.baseUrl,
  OPENAI_API_KEY: PROVIDER_KEY,
  LAB_BACKEND_URL: surroundings.backend.url,
});
const total = { kills: 0, random: 0, triggered: 0, cascades: 0, windowKills: 0, provedOrUnknown: 0 };
const sums = { events: 0, commands: 0, effects: 0, frames: 0 };
const byKind: Record<string, number> = {};
const recoveries: number[] = [];
const failed: { seed: number; dataDir: string; laws: string[] }[] = [];
let violations = 0;
let playedMs = 0;

for (const plan of plans()) {
  const dataDir = join(dir, `seed-${plan.seed}`);
  mkdirSync(dataDir);
  const begun = performance.now();
  let done = 0;
  const problem: { law: string; says: string }[] = [];
  try {
    const { seen, reaper } = await playSeed(plan, installation, surroundings, dataDir, () => {
      done += 1;
      if (done % 20 === 0) console.log(`seed ${plan.seed}: ${done} of ${plan.random + plan.triggered} kills`);
    });
    const verdict = check(seen);
    problem.push(...verdict.violations);
    total.windowKills += verdict.windows.killed;
    total.provedOrUnknown += verdict.windows.provedOrUnknown;
    total.cascades += reaper.cascades;
    recoveries.push(...reaper.recoveries);
    for (const { kind } of seen.kills) {
      total.kills += 1;
      if (kind === "random") total.random += 1;
      else if (kind !== "cascade") total.triggered += 1;
      byKind[kind] = (byKind[kind] ?? 0) + 1;
    }
    for (const one of seen.conversations) {
      sums.events += one.seen.log.length;
      sums.commands += one.seen.asked.length;
      sums.effects += [...one.effects.values()].reduce((sum, n) => sum + n, 0);
      sums.frames += one.connections.reduce((sum, { frames }) => sum + frames.length, 0);
    }
  } catch (error) {
    problem.push({
      law: "plays to its end",
      says: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  playedMs += performance.now() - begun;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(
    `seed ${plan.seed}: ${problem.length === 0 ? "held" : `${problem.length} violations`} after ${seconds} s`,
  );
  if (problem.length === 0) {
    rmSync(dataDir, { recursive: true, force: true });
    continue;
  }
  violations += problem.length;
  failed.push({ seed: plan.seed, dataDir, laws: [...new Set(problem.map(({ law }) => law))] });
  for (const { law, says } of problem.slice(0, 20)) console.log(`  ${law}: ${says}`);
  console.log(`  the data is kept in ${dataDir}`);
}
await surroundings.close();
if (failed.length === 0) rmSync(dir, { recursive: true, force: true });
const ok = failed.length === 0 && total.random === wanted.random && total.triggered === wanted.triggered;
finish(ok && total.windowKills === total.provedOrUnknown, {
  ...total,
  violations,
  ...(failed.length > 0 ? { failed } : {}),
  seed: first,
  seeds: plans().length,
  ...sums,
  byKind,
  killsPerSecond: Math.round((total.kills / playedMs) * 10_000) / 10,
  recoveryP50Ms: percentile(recoveries, 50),
  recoveryP95Ms: percentile(recoveries, 95),
  ms: Math.round(performance.now() - started),
  settings: SETTINGS,
});
