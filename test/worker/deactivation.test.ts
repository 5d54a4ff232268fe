/** Who is deactivated is out at once, with everything that they had open; whoever is not, is not touched. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { standingName } from "../../src/tenant/standing-name.ts";
import { ORIGIN, signIn, TENANT, type Person } from "./harness/people.ts";
import { colleague, signInTo, type Stranger } from "./harness/strangers.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";
import { upgrade } from "./harness/watcher.ts";

const PROPOSE = { fixture: "common_propose_transfer" };
const administrator = () => signInTo(TENANT, "olga", ["tenant:admin"]);
const platform = () => signInTo("operations", "olga", ["platform:admin"]);
const why = { "x-audit-reason": "a test" };

const codeOf = async (
  answer: Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>,
) => {
  const { status, body } = await answer;
  return [status, body["code"]];
};

async function swept(ask: () => Promise<{ readonly body: Readonly<Record<string, unknown>> }>) {
  return vi.waitFor(
    async () => {
      const { body } = await ask();
      expect(body["sweep"]).toMatchObject({ state: "done" });
      return body["sweep"];
    },
    { timeout: 25_000, interval: 100 },
  );
}

async function isOut(person: Person, talk: Talk, runId: string): Promise<void> {
  const key = { "idempotency-key": crypto.randomUUID() };
  const asked: [string, string, unknown?][] = [
    ["GET", "/v1/me"],
    ["GET", "/v1/conversations"],
    ["GET", `/v1/conversations/${talk.id}`],
    ["GET", `/v1/conversations/${talk.id}/events`],
    ["POST", `/v1/conversations/${talk.id}/tickets`, {}],
    ["POST", `/v1/conversations/${talk.id}/runs`, { input: { text: "hi" } }],
    ["POST", `/v1/runs/${runId}/cancel`, {}],
    ["POST", "/v1/conversations", { agent: "lab" }],
  ];
  for (const [method, path, body] of asked) {
    const answer = await person.ask(method, path, { ...(body ? { body } : {}), headers: key });
    expect([method, path, answer.status, answer.body["code"]]).toEqual([method, path, 401, "unauthenticated"]);
    expect(answer.headers.get("www-authenticate")).toContain("invalid_token");
  }
  expect((await upgrade(person, talk.id, null)).status).toBe(401);
}

test("a deactivated user is out when the answer is there: tokens, sockets, runs, confirmations", async () => {
  const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
  const { run, calls } = await talk.ask();
  const bob = await colleague(talk, "editor");
  const watching = await talk.newWatcher(bob).connect();
  const admin = await administrator();
  const path = `/v1/tenant/users/${talk.person.userId}`;
  const answer = await admin.ask("POST", `${path}/deactivate`);
  expect([answer.status, answer.body["state"]]).toEqual([202, "deactivated"]);
  await isOut(talk.person, talk, run.id);
  await talk.watcher.until("its end", () => talk.watcher.closed);
  expect(talk.watcher.closed).toMatchObject({ code: 3003 });
  await watching.until("the run's end", () => watching.event("run.cancelled", run.id));
  expect(watching.event("run.cancelled", run.id)).toMatchObject({ data: { stop: { code: "deactivated" } } });
  const decision = { toolCallId: calls[0]?.id, argsDigest: calls[0]?.argsDigest, decision: "approve" };
  expect(await codeOf(bob.ask("POST", `/v1/runs/${run.id}/resume`, { body: { decisions: [decision] } }))).toEqual([
    409,
    "run_finished",
  ]);
  expect(await talk.bookings()).toEqual([]);
  expect(await swept(() => admin.ask("GET", path))).toMatchObject({ runs: expect.any(Number) });
  // The others go on.
  expect(watching.closed).toBeNull();
  const next = await bob.client.startRun(talk.id, { text: "go on" });
  await watching.until("their run's end", () => watching.event("run.completed", next.id));
});

test("a queued run of the deactivated never starts, and another's goes on", async () => {
  const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT], otherwise: COMMON_TEXT });
  const { run, calls } = await talk.ask();
  const bob = await colleague(talk, "editor");
  const queued = await bob.client.startRun(talk.id, { text: "and this" });
  const admin = await administrator();
  await admin.ask("POST", `/v1/tenant/users/${bob.userId}/deactivate`);
  await talk.watcher.until("its end", () => talk.watcher.event("run.cancelled", queued.id));
  await talk.decide(run, calls[0], "reject");
  expect((await talk.ended(run)).type).toBe("run.completed");
});

test("who comes back signs in anew: the old token stays worthless", async () => {
  const person = await signIn();
  const admin = await administrator();
  const path = `/v1/tenant/users/${person.userId}`;
  await admin.ask("POST", `${path}/deactivate`);
  expect(await codeOf(person.ask("GET", "/v1/me"))).toEqual([401, "unauthenticated"]);
  expect(await codeOf((await signIn(person.userId)).ask("GET", "/v1/me"))).toEqual([401, "unauthenticated"]);
  expect((await admin.ask("POST", `${path}/reactivate`)).body).toMatchObject({ state: "active" });
  expect(await codeOf(person.ask("GET", "/v1/me"))).toEqual([401, "unauthenticated"]);
  expect((await (await signIn(person.userId)).ask("GET", "/v1/me")).status).toBe(200);
});

test("an open stream of events ends, and a ticket that was not used yet opens nothing, also when its person is back", async () => {
  const talk = await Talk.open();
  const { person } = talk;
  const tickets = await Promise.all(
    [1, 2, 3].map(
      async () => (await person.ask("POST", `/v1/conversations/${talk.id}/tickets`, { body: {} })).body["ticket"],
    ),
  );
  const headers = { accept: "text/event-stream" };
  const stream = (await person.call("GET", `/v1/conversations/${talk.id}/events`, { headers })).text();
  const knock = async (ticket: unknown) => {
    const offered = { upgrade: "websocket", "sec-websocket-protocol": `holdpoint.v1, ticket.${String(ticket)}` };
    const url = `${ORIGIN}/v1/conversations/${talk.id}/stream`;
    return (await exports.default.fetch(new Request(url, { headers: offered }))).status;
  };
  expect(await knock(tickets[0])).toBe(101);
  const admin = await administrator();
  const path = `/v1/tenant/users/${person.userId}`;
  await admin.ask("POST", `${path}/deactivate`);
  expect(await knock(tickets[1])).toBe(401);
  expect(await stream).toContain('event: closed\ndata: {"code":3003,"reason":"deactivated"}');
  await admin.ask("POST", `${path}/reactivate`);
  expect(await knock(tickets[2])).toBe(401);
});

test("a tenant is locked out whole, and no other is", async () => {
  const tenantId = `tenant-${crypto.randomUUID()}`;
  const ann = await signInTo(tenantId, "ann");
  const made = await ann.ask("POST", "/v1/conversations", { body: { agent: "planner" } });
  expect(made.status).toBe(201);
  const root = await platform();
  const path = `/v1/admin/tenants/${tenantId}`;
  expect(await codeOf(root.ask("POST", `${path}/deactivate`))).toEqual([400, "audit_reason_missing"]);
  expect((await root.ask("POST", `${path}/deactivate`, { headers: why })).status).toBe(202);
  expect(await codeOf(ann.ask("GET", "/v1/me"))).toEqual([401, "unauthenticated"]);
  expect(await codeOf((await signInTo(tenantId, "new")).ask("GET", "/v1/conversations"))).toEqual([
    401,
    "unauthenticated",
  ]);
  expect((await (await signInTo(`${tenantId}x`, "ann")).ask("GET", "/v1/me")).status).toBe(200);
  await swept(() => root.ask("GET", path, { headers: why }));
});

test("a paused tenant begins nothing, and people can still say no", async () => {
  const tenantId = `tenant-${crypto.randomUUID()}`;
  const ann = await signInTo(tenantId, "ann");
  const { body } = await ann.ask("POST", "/v1/conversations", { body: { agent: "planner" } });
  const start = (who: Stranger) =>
    who.ask("POST", `/v1/conversations/${String(body["id"])}/runs`, {
      body: { input: { text: "hello" } },
      headers: { "idempotency-key": crypto.randomUUID() },
    });
  const run = await start(ann);
  expect(run.status).toBe(202);
  const root = await platform();
  const path = `/v1/admin/tenants/${tenantId}`;
  expect((await root.ask("POST", `${path}/pause`, { headers: why })).body).toMatchObject({ paused: true });
  const refused = await start(ann);
  expect([refused.status, refused.body["code"], refused.headers.get("retry-after")]).toEqual([503, "paused", "60"]);
  expect((await ann.ask("GET", `/v1/conversations/${String(body["id"])}`)).status).toBe(200);
  expect((await root.ask("POST", `${path}/resume`, { headers: why })).body).toMatchObject({ paused: false });
  expect((await start(ann)).status).toBe(202);
});

test("only administrators change standings, of their own tenant, and never their own", async () => {
  const ann = await signIn();
  const admin = await administrator();
  const stranger = await signInTo("elsewhere", "olga", ["tenant:admin"]);
  expect(await codeOf(ann.ask("POST", "/v1/tenant/users/bob/deactivate"))).toEqual([403, "scope_missing"]);
  expect(await codeOf(admin.ask("POST", "/v1/admin/tenants/acme/pause", { headers: why }))).toEqual([
    403,
    "scope_missing",
  ]);
  expect(await codeOf(admin.ask("POST", "/v1/tenant/users/olga/deactivate"))).toEqual([403, "forbidden"]);
  const root = await platform();
  expect(await codeOf(root.ask("POST", "/v1/admin/tenants/operations/deactivate", { headers: why }))).toEqual([
    403,
    "forbidden",
  ]);
  // In their own tenant somebody else has that name.
  expect((await stranger.ask("POST", `/v1/tenant/users/${ann.userId}/deactivate`)).status).toBe(202);
  expect((await ann.ask("GET", "/v1/me")).status).toBe(200);
});

test("asking about a standing writes nothing", async () => {
  const tenantId = `tenant-${crypto.randomUUID()}`;
  const before = await listDurableObjectIds(env.CONVERSATIONS);
  const ann = await signInTo(tenantId, "ann");
  expect((await ann.ask("GET", "/v1/me")).status).toBe(200);
  const stub = env.STANDING.getByName(await standingName(tenantId));
  const left = await runInDurableObject(stub, async (_object, { storage }) => ({
    tables: storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
    alarm: await storage.getAlarm(),
  }));
  expect(left).toEqual({ tables: [], alarm: null });
  expect(await listDurableObjectIds(env.CONVERSATIONS)).toEqual(before);
});
