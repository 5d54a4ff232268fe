#!/usr/bin/env node
/**
 * A fake business backend with a ledger: what tools call, and what tells afterwards how often something really happened.
 *
 * Faults are switched on per route: an error, silence, a slow commit, or the nastiest one, a commit whose answer is lost.
 * Once a request has been read, a client that leaves does not stop the booking; nor does it in a real backend.
 *
 *   node test/support/fake-backend.ts [--port N] [--api-key KEY] [--no-dedup]
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { createFaults, type Fault } from "./backend-faults.ts";
import { createLedger, reply, type Ledger } from "./backend-ledger.ts";
import { FORBIDDEN, UNAUTHORIZED, businessRoutes, type BusinessRoute } from "./backend-routes.ts";
import { outcomeOf, round, wait, watchExchange, type Watch } from "./exchange.ts";
import { act, listen, maskHeaders, readBody, sendJson, type Routes } from "./http-kit.ts";
import { BadRequest, isJsonObject, onlyKnown, readable, type JsonObject } from "./json.ts";
import { runAsProgram } from "./program.ts";
import { createTable, type Reply } from "./rdb-table.ts";

export type BackendOptions = {
  /** 0 (default) picks a free one. */
  readonly port?: number;
  /** Bearer token that the plans gateway wants. */
  readonly apiKey?: string;
  /** Whether `/transfer` honours `Idempotency-Key`. */
  readonly dedup?: boolean;
  /** Awaited when a request has been read, before anything comes of it. For rigs that kill its sender just then. */
  readonly onArrival?: (arrival: Arrival) => Promise<void> | void;
  /** Awaited when its effect has been booked, before the answer leaves. */
  readonly beforeAnswer?: (arrival: Arrival) => Promise<void> | void;
};

export type Arrival = { readonly method: string; readonly route: string; readonly idempotencyKey: string | null };

/** The functions do what the control routes of the same name do. */
export type FakeBackend = {
  readonly url: string;
  readonly port: number;
  readonly fault: (fault: Fault) => void;
  readonly config: (change: { readonly dedup: boolean }) => void;
  readonly ledger: () => ReturnType<Ledger["read"]>;
  readonly requests: (route?: string) => BackendRecord[];
  readonly stats: () => {
    inFlight: number;
    total: number;
    abortedByClient: number;
    dedup: boolean;
    faults: Fault[];
  };
  readonly reset: () => void;
  readonly close: () => Promise<void>;
};

type Entry = {
  readonly watch: Watch;
  /** The path. */
  readonly route: string;
  readonly method: string;
  readonly query: string;
  readonly headers: ReturnType<typeof maskHeaders>;
  readonly idempotencyKey: string | null;
  /** `X-User-Id`, else the `sub` of a bearer JWT; not verified. */
  readonly caller: string | null;
  readonly body: unknown;
  /** A body that is not JSON. */
  readonly bodyText: string | null;
  /** The fault that hit it. */
  fault: Fault["mode"] | null;
  /** Null when nothing was answered. */
  status: number | null;
  /** Whether it got as far as its effect. */
  committed: boolean;
};
/** A request as a test sees it. */
export type BackendRecord = ReturnType<typeof snapshot>;

const DEFAULT_TIMEOUT_MS = 600_000;

