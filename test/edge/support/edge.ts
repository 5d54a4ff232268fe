/** An edge in plain Node, with a clock to turn, a log to read and actors to script. */
import { createEdge, type Edge } from "../../../src/edge/app.ts";
import type { Actor, EdgePorts, HistoryReader, RestoreDoor, StandingDoor } from "../../../src/edge/ports.ts";
import { problemsOf } from "../../../src/edge/reference/declared-problems.ts";
import type { RouteDescription } from "../../../src/edge/route.ts";
import { routesOf } from "../../../src/edge/routes.ts";
import { readSettings } from "../../../src/edge/settings.ts";
import { reject } from "../../../src/protocol/problems.ts";
import type { CommandRequest } from "../../../src/protocol/rpc.ts";
import type { RequestContext } from "../../../src/protocol/principal.ts";

export const NOW = Date.UTC(2026, 10, 29, 12);
export const BASE = "https://holdpoint.test";
export const CONVERSATION = "0123456789abcdefghjkmnpqrs";
export const RUN = `${CONVERSATION}.r1`;
const NOT_FOUND = reject("not_found", "There is no such thing, or it is not yours.");

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** Refuses everything until a test says otherwise. */
export const emptyActor: Actor = {
  command: async () => ({ ok: false, rejection: NOT_FOUND }),
  snapshot: async () => ({ ok: false, rejection: NOT_FOUND }),
  run: async () => ({ ok: false, rejection: NOT_FOUND }),
  runs: async () => ({ ok: false, rejection: NOT_FOUND }),
  messages: async () => ({ ok: false, rejection: NOT_FOUND }),
  events: async () => ({ ok: false, rejection: NOT_FOUND }),
  fetch: async () => new Response(null, { status: 404 }),
};

/** Knows nothing until a test says otherwise. */
export const emptyHistory: HistoryReader = {
  list: async () => ({ ok: true, value: { data: [], nextCursor: null } }),
  confirmations: async () => ({ ok: true, value: { data: [], nextCursor: null } }),
  messages: async () => null,
  usage: async (tenantId, { from, to }) => ({
    tenantId,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    agents: [],
    lagMs: 0,
    crossings: [],
  }),
};

/** Everybody counts, whatever is changed. */
export const emptyTenants: StandingDoor = {
  user: async (tenantId, userId) => ({ tenantId, userId, state: "active" }),
  tenant: async (tenantId) => ({ tenantId, state: "active", paused: false }),
  changeUser: async (_what, _by, tenantId, userId) => ({ tenantId, userId, state: "active" }),
  changeTenant: async (_what, _by, tenantId) => ({ tenantId, state: "active", paused: false }),
};

export const emptyRestore: RestoreDoor = {
  candidates: async () => [],
  named: async () => emptyRestore.byId(""),
  byId: (objectId) => ({ objectId, restore: async () => ({ kind: "empty" }) }),
};

/** An actor that keeps what it was told and answers `null` bodies. */
export function recordingActor() {
  const commands: { context: RequestContext; request: CommandRequest }[] = [];
  const actor: Actor = {
    ...emptyActor,
    command: async (context, request) => {
      commands.push({ context, request });
      return { ok: true, value: { status: 202, body: null, replayed: false } };
    },
  };
  return { actor, commands };
}

export interface TestEdge {
  readonly edge: Edge;
  readonly log: LogLine[];
  readonly asked: { tenantId: string; conversationId: string }[];
  readonly clock: { now: number };
  readonly token: (who?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** With a fresh development token unless `authorization` is given (null: none). */
  readonly call: (method: string, path: string, init?: CallInit) => Promise<Response>;
}
export interface CallInit {
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string | null;
}

export const DEVELOPMENT = { ENVIRONMENT: "development", DEV_SIGN_IN: "on", ALLOWED_ORIGINS: "https://app.test" };

export function testEdge(
  actor: Actor | ((conversationId: string) => Actor) = emptyActor,
  { env = DEVELOPMENT, ...ports }: Partial<EdgePorts> & { readonly env?: Record<string, string> } = {},
): TestEdge {
  const log: LogLine[] = [];
  const asked: { tenantId: string; conversationId: string }[] = [];
  const clock = { now: NOW };
  const all: EdgePorts = {
    settings: readSettings(env),
    actor: async ({ id }, conversationId) => {
      asked.push({ tenantId: id, conversationId });
      return typeof actor === "function" ? actor(conversationId) : actor;
    },
    log: {
      info: (event, fields = {}) => void log.push({ level: "info", event, fields }),
      warn: (event, fields = {}) => void log.push({ level: "warn", event, fields }),
      error: (event, error, fields = {}) => void log.push({ level: "error", event, error, fields }),
    },
    now: () => clock.now,
    fetch: async () => {
      throw new Error("no network in this test");
    },
    ...ports,
  };
  const edge = createEdge(all);
  const table = routesOf(all);
  const token: TestEdge["token"] = async (who = { userId: "alice" }) => {
    const answer = await edge.fetch(
      new Request(`${BASE}/dev/token`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(who),
      }),
    );
    const body: unknown = await answer.json();
    if (typeof body !== "object" || body === null || !("token" in body) || typeof body.token !== "string") {
      throw new Error(`no token: ${JSON.stringify(body)}`);
    }
    return body.token;
  };
  const call: TestEdge["call"] = async (method, path, { json, body, headers, authorization } = {}) => {
    const signed = authorization === undefined ? `Bearer ${await token()}` : authorization;
    const answer = await edge.fetch(
      new Request(BASE + path, {
        method,
        headers: {
          ...(signed === null ? {} : { authorization: signed }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...(body === undefined ? {} : { body, duplex: "half" }),
      }),
    );
    checkDeclared(table, method, log.at(-1));
    return answer;
  };
  return { edge, log, asked, clock, token, call };
}

/** Whatever a test is about: a problem that a route's description does not have is a promise broken. */
function checkDeclared(table: readonly RouteDescription[], method: string, line: LogLine | undefined): void {
  const { route: path, code } = line?.fields ?? {};
  const asked = method === "HEAD" ? "GET" : method;
  const route = table.find((one) => one.path === path && one.method === asked);
  if (route === undefined || code === undefined || problemsOf(route).some((declared) => declared === code)) return;
  throw new Error(`${method} ${String(path)} answers ${String(code)}, which its description does not have`);
}

export interface ProblemBody {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  readonly errors?: { pointer: string; detail: string }[];
  readonly [extension: string]: unknown;
}

/** The problem of a response, having checked that it is one in form. */
export async function problemIn(response: Response): Promise<ProblemBody> {
  if (response.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`not a problem: ${response.status} ${await response.text()}`);
  }
  const body = (await response.json()) as ProblemBody;
  if (body.status !== response.status || body.requestId !== response.headers.get("x-request-id")) {
    throw new Error(`a problem that contradicts its response: ${JSON.stringify(body)}`);
  }
  return body;
}
