/**
 * Every route of the OpenAPI document, asked by everybody who might try: another tenant's user, another user, each place
 * in the conversation, somebody whose place was taken down since they started a run, an expired, a revoked and a
 * scope-less sign-in. What they are answered is worked out from the table *Who may* and from the scopes in the document
 * alone; a route that neither knows fails the test.
 */
import { exports } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import type { CommandType } from "../../src/protocol/commands.ts";
import { may, WHO_MAY, type Permission, type Role } from "../../src/protocol/roles.ts";
import { COMMAND_PERMISSION } from "../../src/protocol/scopes.ts";
import { ORIGIN, TENANT, type Answered } from "./harness/people.ts";
import { signInTo, type Stranger } from "./harness/strangers.ts";
import { Talk } from "./harness/talk.ts";

interface Operation {
  readonly security: readonly { readonly bearer: readonly string[] }[];
  readonly "x-command"?: CommandType;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> };
}
interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const ORDINARY = ["conversations:read", "conversations:write", "confirmations:decide", "lab:transfer", "usage:read"];
const ADMINISTRATORS = ["tenant:admin", "platform:admin", "handover:operate"];
const PLACES = ["viewer", "approver", "editor", "owner"] as const;

type Trouble = "expired" | "revoked" | null;
interface Person {
  readonly name: string;
  readonly userId: string;
  readonly stranger: Stranger;
  readonly scopes: readonly string[];
  readonly trouble: Trouble;
  /** null: has no place in the conversation. */
  readonly role: Role | null;
  /** Which run is theirs. */
  readonly started: "active" | "queued" | null;
}

/** Paths that are about one conversation and no command, with what they need of a place. */
const READS: Readonly<Record<string, Permission>> = {
  "GET /v1/conversations/{id}": "read_messages",
  "GET /v1/conversations/{id}/messages": "read_messages",
  "GET /v1/conversations/{id}/runs": "read_messages",
  "GET /v1/conversations/{id}/events": "read_messages",
  "GET /v1/conversations/{id}/stream": "read_messages",
  "POST /v1/conversations/{id}/tickets": "read_messages",
  "GET /v1/runs/{id}": "read_messages",
  "GET /v1/runs/{id}/events": "read_messages",
};
/** About no conversation: the scope alone counts. */
const PLACELESS =
  /^(GET \/v1\/(conversations|confirmations|agents|me|usage)|POST \/v1\/conversations|(GET|POST|PUT) \/v1\/(tenant|admin)\/.*)$/;
const OPEN =
  /^(GET|POST) (\/|\/healthz|\/readyz|\/docs(\/.*)?|\/dev\/token|\/v1\/(openapi\.json|events\.schema\.json))$/;

let all: readonly Route[] = [];
let routes: readonly Route[] = [];
let serial = 0;
const who = (name: string) => `${name}-${++serial}-${crypto.randomUUID()}`;

beforeAll(async () => {
  const answer = await exports.default.fetch(new Request(`${ORIGIN}/v1/openapi.json`));
  const { paths } = await answer.json<{ paths: Record<string, Record<string, Operation>> }>();
  all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  routes = all.filter(({ operation }) => operation.security.length > 0);
});

test("only what is nobody's in particular is open", () => {
  const open = all.filter((route) => !routes.includes(route)).map(({ method, path }) => `${method} ${path}`);
  expect(open.filter((route) => !OPEN.test(route))).toEqual([]);
  expect(routes.length).toBeGreaterThan(25);
});

/** A conversation with an active run that waits, started by somebody who is a viewer by now, and an editor's in the queue. */
async function stage() {
  const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
  const owner = await signInTo(TENANT, talk.person.userId, ORDINARY);
  const share = async (userId: string, role: Role) => {
    const path = `/v1/conversations/${talk.id}/participants/${encodeURIComponent(userId)}`;
    expect((await owner.ask("PUT", path, { body: { role } })).status).toBe(200);
  };
  const seat = async (role: Role): Promise<Person> => {
    const userId = role === "owner" ? talk.person.userId : who(role);
    if (role !== "owner") await share(userId, role);
    return person(role, userId, { role, started: role === "editor" ? "queued" : null });
  };
  const start = async (starter: Stranger) => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const path = `/v1/conversations/${talk.id}/runs`;
    const answer = await starter.ask("POST", path, { body: { input: { text: "pay" } }, headers });
    expect(answer.status).toBe(202);
    return String(answer.body["id"]);
  };
  const demoted = who("starter");
  await share(demoted, "editor");
  const starter = await person("the run's starter, a viewer by now", demoted, { role: "viewer", started: "active" });
  const active = await start(starter.stranger);
  await talk.watcher.until("it to ask", () => talk.watcher.event("run.interrupted", active));
  await share(demoted, "viewer");
  const seats = await Promise.all(PLACES.map(seat));
  const queued = await start(seats.find(({ started }) => started === "queued")?.stranger ?? owner);
  const { pending } = await talk.person.client.run(active);
  return { talk, seats: [...seats, starter], runs: { active, queued }, call: pending[0] };
}
type Stage = Awaited<ReturnType<typeof stage>>;

async function person(
  name: string,
  userId: string,
  { role, started }: Pick<Person, "role" | "started">,
  { scopes = ORDINARY, tenant = TENANT }: { scopes?: readonly string[]; tenant?: string } = {},
): Promise<Person> {
  return { name, userId, role, started, scopes, trouble: null, stranger: await signInTo(tenant, userId, scopes) };
}

const target = (route: Route): "active" | "queued" =>
  // What is edited or dropped must still be queued.
  /^(PATCH|DELETE)/.test(route.method) ? "queued" : "active";

