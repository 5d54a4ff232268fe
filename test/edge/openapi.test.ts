import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Actor } from "../../src/edge/ports.ts";
import { problemsOf } from "../../src/edge/reference/declared-problems.ts";
import { EXAMPLES } from "../../src/edge/reference/examples.ts";
import type { RouteDescription } from "../../src/edge/route.ts";
import { routesOf } from "../../src/edge/routes.ts";
import { readSettings } from "../../src/edge/settings.ts";
import { PROBLEMS, Problem, reject, type ProblemCode } from "../../src/protocol/problems.ts";
import { CONVERSATION, DEVELOPMENT, emptyActor, emptyHistory, NOW, RUN, testEdge } from "./support/edge.ts";

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
type Members = { [member: string]: Json };
interface Answer {
  description: string;
  content?: Record<string, { schema: Members; example?: Json; examples?: Members }>;
}
interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Members[];
  parameters: { name: string; in: string; required: boolean; schema: Members }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Members; example: Json }> };
  responses: Record<string, Answer | { $ref: string }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Members>;
}

const optional = { history: emptyHistory, agents: async () => [] };
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const table = routesOf({
  settings: readSettings(DEVELOPMENT),
  actor: async () => emptyActor,
  log: quiet,
  now: () => NOW,
  ...optional,
});
/** Knows nothing, but lets a conversation be made. */
const actor: Actor = {
  ...emptyActor,
  command: async (_, { command }) =>
    command.type === "create_conversation"
      ? { ok: true, value: { status: 201, body: EXAMPLES.conversation, replayed: false } }
      : { ok: false, rejection: reject("not_found", "no") },
};
const world = () => testEdge(actor, optional);

async function read<T>(path: string): Promise<T> {
  const answer = await world().call("GET", path, { authorization: null });
  expect(answer.headers.get("content-type")).toBe("application/json");
  return (await answer.json()) as T;
}
const document = await read<Document>("/v1/openapi.json");

const pathIn = (route: RouteDescription) => route.path.replaceAll(/:(\w+)/g, "{$1}");
const nameOf = ({ method, path }: RouteDescription) => `${method} ${path}`;
const operationOf = (route: RouteDescription): Operation => {
  const found = document.paths[pathIn(route)]?.[route.method.toLowerCase()];
  if (!found) throw new Error(`${nameOf(route)} is not documented`);
  return found;
};
const pointed = (ref: string): Json =>
  ref
    .slice(2)
    .split("/")
    .reduce<Json>((value, step) => (value as Members)[step] ?? null, document as unknown as Json);
const answerOf = (operation: Operation, status: string): Answer | null => {
  const answer = operation.responses[status];
  return answer === undefined ? null : "$ref" in answer ? (pointed(answer.$ref) as unknown as Answer) : answer;
};

/** Every `$ref` anywhere in a value. */
function refsIn(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(refsIn);
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string" ? [member] : refsIn(member),
  );
}

/** By the document's own schema, not by the zod schema that it was made from. */
function check(schema: Members, value: Json): void {
  const local = (text: string) => text.replaceAll("#/components/schemas/", "#/$defs/");
  const $defs = document.components["schemas"] ?? {};
  const whole = JSON.parse(local(JSON.stringify({ ...schema, $defs }))) as Parameters<typeof z.fromJSONSchema>[0];
  z.fromJSONSchema(whole).parse(value);
}

