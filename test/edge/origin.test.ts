/** Case S69: which pages may call, and what the others are told. */
import { describe, expect, it } from "vitest";
import { BASE, CONVERSATION, DEVELOPMENT, problemIn, testEdge } from "./support/edge.ts";

const STREAM = `/v1/conversations/${CONVERSATION}/stream`;
const upgrade = { upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1" };

describe("an origin", () => {
  it.each([
    "https://evil.test",
    "null",
    "https://app.test.evil.test",
    "http://app.test",
    "https://app.test:8443",
    "HTTPS://APP.TEST",
    "https://app.test/",
    "https://app.test, https://evil.test",
    "https://user@app.test",
    BASE,
    "",
  ])(
    "%j that is not on the list is refused, for sockets as for the rest, before an object is touched",
    async (origin) => {
      const test = testEdge();
      for (const [path, headers] of [
        [STREAM, upgrade],
        ["/v1/me", {}],
      ] as const) {
        const answer = await test.call("GET", path, { headers: { ...headers, origin } });
        expect(await problemIn(answer)).toMatchObject({ code: "origin_forbidden", status: 403 });
        expect(answer.headers.has("access-control-allow-origin")).toBe(false);
        expect(answer.headers.get("vary")).toBe("Origin");
      }
      expect(test.asked).toEqual([]);
    },
  );

  it("on the list may call, and read what is said about its call, problems too", async () => {
    const origin = "https://app.test";
    for (const path of ["/v1/me", "/v1/nothing"]) {
      const { headers } = await testEdge().call("GET", path, { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
      expect(headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  it("on the list is told beforehand what it may send, without a sign-in", async () => {
    const headers = { origin: "https://app.test", "access-control-request-method": "POST" };
    const answer = await testEdge().call("OPTIONS", "/v1/conversations", { headers, authorization: null });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(answer.headers.get("access-control-allow-headers")).toContain("idempotency-key");
  });

  it("off the list is told nothing beforehand", async () => {
    const headers = { origin: "https://evil.test", "access-control-request-method": "POST" };
    const answer = await testEdge().call("OPTIONS", "/v1/conversations", { headers, authorization: null });
    expect(answer.status).toBe(403);
    expect(answer.headers.has("access-control-allow-methods")).toBe(false);
  });

  it("of this very machine is allowed in development, by loopback names only", async () => {
    const { edge } = testEdge();
    const ask = async (url: string, origin: string) =>
      (await edge.fetch(new Request(url, { headers: { origin } }))).status;
    expect(await ask("http://127.0.0.1:8787/", "http://127.0.0.1:8787")).toBe(200);
    expect(await ask("http://localhost:9000/", "http://localhost:9000")).toBe(200);
    expect(await ask("http://localhost:9000/", "http://localhost:9001")).toBe(403);
    // A name that an attacker points at this machine.
    expect(await ask("http://evil.test:8787/", "http://evil.test:8787")).toBe(403);
  });

  it("of this very machine is not special in production", async () => {
    const env = {
      ENVIRONMENT: "production",
      HOLDPOINT_KEY: "k".repeat(32),
      JWT_SECRET: "s".repeat(32),
      JWT_ISSUER: "i",
      JWT_AUDIENCE: "a",
    };
    const { edge } = testEdge(undefined, { env });
    const headers = { origin: "http://localhost:8787" };
    expect((await edge.fetch(new Request("http://localhost:8787/", { headers }))).status).toBe(403);
  });

  it("is not asked of a caller that is no browser", async () => {
    expect((await testEdge(undefined, { env: DEVELOPMENT }).call("GET", "/v1/me")).status).toBe(200);
  });
});
