import { describe, expect, it } from "vitest";
import * as z from "zod";
import { problemsOf } from "../../src/edge/reference/declared-problems.ts";
import type { RouteDescription } from "../../src/edge/route.ts";
import { EVENT_DATA } from "../../src/protocol/events.ts";
import { PROBLEMS, Problem, type ProblemCode } from "../../src/protocol/problems.ts";
import { CONVERSATION, RUN } from "./support/edge.ts";
import {
  answerOf,
  check,
  document,
  nameOf,
  operationOf,
  pathIn,
  pointed,
  read,
  refsIn,
  table,
  world,
  type Json,
  type Members,
} from "./support/openapi.ts";

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

describe("the schemas of events", () => {
  it("have every type of event, with its data, and every frame", async () => {
    const schemas = await read<{ $ref: string; $defs: Members }>("/v1/events.schema.json");
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
