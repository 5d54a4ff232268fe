/**
 * A route as data, and how its input becomes typed. The table of routes is what the app is mounted from and what the
 * OpenAPI document is generated from: nothing about a route may stand anywhere else.
 */
import * as z from "zod";
import type { CommandType } from "../protocol/commands.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type ProblemCode, type Result } from "../protocol/problems.ts";
import { chooseType, type MediaType } from "./accept.ts";
import { readAuditReason } from "./audit-reason.ts";
import { readJson } from "./body.ts";
import { readIdempotencyKey, type KeyUse } from "./idempotency-key.ts";
import type { PageCursors } from "./page-cursor.ts";
import type { EdgePorts } from "./ports.ts";
import { NOT_FOUND } from "./problems.ts";
import { readQuery } from "./query.ts";
import { fieldErrors } from "../protocol/schema-errors.ts";
import type { TicketUse, Tickets } from "./tickets.ts";
import type { Trace } from "./trace.ts";
import type { Mac } from "./keys.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The ports, and what is made of the settings once. */
export interface EdgeServices extends EdgePorts {
  readonly cursors: PageCursors;
  readonly conversationIds: Mac;
  readonly tickets: Tickets;
}

export interface Answer {
  readonly status: number;
  /** null: no content. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
/** A socket's handshake is the object's own response. */
export type Answered = Result<Answer | { readonly response: Response }>;

export interface RawInput {
  readonly request: Request;
  readonly url: URL;
  readonly trace: Trace;
  readonly params: Readonly<Record<string, string>>;
  /** The ticket that the caller signed in with; absent: with a token. */
  readonly ticket?: TicketUse;
}

interface Input<P, Q, B> {
  readonly request: Request;
  readonly trace: Trace;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly key: string | undefined;
  /** The one of the route's media types that the client prefers. */
  readonly type: MediaType;
}
export interface UserInput<P, Q, B> extends Input<P, Q, B> {
  readonly context: RequestContext;
  readonly ticket?: TicketUse;
  /** Why an administrator does this; empty where a route asks for none. */
  readonly reason: string;
}

export interface AnswerDescription {
  readonly description: string;
  /** Of the JSON; null: there is none. */
  readonly schema: z.ZodType | null;
  /** Of the JSON. */
  readonly example?: unknown;
  /** Where this answer is not given as JSON, or not only. */
  readonly types?: readonly MediaType[];
  /** Says where what was made is. */
  readonly location?: true;
}

/** What a reader of the API learns of a route. */
export interface RouteDescription {
  readonly method: Method;
  /** In Hono's notation, `:id`. */
  readonly path: string;
  readonly summary: string;
  readonly auth: "none" | "user";
  /** A ticket will do instead of a token. */
  readonly takesTicket: boolean;
  /** The scope that the edge asks for; null: none, or decided further in. */
  readonly scope: string | null;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** null: a body is not read. */
  readonly body: z.ZodType | null;
  readonly bodyOptional: boolean;
  readonly bodyExample: unknown;
  readonly key: KeyUse;
  /** What it sends to a conversation's actor, which then asks for itself whether the sign-in still counts. */
  readonly command: CommandType | null;
  /** `X-Audit-Reason` must say why. */
  readonly auditReason: boolean;
  /** What a success can be asked for as; the first one is given to whom does not say. */
  readonly types: readonly MediaType[];
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Beyond those that every route has. */
  readonly problems: readonly ProblemCode[];
}

export type Route = RouteDescription &
  (
    | { readonly auth: "none"; readonly run: (raw: RawInput, edge: EdgeServices) => Promise<Answered> }
    | {
        readonly auth: "user";
        readonly run: (raw: RawInput, edge: EdgeServices, context: RequestContext) => Promise<Answered>;
      }
  );

export const NONE = z.object({});

type Described =
  | "auth"
  | "takesTicket"
  | "params"
  | "query"
  | "body"
  | "bodyOptional"
  | "bodyExample"
  | "types"
  | "command"
  | "auditReason"
  | "problems";
type Spec<P, Q, B> = Omit<RouteDescription, Described> & {
  readonly params: z.ZodObject & z.ZodType<P>;
  readonly query: z.ZodObject & z.ZodType<Q>;
  readonly body: z.ZodType<B>;
  readonly bodyUse: "none" | "optional" | "required";
  readonly bodyExample?: unknown;
  readonly takesTicket?: true;
  readonly types?: readonly MediaType[];
  readonly command?: CommandType;
  readonly auditReason?: true;
  readonly problems?: readonly ProblemCode[];
};
const JSON_ONLY: readonly MediaType[] = ["application/json"];

export function userRoute<P, Q, B>(
  spec: Spec<P, Q, B> & { readonly handle: (input: UserInput<P, Q, B>, edge: EdgeServices) => Promise<Answered> },
): Route {
  return {
    ...describe(spec),
    auth: "user",
    run: async (raw, edge, context) => {
      const input = await readInput(spec, raw);
      if (!input.ok) return input;
      const { ticket } = raw;
      const reason = readAuditReason(raw.request.headers, spec.auditReason === true);
      if (!reason.ok) return reason;
      return spec.handle({ ...input.value, context, reason: reason.value, ...(ticket ? { ticket } : {}) }, edge);
    },
  };
}

export function publicRoute<P, Q, B>(
  spec: Spec<P, Q, B> & { readonly handle: (input: Input<P, Q, B>, edge: EdgeServices) => Promise<Answered> },
): Route {
  return {
    ...describe(spec),
    auth: "none",
    run: async (raw, edge) => {
      const input = await readInput(spec, raw);
      return input.ok ? spec.handle(input.value, edge) : input;
    },
  };
}

function describe<P, Q, B>(spec: Spec<P, Q, B>) {
  const { method, path, summary, scope, params, query, key, answers } = spec;
  return {
    method,
    path,
    summary,
    scope,
    params,
    query,
    key,
    answers,
    body: spec.bodyUse === "none" ? null : spec.body,
    bodyOptional: spec.bodyUse === "optional",
    bodyExample: spec.bodyExample,
    takesTicket: spec.takesTicket ?? false,
    types: spec.types ?? JSON_ONLY,
    command: spec.command ?? null,
    auditReason: spec.auditReason ?? false,
    problems: spec.problems ?? [],
  };
}

async function readInput<P, Q, B>(spec: Spec<P, Q, B>, raw: RawInput): Promise<Result<Input<P, Q, B>>> {
  const { request, trace } = raw;
  const { types = JSON_ONLY } = spec;
  const type = chooseType(request.headers.get("accept"), types);
  if (type === null) {
    return { ok: false, rejection: reject("not_acceptable", `The answer is ${types.join(" or ")}.`) };
  }
  const params = spec.params.safeParse(raw.params);
  if (!params.success) {
    const errors = fieldErrors(params.error);
    // An id of ours that cannot be one names nothing: the same answer as for one that is not there.
    if (errors.some(({ pointer }) => pointer === "/id")) return { ok: false, rejection: NOT_FOUND };
    return invalid("The path is not acceptable.", errors);
  }
  // Taken as it stands it would be another name's other spelling.
  if (!isEncodedWell(raw.url.pathname)) {
    return invalid("The path is not acceptable.", [{ pointer: "", detail: "must be UTF-8, percent-encoded" }]);
  }
  const query = readQuery(spec.query, raw.url);
  if (!query.ok) return query;
  const key = readIdempotencyKey(request.headers, spec.key);
  if (!key.ok) return key;
  const json: Result<unknown> =
    spec.bodyUse === "none"
      ? { ok: true, value: undefined }
      : await readJson(request, spec.bodyUse === "optional" ? {} : undefined);
  if (!json.ok) return json;
  const body = spec.body.safeParse(json.value);
  if (!body.success) return invalid("The body is not acceptable.", fieldErrors(body.error));
  return {
    ok: true,
    value: { request, trace, params: params.data, query: query.value, body: body.data, key: key.value, type },
  };
}

function isEncodedWell(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

const invalid = (detail: string, errors: ReturnType<typeof fieldErrors>): Result<never> => ({
  ok: false,
  rejection: reject("invalid_request", detail, { errors }),
});

export const NO_BODY = z.undefined();
export const ok = (status: number, body: unknown, headers?: Readonly<Record<string, string>>): Answered => ({
  ok: true,
  value: { status, body, ...(headers ? { headers } : {}) },
});
