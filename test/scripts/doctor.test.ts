import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dependencies } from "../../scripts/doctor/dependencies.ts";
import { fingerprint } from "../../scripts/doctor/finding.ts";
import { probes } from "../../scripts/doctor/probes.ts";
import { variables, varsIn } from "../../scripts/doctor/variables.ts";
import { startFakeBackend, type FakeBackend } from "../support/fake-backend.ts";
import { listen, sendJson } from "../support/http-kit.ts";

const root = join(import.meta.dirname, "../..");
const KEY = "a-key-that-nobody-may-see"; // not-a-secret
let backend: FakeBackend;
let gateway: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  backend = await startFakeBackend();
  gateway = await listen((req, res, url) => {
    if (url.pathname === "/jwks") return sendJson(res, 200, { keys: [{ kid: "1" }, { kid: "2" }] });
    if (req.headers.authorization !== `Bearer ${KEY}`) return sendJson(res, 401, { error: { message: "no" } });
    return sendJson(res, 200, { data: [{ id: "m-1" }] });
  }, 0);
});
afterAll(async () => {
  await gateway.close();
  await backend.close();
});

test("the packages of this tree are those of package.json, and others are told", () => {
  expect(dependencies(root).map(({ state }) => state)).toEqual(["ok", "ok"]);
  expect(dependencies(root, "18.0.0")[0]).toMatchObject({ about: "Node.js", state: "wrong" });
  expect(dependencies(join(root, "test"))).toMatchObject([{ about: "Node.js" }, { state: "ok" }]);
});

test("variables are named with their fingerprints, and a deployment that may not serve is told why", () => {
  const local = varsIn(`name = "x"\n[vars]\nENVIRONMENT = "development"\nDEV_SIGN_IN = "on"\n[env.production]\n`);
  expect(local).toEqual({ ENVIRONMENT: "development", DEV_SIGN_IN: "on" });
  const found = variables({ OPENAI_API_KEY: KEY, PLANS_REST_KEY: " x ", OTHER: "y" }, local);
  expect(found).toMatchObject([
    { about: "OPENAI_API_KEY", state: "ok" },
    { about: "PLANS_REST_KEY", state: "odd" },
    { about: "settings", state: "ok" },
  ]);
  expect(found[0]?.says).toContain(fingerprint(KEY));
  const refused = variables({ ENVIRONMENT: "production", HOLDPOINT_KEY: KEY }, {});
  expect(refused.filter(({ state }) => state === "wrong").length).toBeGreaterThan(0);
  expect(JSON.stringify([found, refused])).not.toContain(KEY);
});

test("each gateway is asked once, and a refused key is named by its fingerprint", async () => {
  const env = { OPENAI_BASE_URL: `${gateway.url}/v1`, OPENAI_API_KEY: KEY, PLANS_REST_URL: backend.url };
  const good = await probes({ ...env, OPENAI_MODEL: "m-1", JWKS_URL: `${gateway.url}/jwks` });
  expect(good).toMatchObject([
    { about: "model gateway", state: "ok" },
    { about: "plans gateway", state: "wrong", says: expect.stringContaining("without a key") },
    { about: "sign-in keys", state: "ok", says: "2 keys" },
  ]);
  const [model] = await probes({ ...env, OPENAI_API_KEY: "wrong" });
  expect(model).toMatchObject({ state: "wrong", says: expect.stringContaining(fingerprint("wrong")) });
  const [other] = await probes({ ...env, OPENAI_MODEL: "m-2" });
  expect(other?.state).toBe("odd");
  expect(JSON.stringify([good, model, other])).not.toContain(KEY);
});

test("nothing that is not set is asked for, and a gateway that is away is told without its address", async () => {
  expect((await probes({})).map(({ state }) => state)).toEqual(["none", "none", "none"]);
  const [away] = await probes({ OPENAI_BASE_URL: "http://user:secret@127.0.0.1:1/v1" });
  expect(away?.state).toBe("wrong");
  expect(away?.says).not.toContain("secret");
});

test("the command says it in lines, and all of it in the last", async () => {
  const env = { ...process.env, OPENAI_API_KEY: "", OPENAI_BASE_URL: "", PLANS_REST_URL: "", JWKS_URL: "" };
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "scripts/doctor.ts")], { env });
  const lines = stdout.trim().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ ok: true, wrong: [] });
}, 30_000);
