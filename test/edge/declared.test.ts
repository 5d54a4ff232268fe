/** Every route, asked in ways that it ought to be and ways that it ought not: it answers what the document declares. */
import { describe, expect, it } from "vitest";
import { DEVELOPMENT_SCOPES } from "../../src/edge/development-route.ts";
import type { RouteDescription } from "../../src/edge/route.ts";
import { CONVERSATION, RUN } from "./support/edge.ts";
import { answerOf, check, nameOf, operationOf, table, world, type Members } from "./support/openapi.ts";

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
        const everything = { userId: "alice", scopes: [...DEVELOPMENT_SCOPES, ...(route.scope ? [route.scope] : [])] };
        const signed = { authorization: `Bearer ${await test.token(everything)}`, ...init };
        const answer = await test.call(route.method, path, signed);
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
