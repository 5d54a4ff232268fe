/**
 * `npm run outage [-- --seconds 60] [--figures FILE]`: D1 takes no writes for a minute, while people go on. Conversations answer, a
 * confirmed act is done, the list says how old it is; and when D1 is back, everything arrives there without a request.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pause } from "../rigs/common/figures.ts";
import { keptIn } from "../rigs/common/kept-figures.ts";
import { HistoryOutage } from "../rigs/common/history-outage.ts";
import { signIn } from "../rigs/common/people.ts";
import { withHistory } from "../rigs/crash/history-file.ts";
import { HoldpointClient } from "../src/client/client.ts";
import { ProblemError } from "../src/client/http.ts";
import type { Run } from "../src/protocol/run.ts";
import { finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";
import { freePort, startRuntime } from "./service.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" }, figures: { type: "string" } } });
const seconds = Number(values.seconds);
/** Between two attempts to take the lock, and two looks at what has come of it. */
const LOOK_MS = 50;
const PATIENCE_MS = 120_000;
/** A person's pace. */
const TURN_EVERY_MS = 2_000;

const dir = mkdtempSync(join(tmpdir(), "holdpoint-outage-"));
const stateDir = join(dir, "data");
const bundleDir = await bundleInto(join(dir, "bundle"));
const service = await startRuntime({ port: await freePort(), stateDir, bundleDir });
const { token } = await signIn(service.baseUrl, "ann", "outage");
const client = new HoldpointClient({ baseUrl: service.baseUrl, token: () => token });

async function until<T>(what: string, find: () => T | null | Promise<T | null>): Promise<T> {
  for (const from = performance.now(); performance.now() - from < PATIENCE_MS; await pause(LOOK_MS)) {
    const found = await find();
    if (found !== null) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}

const standing = (run: Run, ...statuses: readonly Run["status"][]): Promise<Run> =>
  until(`${run.id} to be ${statuses.join(" or ")}`, async () => {
    const now = await client.run(run.id);
    return statuses.includes(now.status) ? now : null;
  });
const headOf = async (id: string) => Number((await client.conversation(id)).headCursor.split(".")[1]);
const inHistory = (id: string) => withHistory(stateDir, (history) => history.seq(id)) ?? 0;
const caughtUp = async (id: string, head: number) =>
  until("the history to have it all", () => (inHistory(id) === head ? head : null));

/** What the list says of a conversation: to which event it has come; or why it says nothing; null: it does not know it. */
async function listed(id: string): Promise<number | string | null> {
  const page = await client.conversations().catch((error: unknown) => {
    if (error instanceof ProblemError) return error.problem.code;
    throw error;
  });
  if (typeof page === "string") return page;
  const { data } = page;
  const row = data.find((one) => one instanceof Object && "id" in one && one.id === id);
  return row instanceof Object && "asOfSeq" in row ? Number(row.asOfSeq) : null;
}

const { id } = await client.createConversation({ agent: "planner" });
await standing(await client.startRun(id, { text: "hello" }), "completed");
const before = await caughtUp(id, await headOf(id));

const outage = HistoryOutage.open(stateDir);
await until("the lock on D1", () => {
  try {
    outage.begin();
    return true;
  } catch {
    return null;
  }
});
const began = performance.now();
console.log(`D1 takes no writes; the history stands at event ${before}`);
let turns = 0;
let confirmed = 0;
/** Each answer of the list, and how often it came. */
const lists = new Map<number | string | null, number>();
while (performance.now() - began < seconds * 1_000) {
  const turn = performance.now();
  const started = await client.startRun(id, {
    text: turns % 3 === 1 ? `create a plan called Outage ${turns}` : "list my plans",
  });
  const run = await standing(started, "completed", "interrupted");
  if (run.status === "interrupted") {
    const decisions = run.pending.map((call) => ({
      toolCallId: call.id,
      argsDigest: call.argsDigest,
      decision: "approve" as const,
    }));
    await client.resume(run.id, { decisions });
    await standing(run, "completed");
    confirmed += decisions.length;
  }
  turns += 1;
  const answer = await listed(id);
  lists.set(answer, (lists.get(answer) ?? 0) + 1);
  await pause(Math.max(0, TURN_EVERY_MS - (performance.now() - turn)));
}
const head = await headOf(id);
const meanwhile = [...lists].map(([answer, times]) => `${answer} (${times} times)`).join(", ");
console.log(`${turns} turns, ${confirmed} confirmed acts; the log stands at ${head}, the list said ${meanwhile}`);
outage.end();
outage.close();
const back = performance.now();
// Its file is read, and the service is asked nothing.
const after = await caughtUp(id, head);
const caughtUpMs = Math.round(performance.now() - back);
const later = await listed(id);
console.log(`D1 is back; after ${caughtUpMs} ms it has event ${after}, and the list says ${later}`);
await service.stop();

const honest = [...lists.keys()].every((answer) => answer === before || answer === "history_unavailable");
const ok = turns > 0 && confirmed > 0 && honest && after === head && later === head;
if (ok) rmSync(dir, { recursive: true, force: true });
else console.log(`the data is kept in ${dir}`);
finish(ok, { seconds, turns, confirmed, before, meanwhile, head, after, later, caughtUpMs }, keptIn(values.figures));
