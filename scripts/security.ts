/**
 * `npm run security [-- --only A01]`: every bad input of rigs/security/cases.json against the built service, from
 * outside. Each must be answered as it says, and what it says must not have come of it. In the end secrets and tenants'
 * texts are looked for wherever they must not be.
 */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { pause } from "../rigs/common/figures.ts";
import { measure } from "../rigs/security/absence.ts";
import { straying } from "../rigs/security/canaries.ts";
import { readCases } from "../rigs/security/case.ts";
import { play } from "../rigs/security/play.ts";
import { Stage } from "../rigs/security/stage.ts";
import { finish } from "./report.ts";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
/** What was begun late has come by then. */
const LATE_MS = 1_500;

const started = performance.now();
const cases = readCases().filter(({ id }) => id.startsWith(values.only));
console.log(`${cases.length} bad inputs; building the service`);
const stage = await Stage.open();
const lasting = await measure(stage, stage.shared, ["event"]);
const failed: string[] = [];
let log = "";
const listen = () => {
  const output = stage.service.output();
  // The service keeps the end of what it wrote: what is new stands after what was heard last.
  const known = output.lastIndexOf(log.slice(-2_000));
  log += known < 0 ? output : output.slice(known + Math.min(2_000, log.length));
};

for (const one of cases) {
  let wrong: string[];
  try {
    wrong = await play(stage, one);
  } catch (error) {
    wrong = [`broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
  listen();
  if (wrong.length === 0) continue;
  failed.push(one.id);
  console.log(`FAIL  ${one.id}  ${one.what}`);
  for (const line of wrong) console.log(`      ${line.slice(0, 1_000)}`);
}

await pause(LATE_MS);
const late = await measure(stage, stage.shared, ["event"]);
if (late.event !== lasting.event) {
  failed.push("late");
  console.log(`FAIL  late  ${lasting.event} became ${late.event}`);
}
listen();
const canaries = straying(stage, log);
for (const line of canaries) console.log(`FAIL  canary  ${line}`);
await stage.close();

const rows = new Set(cases.map(({ row }) => row));
const ok = failed.length === 0 && canaries.length === 0;
if (ok) rmSync(dirname(stage.stateDir), { recursive: true, force: true });
else console.log(`the data is kept in ${stage.stateDir}`);
finish(ok, {
  total: cases.length,
  passed: cases.length - failed.filter((id) => id !== "late").length,
  rows: rows.size,
  canaries: canaries.length,
  ...(failed.length > 0 ? { failed } : {}),
  seconds: Math.round((performance.now() - started) / 1_000),
});
