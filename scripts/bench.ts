/**
 * `npm run bench [-- --quick] [--peers] [--workloads W1,W8] [--out FILE]`: the service against the floor, side by side in
 * one run; with `--peers` beside Cloudflare's Agents SDK and LangGraph's server, installed into a cache.
 * Prints a table with ratios and fails where one is over its budget. Only ratios mean anything: both sides share the
 * machine with everything else on it, and are asked in turns.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { floor } from "../bench/floor/floor.ts";
import { Talk } from "../bench/load/talk.ts";
import { startChild } from "../bench/measure/child.ts";
import { Side } from "../bench/measure/side.ts";
import type { Times } from "../bench/model/model.ts";
import { ours, RAISED } from "../bench/peer-ours.ts";
import { cfAgents } from "../bench/peers/cf-agents.ts";
import { langgraph } from "../bench/peers/langgraph.ts";
import { rowsOf, tableOf } from "../bench/table.ts";
import { WORKLOADS } from "../bench/workloads/all.ts";
import { finish } from "./report.ts";
import { freePort } from "./service.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
    workloads: { type: "string" },
    out: { type: "string" },
  },
});
const { quick } = values;
/** The noise of a short run. */
const slack = quick ? 2 : 1;
const chosen = values.workloads?.split(",");
const out = values.out ?? (quick || chosen || values.peers ? ".holdpoint/bench.json" : "bench/figures.json");

const dir = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
const modelPort = await freePort();
const modelUrl = `http://127.0.0.1:${modelPort}`;
const model = await startChild({
  command: process.execPath,
  args: [join(import.meta.dirname, "../bench/model/model.ts"), String(modelPort)],
  port: modelPort,
  log: join(dir, "model.log"),
});
const ask = async (path: string, run: string) => (await (await fetch(`${modelUrl}/${path}?id=${run}`)).json()) as Times;

console.log("building and starting");
const mine = ours({ toolsAtModel: true });
const others = values.peers ? [cfAgents(), langgraph()] : [];
const sides = [floor(), mine, ...others].map((peer) => new Side(peer));
for (const { peer } of sides) {
  const log = join(dir, `${peer.name}.log`);
  await peer.start({ port: await freePort(), modelUrl, dataDir: join(dir, peer.name), log });
}
const raised = Object.entries(RAISED).map(([name, value]) => `${name} ${value}`);
console.log(`limits raised for the load: ${raised.join(", ")}`);
if (quick) console.log("quick: fewer samples, W5 with half as many conversations, W6 with 100 prior turns at most");

for (const { peer } of sides) {
  const talk = await new Talk(peer).connect();
  for (let turn = 0; turn < (quick ? 60 : 300); turn++) await talk.turn("n=20");
  await talk.turn("n=2000");
  await talk.close();
}
const failures: string[] = [];
for (const { name, about, thorough, run } of WORKLOADS) {
  if (chosen ? !chosen.includes(name) : quick && thorough) continue;
  const from = performance.now();
  try {
    const able = sides.filter(({ peer }) => !peer.lacks?.includes(name));
    await run({
      sides: able,
      ours: mine,
      modelUrl,
      quick,
      times: (id) => ask("times", id),
      aborted: (id) => ask("aborted", id),
    });
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  console.log(`${name.padEnd(4)} ${about} (${Math.round((performance.now() - from) / 1_000)} s)`);
}
for (const { peer } of sides) await peer.stop();
await model.end("SIGKILL");

const rows = rowsOf(sides, slack);
console.log(tableOf(rows));
for (const failure of failures) console.log(`failed: ${failure}`);
const misses = rows.filter(({ missed }) => missed).length;
const figures = { quick, raised: RAISED, rows, misses, ...(failures.length > 0 ? { failures } : {}) };
const ok = misses === 0 && failures.length === 0;
if (ok) rmSync(dir, { recursive: true, force: true });
else console.log(`logs are kept in ${dir}`);
mkdirSync(dirname(out), { recursive: true });
finish(ok, figures, (line) => writeFileSync(out, `${JSON.stringify(line, null, 2)}\n`));
