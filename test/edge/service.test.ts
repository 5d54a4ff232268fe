import { describe, expect, it } from "vitest";
import { refusingEdge } from "../../src/edge/refusing-edge.ts";
import { routesOf } from "../../src/edge/routes.ts";
import { readSettings, SettingsRefused } from "../../src/edge/settings.ts";
import { PROBLEMS, reject } from "../../src/protocol/problems.ts";
import {
  BASE,
  DEVELOPMENT,
  emptyActor,
  emptyHistory,
  NOW,
  problemIn,
  recordingActor,
  testEdge,
} from "./support/edge.ts";
import { hello, KEYED, RUNS } from "./support/bad-requests.ts";

describe("the service", () => {
  it("says what it is, and that its model is scripted while it is", async () => {
    const about = (await (await testEdge().call("GET", "/", { authorization: null })).json()) as Record<
      string,
      unknown
    >;
    expect(about).toMatchObject({
      name: "Holdpoint",
      protocol: { version: 1, subprotocol: "holdpoint.v1" },
      model: { scripted: true },
    });
    const env = { ...DEVELOPMENT, OPENAI_BASE_URL: "http://127.0.0.1:1" };
    const real = await testEdge(undefined, { env }).call("GET", "/", { authorization: null });
    expect(await real.json()).toMatchObject({ model: { scripted: false } });
  });

  it("is alive without a sign-in", async () => {
    const answer = await testEdge().call("GET", "/healthz", { authorization: null });
    expect(await answer.json()).toEqual({ status: "ok", environment: "development", developmentSignIn: true });
  });

  it("is ready when everything that it depends on answers", async () => {
    const ready = async (readiness: () => Promise<Record<string, boolean>>) =>
      testEdge(undefined, { readiness }).call("GET", "/readyz", { authorization: null });
    expect(await (await ready(async () => ({ history: true }))).json()).toEqual({
      ready: true,
      checks: { history: true },
    });
    const checks = { history: true, app: false };
    expect(await problemIn(await ready(async () => checks))).toMatchObject({ status: 503, ready: false, checks });
    const broken = await ready(() => Promise.reject(new Error("canary")));
    expect(JSON.stringify(await problemIn(broken))).not.toContain("canary");
    expect(broken.status).toBe(503);
  });

  it("lists its agents in the caller's language", async () => {
    const languages: (string | undefined)[] = [];
    const test = testEdge(undefined, {
      agents: async (locale) => {
        languages.push(locale);
        return [];
      },
    });
    const authorization = `Bearer ${await test.token({ userId: "a", locale: "zh-CN" })}`;
    expect(await (await test.call("GET", "/v1/agents", { authorization })).json()).toMatchObject({ data: [] });
    expect(languages).toEqual(["zh"]);
    expect((await test.call("GET", "/v1/agents", { authorization: null })).status).toBe(401);
  });

  it("asks its admission after the sign-in and before the body is read", async () => {
    const { actor, commands } = recordingActor();
    const asked: unknown[] = [];
    const test = testEdge(actor, {
      admit: async ({ userId }, { method, path }) => {
        asked.push({ userId, method, path });
        return reject("rate_limited", "Slower.", { retryAfterMs: 1_500 });
      },
    });
    const unsigned = await test.call("POST", RUNS, { json: hello, headers: KEYED, authorization: null });
    expect([unsigned.status, asked]).toEqual([401, []]);
    const body = new ReadableStream({ pull: () => Promise.reject(new Error("read")) }, { highWaterMark: 0 });
    const answer = await test.call("POST", RUNS, { body, headers: { ...KEYED, "content-type": "application/json" } });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(await problemIn(answer)).toMatchObject({ code: "rate_limited", status: 429, retryAfterMs: 1_500 });
    expect(asked).toEqual([{ userId: "alice", method: "POST", path: "/v1/conversations/:id/runs" }]);
    expect(commands).toEqual([]);
  });
});