describe("the OpenAPI document", () => {
  it("has every route of the service, and no other", () => {
    expect(document.openapi).toBe("3.1.0");
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.toSorted()).toEqual(table.map((route) => `${route.method} ${pathIn(route)}`).toSorted());
  });

  it("refers to nothing that it does not have", () => {
    const refs = new Set(refsIn(document as unknown as Json));
    expect(refs.size).toBeGreaterThan(50);
    for (const ref of refs) expect(pointed(ref), ref).not.toBeNull();
  });

  it("names each operation once", () => {
    const ids = table.map((route) => operationOf(route).operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
  });

  it.each(table.map((route) => [nameOf(route), route] as const))("describes %s whole", (_, route) => {
    const operation = operationOf(route);
    expect(operation.summary.length).toBeGreaterThan(5);
    expect(operation.security).toEqual(
      route.auth === "none" ? [] : [{ bearer: route.scope === null ? [] : [route.scope] }],
    );
    const inPath = operation.parameters.filter((one) => one.in === "path").map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(pathIn(route).match(/\{\w+\}/g) ?? []);
    for (const parameter of operation.parameters) expect(Object.keys(parameter.schema)).not.toEqual([]);
    expect(operation.requestBody === undefined).toBe(route.body === null);
    for (const status of Object.keys(route.answers)) {
      const answer = answerOf(operation, status);
      const types = Object.keys(answer?.content ?? {});
      expect(types).toEqual(typesOf(route, Number(status)));
    }
    for (const code of problemsOf(route)) {
      const answer = answerOf(operation, String(PROBLEMS[code].status));
      const problem = answer?.content?.["application/problem+json"];
      expect(problem?.examples, code).toHaveProperty(code);
      expect(answer?.description).toContain(`\`${code}\``);
    }
  });

  const typesOf = ({ answers }: RouteDescription, status: number) => {
    const { schema, types = ["application/json"] } = answers[status] ?? { schema: null };
    return types.filter((type) => type !== "application/json" || schema !== null);
  };

  it.each(table.map((route) => [nameOf(route), route] as const))("gives examples of %s that are valid", (_, route) => {
    const operation = operationOf(route);
    const body = operation.requestBody?.content["application/json"];
    route.body?.parse(body?.example);
    if (body) check(body.schema, body.example);
    for (const [status, answer] of Object.entries(route.answers)) {
      if (answer.schema === null) continue;
      const shown = answerOf(operation, status)?.content?.["application/json"];
      if (shown?.example === undefined) throw new Error(`${nameOf(route)} ${status} has no example`);
      answer.schema.parse(shown.example);
      check(shown.schema, shown.example);
    }
  });

  it("gives an example of each problem, which is one", () => {
    const examples = document.components["examples"] ?? {};
    const declared = new Set(table.flatMap(problemsOf));
    expect(Object.keys(examples).toSorted()).toEqual([...declared].toSorted());
    for (const [code, example] of Object.entries(examples)) {
      const { value } = example as { value: Json };
      expect(Problem.parse(value)).toMatchObject({ code, status: PROBLEMS[code as ProblemCode].status });
      check({ $ref: "#/components/schemas/Problem" }, value);
    }
  });

  it("shows what comes in as strict as it is checked, and what goes out open", () => {
    const start = operationOf(
      table.find(({ path, method }) => path.endsWith("/:id/runs") && method === "POST") ?? missing(),
    );
    expect(start.requestBody?.content["application/json"]?.schema).toMatchObject({ additionalProperties: false });
    const closed = Object.entries(document.components["schemas"] ?? {}).filter(
      ([, schema]) => (schema as Members)["additionalProperties"] === false,
    );
    expect(closed).toEqual([]);
  });
  const missing = (): never => {
    throw new Error("no such route");
  };

  it("is made once, and kept by whoever wants to keep it for a while", async () => {
    const test = world();
    const answers = [await test.call("GET", "/v1/openapi.json"), await test.call("GET", "/v1/openapi.json")];
    const [first, second] = await Promise.all(answers.map((answer) => answer.text()));
    expect(first).toBe(second);
    expect(answers[0]?.headers.get("cache-control")).toBe("public, max-age=300");
  });
});

/** What a careless client sends to a route, beside what it ought to. */
const concrete = (path: string) =>
  path.replace("runs/:id", `runs/${RUN}`).replace(":id", CONVERSATION).replace(":userId", "bob");

