/**
 * `npm run golden`: what this version has written, kept for all later ones. Conversations are played on the built
 * service, which is killed now and then; some are left in the middle of something. Their logs and the whole data folder go
 * to `test/golden/<version>`. Run once for each release; what a release has written is never written again.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { HoldpointClient } from "../src/client/client.ts";
import type { Run } from "../src/protocol/run.ts";
import { pause } from "../rigs/common/figures.ts";
import { signIn } from "../rigs/common/people.ts";
import { install } from "../rigs/common/runtime.ts";
import { check } from "../rigs/crash/check/check.ts";
import { playSeed } from "../rigs/crash/play.ts";
import { PROVIDER_KEY, Surroundings } from "../rigs/crash/surroundings.ts";
import { filesIn, pack } from "../rigs/golden/archive.ts";
import { commit, finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
  version: string;
};
const target = join(import.meta.dirname, "../test/golden", version);
if (existsSync(target)) throw new Error(`${target} is there already`);

const PLAN = { seed: 1, random: 4, triggered: 8, conversations: 4, outages: false };
const SETTINGS = {
  BACKOFF_MS: "50",
  CANCEL_GRACE_MS: "300",
  WATCHDOG_MS: "1000",
  CHECKPOINT_MS: "50",
  OUTBOX_MS: "100",
};
/** Left in the middle: what their runs wait for at the end. */
const OPEN = {
  awaiting_confirmation: "transfer",
  awaiting_resolution: "transfer,book_note",
} as const;

const dir = mkdtempSync(join(tmpdir(), "holdpoint-golden-"));
const dataDir = join(dir, "data");
mkdirSync(dataDir);
const surroundings = await Surroundings.start();
console.log("building the bundle");
const installation = await install(join(dir, "installation"), await bundleInto(join(dir, "bundle")), {
  ...SETTINGS,
  OPENAI_BASE_URL: surroundings.provider.baseUrl,
  OPENAI_API_KEY: PROVIDER_KEY,
  LAB_BACKEND_URL: surroundings.backend.url,
});
const played = await playSeed(PLAN, installation, surroundings, dataDir, () => undefined);
const { violations } = check(played.seen);
for (const { law, says } of violations) console.log(`${law}: ${says}`);

interface Left {
  readonly id: string;
  readonly owner: string;
  readonly tenantId: string;
  readonly log: readonly string[];
  readonly waitsFor?: string;
}

async function leaveOpen(phase: keyof typeof OPEN): Promise<Left> {
  const { baseUrl } = installation;
  const owner = await signIn(baseUrl, `ann-${phase}`, "crash-0");
  const client = new HoldpointClient({ baseUrl, token: () => owner.token });
  const { id, headCursor } = await client.createConversation({ agent: "lab", metadata: { model: `golden-${phase}` } });
  const name = `#golden-${phase.replaceAll("_", "-")}`;
  await client.startRun(id, { text: `${name}-0 lookup_order` });
  const run = await client.startRun(id, { text: `${name}-1 ${OPEN[phase]}` });
  await client.startRun(id, { text: `${name}-2 -` });
  const waits = await until(client, run, ({ waitsFor }) => waitsFor.length > 0);
  if (phase === "awaiting_resolution") {
    surroundings.backend.fault({ route: "POST /transfer", mode: "commit_then_drop", times: 1 });
    const decisions = waits.pending
      .filter(({ state }) => state === "awaiting_confirmation")
      .map(({ id: toolCallId, argsDigest }) => ({ toolCallId, argsDigest, decision: "approve" as const }));
    await client.resume(run.id, { decisions });
    await until(client, run, (now) => now.phase === phase);
  }
  const { data } = await client.events(id, { after: `${headCursor.split(".")[0] ?? ""}.0`, limit: 200 });
  return {
    id,
    owner: owner.userId,
    tenantId: "crash-0",
    log: data.map((event) => JSON.stringify(event)),
    waitsFor: phase,
  };
}

async function until(client: HoldpointClient, { id }: Run, is: (run: Run) => boolean): Promise<Run> {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
    const run = await client.run(id);
    if (is(run)) return run;
  }
  throw new Error(`${id} did not get there`);
}

surroundings.begin({ seed: 0, hit: () => Promise.resolve(), models: new Map() }, false);
surroundings.calm = true;
const service = installation.start();
await service.ready;
const left = [await leaveOpen("awaiting_confirmation"), await leaveOpen("awaiting_resolution")];
await service.kill();
await surroundings.close();

const conversations: Left[] = [
  ...played.seen.conversations.map(({ seen, owner, tenantId }) => ({
    id: seen.conversationId,
    owner,
    tenantId,
    log: seen.logJson,
  })),
  ...left,
];
mkdirSync(target, { recursive: true });
writeFileSync(join(target, "logs.json.gz"), gzipSync(JSON.stringify(conversations), { level: 9 }));
const databases = filesIn(dataDir).filter((path) => path.endsWith(".sqlite"));
// What the kill has left in the write-ahead logs is brought into the files: otherwise most pages would be kept twice.
for (const path of databases) {
  const db = new DatabaseSync(join(dataDir, path));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
writeFileSync(join(target, "storage.gz"), pack(dataDir, databases));
const events = conversations.reduce((sum, { log }) => sum + log.length, 0);
const manifest = {
  version,
  commit: commit(),
  at: new Date().toISOString(),
  conversations: conversations.length,
  events,
};
writeFileSync(join(target, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
rmSync(dir, { recursive: true, force: true });
finish(violations.length === 0, {
  ...manifest,
  violations: violations.length,
  kills: played.seen.kills.length,
  target,
});
