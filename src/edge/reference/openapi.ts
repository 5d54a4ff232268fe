/**
 * The OpenAPI 3.1 document, made of the table of routes and of the schemas that requests are checked with. It knows
 * nothing of its own about any route, so it cannot disagree with what the service does.
 */
import { PROBLEMS, Problem, problemOf, reject, type ProblemCode } from "../../protocol/problems.ts";
import { PROTOCOL_VERSION } from "../../protocol/version.ts";
import type { AnswerDescription, RouteDescription } from "../route.ts";
import { problemsOf } from "./declared-problems.ts";
import { Schemas, type JsonSchema, type Wanted } from "./schemas.ts";

const DESCRIPTION = `Runs AI-agent conversations, and holds before every act that needs a person's yes.

Every refusal is an RFC 9457 problem with a stable \`code\`. A path that exists with another method answers 405
\`method_not_allowed\` and \`Allow\`. Events and socket frames are described in \`/v1/events.schema.json\`. What goes out
may gain members: ignore those that you do not know.`;

/** In the order of the table. */
export function openApi(routes: readonly RouteDescription[]): JsonSchema {
  const schemas = new Schemas("#/components/schemas/", wantedBy(routes));
  const refusals: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas, refusals) };
  }
  return {
    openapi: "3.1.0",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: { title: "Holdpoint", version: `${PROTOCOL_VERSION}.0.0`, description: DESCRIPTION },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas.named).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses: refusals,
      examples: problemExamples(routes),
      headers: HEADERS,
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
}

/** What a page groups by: the first segment, where there is a collection behind it. */
function tagOf(path: string): string {
  const first = /^\/v1\/([a-z]+)$|^\/v1\/([a-z]+)\//.exec(path);
  const name = first?.[1] ?? first?.[2];
  return name === undefined || name === "me" ? "service" : name;
}

function operation(route: RouteDescription, schemas: Schemas, refusals: Record<string, JsonSchema>): JsonSchema {
  const { method, path, summary, auth, scope, body, bodyOptional, bodyExample, takesTicket, command } = route;
  return {
    operationId: operationId(method, path),
    tags: [tagOf(path)],
    summary,
    ...(takesTicket ? { description: TICKET } : {}),
    security: auth === "none" ? [] : [{ bearer: scope === null ? [] : [scope] }],
    // What the sender's place must allow stands in the table of docs/protocol.md, by this name.
    ...(command === null ? {} : { "x-command": command }),
    parameters: parameters(route, schemas),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: !bodyOptional,
            content: { "application/json": { schema: schemas.of(body, "input"), example: bodyExample } },
          },
        }),
    responses: responses(route, schemas, refusals),
  };
}

const TICKET = "Signed in with a bearer token or, from a browser, with a ticket among the offered subprotocols.";

const operationId = (method: string, path: string): string =>
  [
    method.toLowerCase(),
    ...(path === "/" ? ["root"] : path.split(/[^A-Za-z0-9]+/).filter((part) => !/^(v1)?$/.test(part))),
  ]
    .map((part, at) => (at === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1)))
    .join("");

function parameters({ params, query, key, types, auditReason }: RouteDescription, schemas: Schemas): JsonSchema[] {
  const of = (place: "path" | "query", shape: RouteDescription["params"]) => {
    const { properties = {}, required = [] } = schemas.of(shape, "input") as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      in: place,
      required: place === "path" || required.includes(name),
      schema,
    }));
  };
  const text = (name: string, required: boolean, description: string, more: JsonSchema = {}) => ({
    name,
    in: "header",
    required,
    description,
    schema: { type: "string", ...more },
  });
  const keyed = { minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" };
  return [
    ...of("path", params),
    ...of("query", query),
    ...(key === "none"
      ? []
      : [text("Idempotency-Key", key === "required", "One click, one key: the same request again acts once.", keyed)]),
    ...(auditReason
      ? [text("X-Audit-Reason", true, "Why: kept with who did it.", { minLength: 1, maxLength: 500 })]
      : []),
    ...(types.includes("text/event-stream")
      ? [text("Last-Event-ID", false, "Of a stream: the cursor to go on from. It wins over `after`.")]
      : []),
  ];
}

const wantedBy = (routes: readonly RouteDescription[]): Wanted => ({
  input: routes.flatMap(({ params, query, body }) => [params, query, ...(body ? [body] : [])]),
  output: [Problem, ...routes.flatMap(({ answers }) => Object.values(answers).flatMap(({ schema }) => schema ?? []))],
});

/** @param refusals equal ones are written once, and referred to */
function responses(route: RouteDescription, schemas: Schemas, refusals: Record<string, JsonSchema>): JsonSchema {
  const answers = Object.entries(route.answers).map(
    ([status, answer]) => [status, success(answer, route, schemas)] as const,
  );
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(route)) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const problems = [...byStatus].map(([status, codes]) => {
    const name = `${status}.${codes.toSorted().join(".")}`;
    refusals[name] ??= refusal(status, codes.toSorted());
    return [String(status), { $ref: `#/components/responses/${name}` }] as const;
  });
  return Object.fromEntries([...answers, ...problems].toSorted(([a], [b]) => Number(a) - Number(b)));
}

function success(answer: AnswerDescription, { key, command }: RouteDescription, schemas: Schemas): JsonSchema {
  const { description, schema, example, types = ["application/json"], location } = answer;
  const content: Record<string, JsonSchema> = {};
  for (const type of types) {
    if (type !== "application/json") content[type] = { schema: { type: "string" } };
    else if (schema !== null) content[type] = { schema: schemas.of(schema, "output"), example };
  }
  return {
    description,
    headers: headers(
      "X-Request-Id",
      ...(location === true ? ["Location"] : []),
      ...(key === "none" ? [] : ["Idempotency-Replayed"]),
      ...(command === null ? [] : ["RateLimit", "RateLimit-Policy"]),
    ),
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}

function refusal(status: number, codes: readonly ProblemCode[]): JsonSchema {
  const own =
    { 401: ["WWW-Authenticate"], 429: ["Retry-After", "RateLimit", "RateLimit-Policy"], 503: ["Retry-After"] }[
      status
    ] ?? [];
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
    headers: headers("X-Request-Id", ...own),
    content: {
      "application/problem+json": {
        schema: {
          allOf: [{ $ref: "#/components/schemas/Problem" }, { properties: { code: { enum: codes } } }],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function problemExamples(routes: readonly RouteDescription[]): JsonSchema {
  const codes = [...new Set(routes.flatMap(problemsOf))].toSorted();
  const requestId = "7a8f6f0e-4f5b-4b43-9a5e-0a4e9d0f3c11";
  return Object.fromEntries(
    codes.map((code) => [code, { value: problemOf(reject(code, `${PROBLEMS[code].title}.`), requestId) }]),
  );
}

const header = (description: string) => ({ description, schema: { type: "string" } });
const HEADERS = {
  "X-Request-Id": header("Finds the request in the service's log."),
  Location: header("Of what was made."),
  "Idempotency-Replayed": header("`true`: an earlier request with this key was answered so."),
  "Retry-After": header("Seconds."),
  RateLimit: header("What is left of a limit, and in how many seconds all of it is back."),
  "RateLimit-Policy": header("The limit: how many in how many seconds."),
  "WWW-Authenticate": header("The scheme, and what is wrong with the credential."),
};
const headers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
