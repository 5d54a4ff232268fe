import { describe, expect, it } from "vitest";
import { RUNS } from "./support/bad-requests.ts";
import { BASE, CONVERSATION, testEdge } from "./support/edge.ts";

describe("every response", () => {
  it("has an id of its own, which the caller cannot choose, and the standard headers", async () => {
    const test = testEdge();
    const seen = new Set<string>();
    for (const path of ["/", "/healthz", "/v1/me", "/v1/nothing", RUNS]) {
      const { headers } = await test.call("GET", path, { headers: { "x-request-id": "mine" } });
      const id = headers.get("x-request-id") ?? "";
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      seen.add(id);
      expect(Object.fromEntries(headers)).toMatchObject({
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "strict-transport-security": "max-age=31536000",
        vary: "Origin",
      });
    }
    expect(seen.size).toBe(5);
    const plain = await test.edge.fetch(new Request(BASE.replace("https", "http")));
    expect(plain.headers.has("strict-transport-security")).toBe(false);
  });

  it("leaves one line in the access log, with the route and without what the client wrote", async () => {
    const test = testEdge();
    await test.call("GET", `/v1/conversations/${CONVERSATION}?canary=1`, {
      headers: { "user-agent": "canary\u001b[31m" },
    });
    await test.call("GET", "/v1/canary");
    const lines = test.log.map(({ fields }) => fields).filter(({ method }) => method === "GET");
    expect(lines.slice(-2)).toMatchObject([
      {
        route: "/v1/conversations/:id",
        method: "GET",
        status: 404,
        code: "not_found",
        tenantId: "development",
        userId: "alice",
      },
      { route: "none", method: "GET", status: 404, code: "not_found" },
    ]);
    expect(JSON.stringify(lines)).not.toContain("canary");
  });

  it("to HEAD has no body", async () => {
    const answer = await testEdge().call("HEAD", "/healthz");
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });
});
