/**
 * `npm run faults [-- --only TEXT] [--at-once N]`: every upstream and tool fault that there is a specification for, played
 * against the built service; for each, what the user, the log, the provider and the ledgers saw, held against what they
 * must see. Needs nothing but this machine.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "../rigs/common/runtime.ts";
import type { Fault } from "../rigs/faults/fault.ts";
import { play, type House, type Seen } from "../rigs/faults/house.ts";
import { judge } from "../rigs/faults/judge.ts";
import { modelFaults } from "../rigs/faults/model-faults.ts";
import { toolFaults } from "../rigs/faults/tool-faults.ts";
import { startFakeBackend } from "../test/support/fake-backend.ts";
import { startFakeProvider } from "../test/support/fake-provider.ts";
import { finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    "at-once": { type: "string", default: "10" },
  },
});
const SETTINGS = {
  BACKOFF_MS: "50",
  CANCEL_GRACE_MS: "500",
  WATCHDOG_MS: "1000",
  OUTBOX_MS: "200",
  // No limit that anything comes near: so that a ledger keeps books.
  TENANT_BUDGET: JSON.stringify({ tokensPerDay: 1_000_000_000_000 }),
};

const started = performance.now();
const dir = mkdtempSync(join(tmpdir(), "holdpoint-faults-"));
const dataDir = join(dir, "data");
mkdirSync(dataDir);
const provider = await startFakeProvider({ timeScale: 0.1 });
const backend = await startFakeBackend();
console.log("building the bundle");
const installation = await install(join(dir, "installation"), await bundleInto(join(dir, "bundle")), {
  ...SETTINGS,
  OPENAI_BASE_URL: provider.baseUrl,
  OPENAI_API_KEY: "faults",
  LAB_BACKEND_URL: backend.url,
});
installation.use(dataDir);
const service = installation.start();
await service.ready;
const house: House = { baseUrl: installation.baseUrl, provider, backend, log: join(dataDir, "service.log") };

const faults = [...modelFaults(), ...toolFaults()]
  .map((fault, n) => ({ fault, n }))
  .filter(({ fault }) => fault.name.includes(values.only));
const failed: { name: string; wrong: string[] }[] = [];

/** One line: what each of the four saw. */
function told(
  { name }: Fault,
  { run, requests, backendRequests, bookings, ledger, log, texts, notices }: Seen,
): string {
  const { stop, status, phase } = run;
  const wait = stop?.retryAfterMs === undefined ? "" : ` in ${stop.retryAfterMs} ms`;
  const user = `${stop?.code ?? `${status} ${phase ?? ""}`}${wait}${texts.length + notices.length > 0 ? ", with words" : ""}`;
  const [ended] = log.filter(({ event }) => event === "run_ended" || event === "tool_unknown");
  const support = `${String(ended?.["event"] ?? "nothing")} ${JSON.stringify(ended?.["provider"] ?? {})}`;
  const did = backendRequests > 0 ? `, backend ${backendRequests} (booked ${bookings})` : "";
  const paid = `${ledger.used}${run.usage.estimated ? " (estimated)" : ""}`;
  return `${name}\n    user: ${user} · log: ${support} · provider: ${requests}${did} · ledger: ${paid}`;
}

async function one(fault: Fault, n: number): Promise<void> {
  try {
    const seen = await play(fault, n, house);
    const wrong = judge(fault, seen);
    console.log(`${wrong.length === 0 ? "✓" : "✗"} ${told(fault, seen)}`);
    for (const difference of wrong) console.log(`    ✗ ${difference}`);
    if (wrong.length > 0) failed.push({ name: fault.name, wrong });
  } catch (error) {
    const says = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.log(`✗ ${fault.name}\n    ✗ ${says}`);
    failed.push({ name: fault.name, wrong: [says.slice(0, 300)] });
  }
}

const waiting = [...faults];
await Promise.all(
  Array.from({ length: Number(values["at-once"]) }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await one(next.fault, next.n);
  }),
);
await service.kill();
await provider.close();
await backend.close();
if (failed.length === 0) rmSync(dir, { recursive: true, force: true });
else console.log(`the data and the service's log are kept in ${dataDir}`);
finish(failed.length === 0 && faults.length > 0, {
  total: faults.length,
  passed: faults.length - failed.length,
  ...(failed.length > 0 ? { failed } : {}),
  ms: Math.round(performance.now() - started),
  settings: SETTINGS,
});