function ask(
  { talk, seats, runs, call }: Stage,
  { stranger }: Person,
  route: Route,
  run = target(route),
): Promise<Answered> {
  const id = route.path.startsWith("/v1/runs/") ? runs[run] : talk.id;
  const other = route.path.includes("/tenant/users/") || route.path.includes("/admin/tenants/");
  const path = route.path
    .replace("{id}", other ? "nobody-in-particular" : id)
    .replace("{userId}", encodeURIComponent(seats.find(({ role }) => role === "approver")?.userId ?? ""));
  const upgrade = path.endsWith("/stream") ? { upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1" } : {};
  const body =
    route.operation["x-command"] === "resume"
      ? { decisions: [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "reject" }] }
      : route.operation.requestBody?.content["application/json"]?.example;
  return stranger.ask(route.method, path, {
    ...(body === undefined ? {} : { body }),
    headers: { "idempotency-key": crypto.randomUUID(), "x-audit-reason": "a test", ...upgrade },
  });
}

/** What the table and the document say of it; null: it is let through, and answered for what it is. */
function expected({ role, started, scopes, trouble }: Person, route: Route, run = target(route)): string | null {
  const name = `${route.method} ${route.path}`;
  const { security } = route.operation;
  const command = route.operation["x-command"];
  if (trouble === "expired") return "401 token_expired";
  if (trouble === "revoked") return "401 unauthenticated";
  const [scope] = security[0]?.bearer ?? [];
  if (scope !== undefined && !scopes.includes(scope)) return "403 scope_missing";
  if (PLACELESS.test(name)) return null;
  const permission = command === undefined ? READS[name] : COMMAND_PERMISSION[command];
  if (!permission) throw new Error(`neither table nor test knows what ${name} needs`);
  if (role === null) return "404 not_found";
  const own = started === run && route.path.startsWith("/v1/runs/");
  const allowed = may(role, permission) || (own && WHO_MAY[permission].starter !== "no");
  // A new run needs what any new run needs.
  const starts = command !== "retry_run" || may(role, "start_runs");
  return allowed && starts ? null : "403 forbidden";
}

async function check(on: Stage, one: Person, route: Route, run = target(route)): Promise<void> {
  const { status, body } = await ask(on, one, route, run);
  const wanted = expected(one, route, run);
  const what = `${one.name}: ${route.method} ${route.path} (${run} run)`;
  const answered = `${status} ${String(body["code"])}`;
  const refused = wanted !== null || [401, 403, 404, 500].includes(status);
  expect([what, refused ? answered : "let through"]).toEqual([what, wanted ?? "let through"]);
}

const reads = ({ method, path }: Route) => method === "GET" || path.endsWith("/tickets");

async function outsiders(): Promise<Person[]> {
  const none = { role: null, started: null };
  const revoked = who("revoked");
  const gone = await person("a revoked sign-in", revoked, none, { scopes: [...ORDINARY, ...ADMINISTRATORS] });
  const admin = await signInTo(TENANT, "root", ["tenant:admin"]);
  for (const what of ["deactivate", "reactivate"]) {
    expect((await admin.ask("POST", `/v1/tenant/users/${revoked}/${what}`)).status).toBe(202);
  }
  return [
    await person("another tenant's user", who("foreign"), none, { tenant: "elsewhere" }),
    await person("another user", who("stranger"), none),
    await person("somebody without scopes", who("scopeless"), none, { scopes: [] }),
    { ...gone, trouble: "revoked" },
    await shortLived(),
  ];
}

async function shortLived(): Promise<Person> {
  const scopes = [...ORDINARY, ...ADMINISTRATORS];
  const userId = who("expired");
  const stranger = await signInTo(TENANT, userId, scopes, 1);
  await vi.waitFor(async () => expect((await stranger.ask("GET", "/v1/me")).status).toBe(401), { timeout: 5_000 });
  return { name: "an expired sign-in", userId, role: null, started: null, scopes, trouble: "expired", stranger };
}

test("whoever has no place, or no sign-in that counts, is refused everywhere, and nothing is touched", async () => {
  const on = await stage();
  const before = on.talk.events.length;
  const people = await outsiders();
  for (const route of routes) for (const one of people) await check(on, one, route);
  expect(on.talk.events).toHaveLength(before);
  expect(await on.talk.bookings()).toEqual([]);
});

test("each place is allowed what the table says, and refused the rest, which changes nothing", async () => {
  const on = await stage();
  const before = on.talk.events.length;
  const allowed: [route: Route, name: string, run: "active" | "queued"][] = [];
  for (const route of routes) {
    // Of a run the starter's rights count as well, so it is asked about both.
    const runs = route.path === "/v1/runs/{id}/cancel" ? (["active", "queued"] as const) : [target(route)];
    for (const one of on.seats) {
      for (const run of runs) {
        if (reads(route) || expected(one, route, run) !== null) await check(on, one, route, run);
        else allowed.push([route, one.name, run]);
      }
    }
  }
  expect(on.talk.events).toHaveLength(before);
  // What is let through may change the stage, so each has its own.
  expect(allowed.length).toBeGreaterThan(15);
  for (const [route, name, run] of allowed) {
    const fresh = await stage();
    const one = fresh.seats.find((seat) => seat.name === name);
    if (one) await check(fresh, one, route, run);
  }
}, 120_000);

test("a sign-in of the owner's with less than its scopes may do what is left of them", async () => {
  const on = await stage();
  for (const scopes of [[], ["conversations:read"], ["conversations:write"], ["confirmations:decide"]]) {
    const named = scopes.join() || "no scope";
    const one = await person(
      `the owner with ${named}`,
      on.talk.person.userId,
      { role: "owner", started: null },
      { scopes },
    );
    for (const route of routes) if (reads(route) || expected(one, route) !== null) await check(on, one, route);
  }
});
