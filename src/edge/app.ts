/**
 * The edge, in this order: request id → access log → problem handler → CORS allow-list → sign-in → admission →
 * validation → handler. Routes come from the table; this file knows none of them.
 *
 * It must not let an exception, a stack or a cause out, and must not log what is not on its own list of fields.
 */
import { Hono, type Context } from "hono";
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type Rejection, type Result } from "../protocol/problems.ts";
import { checkScope } from "../protocol/scopes.ts";
import type { Lang } from "../protocol/texts.ts";
import { drain } from "./body.ts";
import { checkOrigin } from "./cors.ts";
import { withStandardHeaders } from "./headers.ts";
import { langFor } from "./language.ts";
import { macOf } from "./keys.ts";
import { pageCursors } from "./page-cursor.ts";
import type { EdgePorts } from "./ports.ts";
import { INTERNAL, problemResponse } from "./problems.ts";
import { requestContext, type SignedIn } from "./request-context.ts";
import type { Answered, EdgeServices, RawInput, Route } from "./route.ts";
import { routesOf } from "./routes.ts";
import { signInWith, type SignIn } from "./sign-in.ts";
import { ticketIn, tickets } from "./tickets.ts";
import { openTrace, type Trace } from "./trace.ts";

export interface Edge {
  fetch(request: Request): Promise<Response>;
}

/** What one request carries through Hono. */
interface Carried {
  Bindings: { readonly trace: Trace; readonly url: URL; readonly note: Note };
}
/** Filled on the way: for the access log, and the language for whoever answers. */
interface Note {
  lang: Lang;
  route: string;
  tenantId?: string;
  userId?: string;
  code?: string;
}

export function createEdge(ports: EdgePorts): Edge {
  const { settings, log, now } = ports;
  const edge: EdgeServices = {
    ...ports,
    cursors: pageCursors(settings.masterKey),
    conversationIds: macOf(settings.masterKey, "conversation-ids"),
    tickets: tickets(settings.masterKey),
  };
  // Called as a method of something else, the platform's fetch refuses.
  const outside: typeof fetch = ports.fetch ?? ((input, init) => fetch(input, init));
  const signIn = signInWith({ settings, log, now, fetch: outside });
  const app = mount(routesOf(edge), edge, signIn);

  return {
    async fetch(request) {
      const trace = openTrace(request, now());
      const note: Note = { lang: langFor(request, undefined), route: "none" };
      const url = new URL(request.url);
      const cors = checkOrigin(request, url, settings);
      let response: Response;
      try {
        response =
          cors.kind === "refused"
            ? refuse(cors.rejection, trace, note)
            : cors.kind === "preflight"
              ? new Response(null, { status: 204 })
              : await app.fetch(request, { trace, url, note });
      } catch (error) {
        response = accident(error, trace, note, log);
      }
      await drain(request.body);
      const { method } = request;
      const { status } = response;
      const { requestId, traceId } = trace;
      const { lang: _, ...noted } = note;
      log.info("request", { requestId, traceId, method, ...noted, status, ms: now() - trace.startedAt });
      return withStandardHeaders(response, trace, cors.headers, url.protocol === "https:");
    },
  };
}

function mount(routes: readonly Route[], edge: EdgeServices, signIn: SignIn): Hono<Carried> {
  const app = new Hono<Carried>();
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    app.on(route.method, route.path, (c) => serve(route, c, edge, signIn));
    methods.set(route.path, [...(methods.get(route.path) ?? []), route.method]);
  }
  for (const [path, known] of methods) {
    const allow = [...known, ...(known.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    app.all(path, (c) => {
      c.env.note.route = path;
      if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
      return refuse(reject("method_not_allowed", `This path takes ${allow}.`), c.env.trace, c.env.note, { allow });
    });
  }
  app.notFound((c) => refuse(reject("not_found", "There is no such route."), c.env.trace, c.env.note));
  app.onError((error, c) => accident(error, c.env.trace, c.env.note, edge.log));
  return app;
}

async function serve(route: Route, c: Context<Carried>, edge: EdgeServices, signIn: SignIn): Promise<Response> {
  const { trace, url, note } = c.env;
  note.route = route.path;
  const raw: RawInput = { request: c.req.raw, url, trace, params: c.req.param() };
  const answered = route.auth === "none" ? await route.run(raw, edge) : await serveUser(route, raw, edge, signIn, note);
  if (!answered.ok) return refuse(answered.rejection, trace, note);
  const { value } = answered;
  if ("response" in value) return value.response;
  const { status, body, headers = {} } = value;
  if (body === null) return new Response(null, { status, headers });
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

async function serveUser(
  route: Extract<Route, { auth: "user" }>,
  raw: RawInput,
  edge: EdgeServices,
  signIn: SignIn,
  note: Note,
): Promise<Answered> {
  const ticket = route.takesTicket && !raw.request.headers.has("authorization") ? ticketIn(raw.request.headers) : null;
  const signed =
    ticket === null ? await signIn(raw.request, raw.url, raw.trace) : await signInWithTicket(ticket, raw, edge);
  if (!signed.ok) return signed;
  const { ticket: used } = signed.value;
  const context = requestContext(signed.value, raw.trace, edge.settings.requestTimeoutMs);
  note.tenantId = context.tenantId;
  note.userId = context.userId;
  note.lang = langFor(raw.request, context.locale);
  const missing = checkScope(context, route.scope);
  const rejection = missing ?? (await edge.admit?.(context, route)) ?? null;
  // Whose sign-in counts no more is told that, and nothing about what it would have been good for.
  if (rejection !== null) return { ok: false, rejection: (missing && (await edge.standing?.(context))) ?? rejection };
  return whileStanding(route, edge, context, () => route.run(used ? { ...raw, ticket: used } : raw, edge, context));
}

/** A command's actor asks by itself. What only reads is read meanwhile; anything else begins with a good answer. */
async function whileStanding(
  route: Route,
  edge: EdgeServices,
  context: RequestContext,
  run: () => Promise<Answered>,
): Promise<Answered> {
  if (route.command !== null || !edge.standing) return run();
  const asked = edge.standing(context);
  const reads =
    route.method === "GET" && !route.takesTicket && route.types.every((type) => type === "application/json");
  if (!reads) {
    const rejection = await asked;
    return rejection === null ? run() : { ok: false, rejection };
  }
  const [rejection, answered] = await Promise.all([asked, run()]);
  return rejection === null ? answered : { ok: false, rejection };
}

async function signInWithTicket(ticket: string, raw: RawInput, edge: EdgeServices): Promise<Result<SignedIn>> {
  const { request, params } = raw;
  const place = { conversationId: params["id"] ?? "", origin: request.headers.get("origin"), now: edge.now() };
  const opened = await edge.tickets.open(ticket, place);
  if (!opened.ok) return opened;
  const { principal, signedInUntil, nonce, exp } = opened.value;
  return { ok: true, value: { principal, expiresAt: signedInUntil, ticket: { nonce, exp } } };
}

function refuse(rejection: Rejection, trace: Trace, note: Note, headers?: Readonly<Record<string, string>>): Response {
  note.code = rejection.code;
  return problemResponse(rejection, trace, note.lang, headers);
}

function accident(error: unknown, trace: Trace, note: Note, log: EdgePorts["log"]): Response {
  log.error("request_failed", error, { requestId: trace.requestId, traceId: trace.traceId, route: note.route });
  return refuse(INTERNAL, trace, note);
}
