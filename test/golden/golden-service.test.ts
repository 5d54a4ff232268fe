/** The service of this version on a data folder of an earlier one: everything is there, and what was open goes on. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { signIn } from "../../rigs/common/people.ts";
import { install, type Installation, type Starting } from "../../rigs/common/runtime.ts";
import { withHistory } from "../../rigs/crash/history-file.ts";
import { PROVIDER_KEY, Surroundings } from "../../rigs/crash/surroundings.ts";
import { goldenLogs, goldenStorage, goldenVersions, type GoldenConversation } from "../../rigs/golden/golden.ts";
import { bundleInto } from "../../scripts/runtime/bundle.ts";
import { HoldpointClient } from "../../src/client/client.ts";
import type { Run } from "../../src/protocol/run.ts";
import { EVENT_VERSION } from "../../src/protocol/version.ts";

const SLOW_MS = 180_000;
const dir = mkdtempSync(join(tmpdir(), "holdpoint-golden-"));
let surroundings: Surroundings;
let installation: Installation;

beforeAll(async () => {
  surroundings = await Surroundings.start();
  surroundings.begin({ seed: 0, hit: () => Promise.resolve(), models: new Map() }, true);
  surroundings.calm = true;
  installation = await install(join(dir, "installation"), await bundleInto(join(dir, "bundle")), {
    OUTBOX_MS: "100",
    OPENAI_BASE_URL: surroundings.provider.baseUrl,
    OPENAI_API_KEY: PROVIDER_KEY,
    LAB_BACKEND_URL: surroundings.backend.url,
  });
}, SLOW_MS);

afterAll(async () => {
  await surroundings.close();
  rmSync(dir, { recursive: true, force: true });
});

describe.for(goldenVersions())("a folder of version %s", (version) => {
  const dataDir = join(dir, version);
  let service: Starting;

  beforeAll(async () => {
    mkdirSync(dataDir);
    goldenStorage(version, dataDir);
    installation.use(dataDir);
    service = installation.start();
    await service.ready;
  }, SLOW_MS);
  afterAll(() => service.kill());

  test.for(goldenLogs(version))("$id is read as it was, and goes on", { timeout: SLOW_MS }, async (golden) => {
    const { id, log } = golden;
    const client = await clientOf(golden);
    const { headCursor, activeRun } = await client.conversation(id);
    const { data } = await client.events(id, { after: `${headCursor.split(".")[0]}.0`, limit: 200 });
    const unchanged = data.filter(({ v, seq }) => v === EVENT_VERSION && seq <= log.length);
    expect(unchanged.map((event) => JSON.stringify(event))).toEqual(unchanged.map(({ seq }) => log[seq - 1]));
    expect(data.length).toBeGreaterThanOrEqual(Math.min(200, log.length));
    if (activeRun) await answer(client, activeRun);
    const last = await client.startRun(id, { text: "#golden-after -" });
    expect(await ended(client, last)).toMatchObject({ status: "completed" });
    const head = Number((await client.conversation(id)).headCursor.split(".")[1]);
    await vi.waitFor(() => expect(withHistory(dataDir, (history) => history.seq(id))).toBe(head), SLOW_MS);
  });
});

async function clientOf({ owner, tenantId }: GoldenConversation): Promise<HoldpointClient> {
  const { baseUrl } = installation;
  const { token } = await signIn(baseUrl, owner, tenantId);
  return new HoldpointClient({ baseUrl, token: () => token });
}

/** Says no to what asks, and gives up what nobody knows. */
async function answer(client: HoldpointClient, { id, pending }: Run): Promise<void> {
  const asked = pending.filter(({ state }) => state === "awaiting_confirmation");
  const unknown = pending.filter(({ state }) => state === "unknown");
  const decisions = asked.map((call) => ({
    toolCallId: call.id,
    argsDigest: call.argsDigest,
    decision: "reject" as const,
  }));
  const resolutions = unknown.map((call) => ({ toolCallId: call.id, outcome: "give_up" as const }));
  await client.resume(id, {
    ...(decisions.length > 0 ? { decisions } : {}),
    ...(resolutions.length > 0 ? { resolutions } : {}),
  });
  expect((await ended(client, { id })).status).toBe("completed");
}

const ended = (client: HoldpointClient, { id }: Pick<Run, "id">): Promise<Run> =>
  vi.waitUntil(
    async () => {
      const run = await client.run(id);
      return ["completed", "failed", "cancelled"].includes(run.status) && run;
    },
    { timeout: SLOW_MS, interval: 50 },
  );