describe("a service with settings that it may not serve with", () => {
  const log: { event: string; fields: unknown }[] = [];
  const quiet = { info: () => undefined, warn: () => undefined };
  const edge = refusingEdge(
    new SettingsRefused(["HOLDPOINT_KEY is needed when ENVIRONMENT=production"]),
    { ...quiet, error: (event, _, fields) => void log.push({ event, fields }) },
    () => NOW,
  );

  it("serves nothing, and says why where its operators look", async () => {
    for (const path of ["/", "/readyz", "/v1/me", "/dev/token"]) {
      const problem = await problemIn(await edge.fetch(new Request(BASE + path)));
      expect(problem).toMatchObject({ status: 500, code: "internal" });
      expect(JSON.stringify(problem)).not.toContain("HOLDPOINT_KEY");
    }
    const health = await problemIn(await edge.fetch(new Request(`${BASE}/healthz`)));
    expect(health["reasons"]).toEqual(["HOLDPOINT_KEY is needed when ENVIRONMENT=production"]);
    expect(log.map(({ event }) => event)).toEqual(Array.from({ length: 5 }, () => "settings_refused"));
  });
});

it("calls what may pass no setting: the client may try again, the log has the cause, nothing else is told", async () => {
  const log: { event: string; error: unknown }[] = [];
  const quiet = { info: () => undefined, warn: () => undefined };
  const cause = new Error("the database is locked");
  const edge = refusingEdge(cause, { ...quiet, error: (event, error) => void log.push({ event, error }) }, () => NOW);
  const answer = await edge.fetch(new Request(`${BASE}/healthz`));
  expect(answer.headers.get("retry-after")).toBe("1");
  const problem = await problemIn(answer);
  expect(problem).toMatchObject({ status: 503, code: "overloaded", retryable: true });
  expect(JSON.stringify(problem)).not.toContain("locked");
  expect(log).toEqual([{ event: "deployment_failed", error: cause }]);
});

describe("the table of routes", () => {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const table = routesOf({
    settings: readSettings(DEVELOPMENT),
    actor: async () => emptyActor,
    log: quiet,
    now: () => NOW,
    agents: async () => [],
    history: emptyHistory,
  });

  it("has each method of each path once, with what a document needs of it", () => {
    const names = table.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    for (const route of table) {
      expect(route.summary.length).toBeGreaterThan(5);
      expect(Object.keys(route.answers).length).toBeGreaterThan(0);
      for (const code of route.problems) expect(PROBLEMS).toHaveProperty(code);
    }
    expect(names.toSorted()).toMatchInlineSnapshot(`
      [
        "DELETE /v1/conversations/:id/participants/:userId",
        "DELETE /v1/runs/:id",
        "GET /",
        "GET /docs",
        "GET /healthz",
        "GET /readyz",
        "GET /v1/agents",
        "GET /v1/confirmations",
        "GET /v1/conversations",
        "GET /v1/conversations/:id",
        "GET /v1/conversations/:id/events",
        "GET /v1/conversations/:id/messages",
        "GET /v1/conversations/:id/runs",
        "GET /v1/conversations/:id/stream",
        "GET /v1/events.schema.json",
        "GET /v1/me",
        "GET /v1/openapi.json",
        "GET /v1/runs/:id",
        "GET /v1/runs/:id/events",
        "GET /v1/usage",
        "PATCH /v1/conversations/:id",
        "PATCH /v1/runs/:id",
        "POST /dev/token",
        "POST /v1/conversations",
        "POST /v1/conversations/:id/runs",
        "POST /v1/conversations/:id/tickets",
        "POST /v1/runs/:id/cancel",
        "POST /v1/runs/:id/resume",
        "POST /v1/runs/:id/retry",
        "PUT /v1/conversations/:id/participants/:userId",
      ]
    `);
  });

  it("signs in everywhere but at the door", () => {
    const open = table.filter(({ auth }) => auth === "none").map(({ path }) => path);
    expect(open.toSorted()).toEqual([
      "/",
      "/dev/token",
      "/docs",
      "/healthz",
      "/readyz",
      "/v1/events.schema.json",
      "/v1/openapi.json",
    ]);
  });

  it("asks for a key wherever a run is started, and takes one with every other POST", () => {
    const posts = table.filter(({ method, auth }) => method === "POST" && auth === "user");
    const uses = Object.fromEntries(posts.map(({ path, key }) => [path, key]));
    expect(uses["/v1/conversations/:id/runs"]).toBe("required");
    expect(Object.values(uses).filter((use) => use === "none")).toEqual([]);
  });
});
