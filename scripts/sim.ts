/**
 * `npm run sim`: plays one conversation's actor through schedules of messages, decisions, failures and deaths, on virtual
 * time, and judges each from outside.
 *
 * `--schedules N [--seed S]` random schedules; `--seed S` alone plays that one and says what was wrong with it; `--planted`
 * plants bugs and wants each found; `--exhaustive` plays every order of a small conversation with one crash.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { MARKS, type Mark } from "../sim/marks.ts";
import { runPool } from "../sim/pool.ts";
import { finish } from "./report.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    seed: { type: "string" },
    planted: { type: "boolean", default: false },
    exhaustive: { type: "boolean", default: false },
    processes: { type: "string" },
  },
});
const processes = Number(values.processes ?? Math.min(2, availableParallelism()));
const seed = Number(values.seed ?? 1);
const count = Number(values.schedules ?? (values.seed === undefined ? 2_000 : 1));

async function random(): Promise<void> {
  const marks = new Map<Mark, number>(MARKS.map((mark) => [mark, 0]));
  const failed: { seed: number; laws: string[] }[] = [];
  let schedules = 0;
  let events = 0;
  const start = performance.now();
  let shown = start;
  await runPool({
    processes,
    from: seed,
    count,
    onResult: (result) => {
      schedules += result.schedules;
      events += result.events;
      for (const mark of MARKS) marks.set(mark, (marks.get(mark) ?? 0) + (result.marks[mark] ?? 0));
      for (const one of result.failed) {
        failed.push({ seed: one.seed, laws: [...new Set(one.violations.map(({ law }) => law))] });
        console.error(
          `seed ${one.seed}: ${one.violations
            .slice(0, 3)
            .map(({ law, says }) => `${law}: ${says}`)
            .join("\n  ")}`,
        );
      }
      if (performance.now() - shown > 2_000) {
        shown = performance.now();
        console.error(`${schedules} of ${count} schedules, ${failed.length} failed, ${perSecond(schedules, start)}/s`);
      }
      return failed.length < 50;
    },
  });
  const counts = Object.fromEntries([...marks].toSorted((a, b) => a[1] - b[1]));
  for (const [mark, hits] of Object.entries(counts)) console.error(`${String(hits).padStart(7)}  ${mark}`);
  finish(failed.length === 0, {
    schedules,
    violations: failed.length,
    ...(failed.length > 0 ? { failed: failed.slice(0, 10) } : {}),
    events,
    perSecond: perSecond(schedules, start),
    processes,
    seed,
    marks: counts,
  });
}

const perSecond = (schedules: number, start: number): number =>
  Math.round((schedules / (performance.now() - start)) * 10_000) / 10;

await random();
