/**
 * `npm run crash-points [-- --figures FILE]`: an object dies at every instant at which it writes or hands over, in every
 * state that a call can stand in, in workerd, with the platform's own alarms; and what comes after is as it should be.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keptIn } from "../rigs/common/kept-figures.ts";
import { DEATHS, POINTS, STANDINGS } from "../test/crash-points/points.ts";
import { isReachable, STORIES } from "../test/crash-points/stories.ts";
import { commit, finish } from "./report.ts";

const { values } = parseArgs({ options: { figures: { type: "string" } } });
const root = join(import.meta.dirname, "..");
const dir = mkdtempSync(join(tmpdir(), "holdpoint-crash-points-"));
const results = join(dir, "results.json");
const built = commit();
const started = performance.now();

const args = ["run", "--project", "crash-points", "--reporter=default", "--reporter=json", `--outputFile=${results}`];
const code = await new Promise<number>((resolve) => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  child.once("exit", (status) => resolve(status ?? 1));
});
const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(readFileSync(results, "utf8")) as {
  numPassedTests: number;
  numFailedTests: number;
};
rmSync(dir, { recursive: true, force: true });

const pairs = STANDINGS.flatMap((standing) => POINTS.filter((point) => isReachable(point, standing))).length;
const told = Object.values(STORIES).flatMap(({ held }) => POINTS.filter((point) => isReachable(point, held)));
finish(
  code === 0 && failed === 0 && passed > 0,
  {
    commit: built,
    points: POINTS.length,
    standings: STANDINGS.length,
    pairs,
    unreachable: POINTS.length * STANDINGS.length - pairs,
    deaths: told.length * DEATHS.length,
    passed,
    failed,
    ms: Math.round(performance.now() - started),
  },
  keptIn(values.figures),
);
