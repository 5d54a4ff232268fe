/**
 * `npm run sim`: plays one conversation's actor through schedules of messages, decisions, failures and deaths, on virtual
 * time, and judges each from outside.
 *
 * `--schedules N [--seed S]` random schedules, after those that have failed before (`sim/regressions.json`); 20,000 and
 * more must hit every coverage mark at least 10 times. `--seed S` alone plays that one, tells what happened and makes it
 * smaller (`--keep` adds it to the regressions). `--planted` plants bugs (those whose name has `--bug`) and wants each
 * found; `--keep` keeps the seeds that found them. `--exhaustive` plays every order of a small conversation with every
 * place to die. `--figures FILE` keeps the report of random schedules.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keptIn } from "../rigs/common/kept-figures.ts";
import { MARKS, type Mark } from "../sim/marks.ts";
import { minimise, type Regression } from "../sim/minimise.ts";
import { hunt, type Hunted } from "../sim/planted/hunt.ts";
import { runPool, type Failure } from "../sim/pool.ts";
import { Runner } from "../sim/runner.ts";
import { interleavings } from "../sim/small-scope.ts";
import { finish } from "./report.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    seed: { type: "string" },
    planted: { type: "boolean", default: false },
    bug: { type: "string", default: "" },
    exhaustive: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    processes: { type: "string" },
    figures: { type: "string" },
  },
});
/** From so many schedules on, every mark must have been hit so often. */
const COVERS_ALL = 20_000;
const OFTEN = 10;
const REGRESSIONS = join(import.meta.dirname, "../sim/regressions.json");
const regressions = JSON.parse(readFileSync(REGRESSIONS, "utf8")) as Regression[];
const processes = Number(values.processes ?? Math.min(2, availableParallelism()));
const seed = Number(values.seed ?? 1);
const start = performance.now();

const perSecond = (schedules: number): number => Math.round((schedules / (performance.now() - start)) * 10_000) / 10;

function tell({ seed: failed, note, violations }: Failure): void {
  console.error(`seed ${failed} ${note ?? ""}`);
  for (const { law, says } of violations.slice(0, 4)) console.error(`  ${law}: ${says}`);
}

/** Shows progress, collects failures; enough is enough. */
function collector(total: string) {
  const failed: Failure[] = [];
  const sums = { schedules: 0, events: 0 };
  let shown = start;
  const onResult = (result: { schedules: number; events: number; failed: readonly Failure[] }): boolean => {
    sums.schedules += result.schedules;
    sums.events += result.events;
    for (const one of result.failed) tell(one);
    failed.push(...result.failed);
    if (performance.now() - shown > 2_000) {
      shown = performance.now();
      console.error(`${sums.schedules}${total}, ${failed.length} failed, ${perSecond(sums.schedules)}/s`);
    }
    return failed.length < 25;
  };
  return { failed, sums, onResult };
}

const lawsOf = ({ seed: failed, note, violations }: Failure) => ({
  seed: failed,
  ...(note === undefined ? {} : { note }),
  laws: [...new Set(violations.map(({ law }) => law))],
});

async function random(count: number): Promise<void> {
  const marks = new Map<Mark, number>(MARKS.map((mark) => [mark, 0]));
  const { failed, sums, onResult } = collector(` of ${count} schedules`);
  await replay(failed);
  await runPool({
    processes,
    from: seed,
    count,
    onResult: (result) => {
      for (const mark of MARKS) marks.set(mark, (marks.get(mark) ?? 0) + (result.marks[mark] ?? 0));
      return onResult(result);
    },
  });
  const counts = Object.fromEntries([...marks].toSorted((a, b) => a[1] - b[1]));
  const rare = [...marks].filter(([, hits]) => hits < OFTEN).map(([mark]) => mark);
  const covered = count < COVERS_ALL || rare.length === 0;
  for (const [mark, hits] of Object.entries(counts)) console.error(`${String(hits).padStart(7)}  ${mark}`);
  finish(
    failed.length === 0 && covered,
    {
      schedules: sums.schedules,
      violations: failed.length,
      ...(failed.length > 0 ? { failed: failed.slice(0, 10).map(lawsOf) } : {}),
      marksBelow10: rare,
      events: sums.events,
      perSecond: perSecond(sums.schedules),
      processes,
      seed,
      regressions: regressions.length,
      marks: counts,
    },
    keptIn(values.figures),
  );
}

/** What has failed once is played before anything else, for ever. */
async function replay(failed: Failure[]): Promise<void> {
  const runner = new Runner();
  for (const { seed: known, without, note } of regressions) {
    const { violations } = await runner.run(known, without);
    if (violations.length === 0) continue;
    failed.push({ seed: known, note, violations });
    tell({ seed: known, note, violations });
  }
}

async function one(): Promise<void> {
  const runner = new Runner();
  const judged = await runner.run(seed);
  const [first] = judged.violations;
  if (!first) finish(true, { schedules: 1, violations: 0, seed, events: judged.events, marks: judged.marks });
  tell(judged);
  console.error("making it smaller …");
  const without = await minimise(runner, seed, first.law);
  const { violations } = await runner.run(seed, without);
  tell({ seed, note: `without ${JSON.stringify(without)}`, violations });
  if (values.keep) {
    const kept: Regression[] = [...regressions, { seed, without, law: first.law, note: first.says.slice(0, 200) }];
    writeFileSync(REGRESSIONS, `${JSON.stringify(kept, null, 2)}\n`);
  }
  finish(false, { schedules: 1, violations: 1, seed, without, failed: [lawsOf(judged)], marks: judged.marks });
}

async function planted(): Promise<void> {
  const tellOf = ({ name, within, after, laws, says }: Hunted) => {
    const verdict = after === null ? `NOT FOUND in ${within}` : `${String(after).padStart(5)} of ${within}`;
    console.error(`${verdict}  ${name}  ${laws.join(" ")}  ${says.slice(0, 120)}`);
  };
  const all = await hunt({ from: seed, processes, only: values.bug, remember: values.keep, found: tellOf });
  const caught = all.filter(({ after }) => after !== null).length;
  finish(caught === all.length, {
    planted: all.length,
    caught,
    seconds: Math.round((performance.now() - start) / 1_000),
    seed,
    bugs: all.map(({ name, after, within, seed: by, laws }) => ({ name, after, within, seed: by, laws })),
  });
}

async function exhaustive(): Promise<void> {
  const count = interleavings().length;
  const { failed, sums, onResult } = collector(` schedules of ${count} interleavings`);
  await runPool({ processes, from: 0, count, smallScope: true, onResult });
  finish(failed.length === 0, {
    schedules: sums.schedules,
    violations: failed.length,
    ...(failed.length > 0 ? { failed: failed.slice(0, 10).map(lawsOf) } : {}),
    exhaustive: { interleavings: count, schedules: sums.schedules, runs: 2, calls: 2, crashes: 1 },
    perSecond: perSecond(sums.schedules),
    processes,
    seed,
    marks: {},
  });
}

if (values.planted) await planted();
else if (values.exhaustive) await exhaustive();
else if (values.seed !== undefined && values.schedules === undefined) await one();
else await random(Number(values.schedules ?? 2_000));