export async function startFakeBackend(options: BackendOptions = {}): Promise<FakeBackend> {
  const { port = 0, apiKey = "test-gateway-key", dedup = true } = options;
  const ledger = createLedger();
  const plans = createTable("plans");
  let dedups = dedup;
  const routes = businessRoutes(ledger, plans, () => dedups);
  const faults = createFaults([...routes.keys()]);
  let entries: Entry[] = [];
  /** Ends with each reset: a booking that was still to come is void then, or it would land in the next test's ledger. */
  let era = new AbortController();
  const live = new Set<Entry>();

  const serve = async (req: IncomingMessage, res: ServerResponse, url: URL, route: BusinessRoute): Promise<void> => {
    const watch = watchExchange(res);
    const eraOver = era.signal;
    const bytes = await readBody(req);
    if (bytes === null) return;
    const entry = openEntry(req, url, watch, bytes);
    entries.push(entry);
    live.add(entry);
    watch.signal.addEventListener("abort", () => live.delete(entry));
    await options.onArrival?.(entry);
    const send = (answer: Reply): void => {
      entry.status = answer.status;
      sendReply(res, answer);
    };

    const fault = faults.take(req.method ?? "", url.pathname, entry.body);
    entry.fault = fault?.mode ?? null;
    const refusal = refusalOf(fault);
    if (refusal !== undefined) return send(refusal);
    if (fault?.mode === "timeout") {
      await wait(fault.ms ?? DEFAULT_TIMEOUT_MS, watch.signal);
      return watch.destroy();
    }
    const prepared = route({
      by: entry,
      url,
      rawBody: entry.body,
      body: isJsonObject(entry.body) ? entry.body : {},
      headers: req.headers,
      authorized: req.headers.authorization === `Bearer ${apiKey}`,
    });
    if ("refused" in prepared) return send(prepared.refused);
    await wait(prepared.waitMs ?? 0, watch.signal);
    if (watch.signal.aborted) return;

    // From here on the client may leave without stopping the booking; only a reset does.
    const commitAt = fault?.mode === "delay" ? (fault.commitAt ?? 0) : 0;
    if (commitAt > 0) await wait(commitAt, eraOver);
    if (eraOver.aborted) return watch.destroy();
    const answer = prepared.commit();
    entry.committed = true;
    await options.beforeAnswer?.(entry);
    if (fault?.mode === "wrong_shape") return send(reply(200, { ok: "maybe" }));
    if (fault?.mode === "commit_then_drop") {
      if (fault.ms !== undefined) await wait(fault.ms, watch.signal);
      return watch.destroy();
    }
    if (fault?.mode === "delay") {
      await wait(Math.max(0, (fault.answerAt ?? fault.ms ?? commitAt) - commitAt), watch.signal);
    }
    if (!watch.signal.aborted) send(answer);
  };

  const config = (change: JsonObject): void => {
    onlyKnown(change, ["dedup"], "config");
    if (typeof change.dedup !== "boolean") throw new BadRequest("config: dedup must be true or false");
    dedups = change.dedup;
  };
  const requests = (route?: string): BackendRecord[] =>
    entries.filter((entry) => route === undefined || entry.route === route).map(snapshot);
  const stats: FakeBackend["stats"] = () => ({
    inFlight: live.size,
    total: entries.length,
    abortedByClient: entries.filter(({ watch }) => watch.endedBy === "client").length,
    dedup: dedups,
    faults: faults.list(),
  });
  const reset = (): void => {
    era.abort();
    era = new AbortController();
    for (const entry of live) entry.watch.destroy();
    plans.clear();
    ledger.clear();
    faults.clear();
    entries = [];
    dedups = dedup;
  };

  const control: Routes = {
    "POST /__fault": act(faults.add),
    "POST /__config": act(config),
    "POST /__reset": act(reset),
    "GET /__ledger": (_req, res) => sendJson(res, 200, ledger.read()),
    "GET /__requests": (_req, res, url) => sendJson(res, 200, requests(url.searchParams.get("route") ?? undefined)),
    "GET /__stats": (_req, res) => sendJson(res, 200, stats()),
  };
  const server = await listen((req, res, url) => {
    const name = `${req.method} ${url.pathname}`;
    const own = control[name];
    if (own !== undefined) return own(req, res, url);
    const route = routes.get(name);
    if (route !== undefined) return serve(req, res, url, route);
    const known = [...routes.keys()].some((one) => one.endsWith(` ${url.pathname}`));
    const code = known ? "METHOD_NOT_ALLOWED" : "NOT_FOUND";
    return sendJson(res, known ? 405 : 404, { code, message: `no route ${name}` });
  }, port);

  return {
    url: server.url,
    port: server.port,
    fault: (fault) => faults.add({ ...fault }),
    config: (change) => config({ ...change }),
    ledger: ledger.read,
    requests,
    stats,
    reset,
    close: () => {
      era.abort();
      return server.close();
    },
  };
}

/** What a fault answers instead of doing anything. */
function refusalOf(fault: Fault | undefined): Reply | undefined {
  switch (fault?.mode) {
    case "500":
      return reply(500, { code: "INTERNAL", message: "scripted failure" });
    case "401":
      return UNAUTHORIZED;
    case "403":
      return FORBIDDEN;
    case "empty_success":
      return reply(200, []);
    default:
      return undefined;
  }
}

function sendReply(res: ServerResponse, { status, body, headers }: Reply): void {
  if (body !== undefined) return sendJson(res, status, body, headers);
  res.writeHead(status, { "content-length": "0", ...headers });
  res.end();
}

function openEntry(req: IncomingMessage, url: URL, watch: Watch, bytes: Buffer): Entry {
  return {
    watch,
    route: url.pathname,
    method: req.method ?? "",
    query: url.search,
    headers: maskHeaders(req.headers),
    idempotencyKey: keyOf(req),
    caller: callerOf(req),
    ...readable(bytes.toString("utf8")),
    fault: null,
    status: null,
    committed: false,
  };
}

/** Bare or quoted: one key. */
function keyOf(req: IncomingMessage): string | null {
  const key = req.headers["idempotency-key"];
  return typeof key === "string" ? (/^"(.*)"$/.exec(key)?.[1] ?? key) : null;
}

function callerOf(req: IncomingMessage): string | null {
  const named = req.headers["x-user-id"];
  if (typeof named === "string" && named !== "") return named;
  const payload = /^Bearer [\w-]+\.([\w-]+)\.[\w-]*$/i.exec(req.headers.authorization ?? "")?.[1];
  const { body } = readable(Buffer.from(payload ?? "", "base64url").toString("utf8"));
  return isJsonObject(body) && typeof body.sub === "string" ? body.sub : null;
}

function snapshot({ watch, ...entry }: Entry) {
  return structuredClone({
    ...entry,
    at: new Date(watch.atMs).toISOString(),
    atMs: round(watch.atMs),
    ...outcomeOf(watch),
  });
}

await runAsProgram(import.meta.url, () => {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      "api-key": { type: "string", default: "test-gateway-key" },
      "no-dedup": { type: "boolean", default: false },
    },
  });
  return startFakeBackend({ port: Number(values.port), apiKey: values["api-key"], dedup: !values["no-dedup"] });
});