describe("each route", () => {
  const careless = (route: RouteDescription) => {
    const path = concrete(route.path);
    const body = { "content-type": "application/json" };
    const post = route.method === "GET" ? {} : { headers: { ...body, "idempotency-key": "k" } };
    return [
      ["without a token", path, { authorization: null }],
      ["with a token that is none", path, { authorization: "Bearer x" }],
      ["with a token in the URL", `${path}?access_token=x`, {}],
      ["from a foreign page", path, { headers: { origin: "https://evil.test" } }],
      ["for pictures", path, { headers: { accept: "image/png" } }],
      ["for a stream", path, { ...post, headers: { ...post.headers, accept: "text/event-stream" } }],
      ["with a bad id", path.replace(CONVERSATION, "x"), post],
      ["with a bad cursor", `${path}?cursor=x&after=x`, post],
      ["with a bad limit", `${path}?limit=0&order=up`, post],
      [
        "with a bad key",
        path,
        { headers: { ...body, "idempotency-key": "a b" }, ...(route.method === "GET" ? {} : { body: "{}" }) },
      ],
      ["with nothing", path, {}],
      ...(route.method === "GET"
        ? []
        : ([
            ["with half a body", path, { ...post, body: "{" }],
            [
              "with a body of text",
              path,
              { body: "{}", headers: { "content-type": "text/plain", "idempotency-key": "k" } },
            ],
            ["with a strange member", path, { ...post, body: '{"strange":1}' }],
            ["with too much", path, { ...post, body: `"${"x".repeat(300_000)}"` }],
            ["as it should be", path, { ...post, body: JSON.stringify(route.bodyExample ?? {}) }],
          ] as const)),
    ] as const;
  };

  it.each(table.map((route) => [nameOf(route), route] as const))(
    "%s answers what it declares, whatever comes",
    async (_, route) => {
      const operation = operationOf(route);
      const seen = new Set<number>();
      for (const [what, path, init] of careless(route)) {
        const test = world();
        const answer = await test.call(route.method, path, init);
        const told = answerOf(operation, String(answer.status));
        expect(told, `${what}: ${answer.status}`).not.toBeNull();
        seen.add(answer.status);
        const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
        expect(answer.status === 204 ? [""] : Object.keys(told?.content ?? {}), what).toContain(type);
        if (type !== "application/problem+json") continue;
        const problem = (await answer.json()) as Members;
        check(told?.content?.[type]?.schema ?? {}, problem);
        expect(problem["status"]).toBe(answer.status);
      }
      const must = [
        ...(route.auth === "user" ? [401, 403, 406] : []),
        ...(route.body === null ? [] : [400, 413, 415, 422]),
      ];
      expect(must.filter((status) => !seen.has(status))).toEqual([]);
    },
  );

  it.each(table.map((route) => [nameOf(route), route] as const))(
    "%s has neighbours that are refused",
    async (_, route) => {
      const path = concrete(route.path);
      const known = table.filter((one) => one.path === route.path).map(({ method }) => method as string);
      const other = ["GET", "POST", "PUT", "PATCH", "DELETE"].find((method) => !known.includes(method)) ?? "";
      const answer = await world().call(other, path);
      expect(answer.status).toBe(405);
      for (const method of known) expect(answer.headers.get("allow")).toContain(method);
    },
  );
});

describe("the schemas of events", () => {
  it("have every type of event, with its data, and every frame", async () => {
    const schemas = await read<{ $ref: string; $defs: Members }>("/v1/events.schema.json");
    const { EVENT_DATA } = await import("../../src/protocol/events.ts");
    const types = Object.keys(schemas.$defs).filter((name) => name.startsWith("Event."));
    expect(types.toSorted()).toEqual(
      Object.keys(EVENT_DATA)
        .map((type) => `Event.${type}`)
        .toSorted(),
    );
    const event = EXAMPLE_EVENT;
    const whole = schemas as unknown as Parameters<typeof z.fromJSONSchema>[0];
    z.fromJSONSchema(whole).parse(event);
    expect(z.fromJSONSchema(whole).safeParse({ ...event, data: {} }).success).toBe(false);
    expect(z.fromJSONSchema(whole).safeParse({ ...event, type: "run.exploded" }).success).toBe(false);
    for (const frame of [
      { type: "delta", messageId: `${CONVERSATION}.m1`, attempt: 1, part: 0, offset: 0, text: "a" },
      { type: "event", cursor: "abcdefgh.1", event },
    ]) {
      z.fromJSONSchema({ ...schemas, $ref: "#/$defs/ServerFrame" } as unknown as Parameters<
        typeof z.fromJSONSchema
      >[0]).parse(frame);
    }
    for (const ref of refsIn(schemas as unknown as Json)) expect(schemas.$defs, ref).toHaveProperty([ref.slice(8)]);
  });

  const EXAMPLE_EVENT = {
    seq: 5,
    v: 1,
    type: "step.superseded",
    at: "2026-11-29T12:00:00.000Z",
    runId: RUN,
    by: { kind: "system" },
    data: { n: 1, attempt: 1, reason: "interrupted", incarnation: 2 },
  };
});
