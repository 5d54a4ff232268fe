/** The command that brings the history back, against the service on a data folder whose D1 has been lost. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { install, type Starting } from "../../rigs/common/runtime.ts";
import { withHistory } from "../../rigs/crash/history-file.ts";
import { goldenLogs, goldenStorage } from "../../rigs/golden/golden.ts";
import { objectsInFolder, objectsOfNamespace } from "../../scripts/rebuild/objects.ts";
import { bundleInto } from "../../scripts/runtime/bundle.ts";

const SLOW_MS = 180_000;
const root = join(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "holdpoint-rebuild-"));
const dataDir = join(dir, "data");
const conversations = goldenLogs("0.1.0").filter(({ waitsFor }) => waitsFor === undefined);
let service: Starting;
let baseUrl = "";

beforeAll(async () => {
  mkdirSync(dataDir);
  goldenStorage("0.1.0", dataDir);
  rmSync(join(dataDir, "d1"), { recursive: true });
  const installation = await install(join(dir, "installation"), await bundleInto(join(dir, "bundle")), {});
  installation.use(dataDir);
  ({ baseUrl } = installation);
  service = installation.start();
  await service.ready;
}, SLOW_MS);

afterAll(async () => {
  await service.kill();
  rmSync(dir, { recursive: true, force: true });
});

async function command(...more: string[]): Promise<Record<string, unknown>> {
  const args = ["scripts/rebuild.ts", "--url", baseUrl, "--reason", "the test has lost it", "--development", ...more];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
}

const standing = () =>
  withHistory(dataDir, (history) => conversations.map(({ id }) => history.seq(id))) ?? conversations.map(() => 0);

test(
  "sees what is lost, brings it from the objects in the folder, and has nothing more to bring",
  { timeout: SLOW_MS },
  async () => {
    const whole = conversations.map(({ log }) => log.length);
    expect(standing()).toEqual(whole.map(() => 0));
    const looked = await command("--look", "--state-dir", dataDir);
    expect(looked).toMatchObject({ ok: true, objects: 6, restored: 0, unreachable: 0 });
    expect(standing()).toEqual(whole.map(() => 0));

    // The history names nobody, so without the folder nobody is asked.
    expect(await command()).toMatchObject({ ok: true, objects: 0 });
    const brought = await command("--state-dir", dataDir);
    expect(brought).toMatchObject({ ok: true, objects: 6, conversations: 6, behind: 0, parked: 0, maxLagMs: 0 });
    expect(standing()).toEqual(whole);

    expect(await command()).toMatchObject({ ok: true, objects: 6, restored: 0 });
    expect(await command("--anew")).toMatchObject({ ok: true, objects: 6, behind: 0 });
    expect(standing()).toEqual(whole);
  },
);

test("finds a local folder's objects, whatever else lies in it", () => {
  const ids = objectsInFolder(dataDir);
  expect(ids).toHaveLength(6);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
});

test("has the platform list a namespace page by page, and leaves out objects that never stored anything", async () => {
  const asked: string[] = [];
  const page = (ids: readonly string[], cursor?: string) => ({
    success: true,
    result: ids.map((id) => ({ id, hasStoredData: id !== "empty" })),
    result_info: { count: ids.length, ...(cursor === undefined ? {} : { cursor }) },
  });
  const request = (async (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(String(input));
    asked.push(
      `${url.pathname} ${url.searchParams.get("cursor") ?? "-"} ${new Headers(init?.headers).get("authorization")}`,
    );
    return Response.json(url.searchParams.has("cursor") ? page(["c"]) : page(["a", "empty", "b"], "next"));
  }) as typeof fetch;
  const namespace = { accountId: "acc", namespaceId: "ns", token: "not-a-secret" };
  expect(await objectsOfNamespace(namespace, request)).toEqual(["a", "b", "c"]);
  const path = "/client/v4/accounts/acc/workers/durable_objects/namespaces/ns/objects";
  expect(asked).toEqual([`${path} - Bearer not-a-secret`, `${path} next Bearer not-a-secret`]);
  const refusing = (async () =>
    Response.json({ success: false, errors: [{ message: "no permission" }] }, { status: 403 })) as typeof fetch;
  await expect(objectsOfNamespace(namespace, refusing)).rejects.toThrow("no permission");
});
