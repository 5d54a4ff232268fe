import { describe, expect, it } from "vitest";
import { problemIn, testEdge } from "./support/edge.ts";
import { AUDIENCE, ecKey, ecToken, ISSUER, rsaKey, rsaToken } from "./support/tokens.ts";

const MINUTE = 60_000;
const known = ecKey("known");
const later = ecKey("later");
const rsa = rsaKey("rsa");

function provider(answer: () => Response | Promise<Response>, change: Record<string, string> = {}) {
  const requests: { url: string; init: RequestInit | undefined }[] = [];
  const script = { answer };
  const test = testEdge(undefined, {
    env: {
      ENVIRONMENT: "production",
      HOLDPOINT_KEY: "k".repeat(32),
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWKS_URL: "https://id.test/jwks",
      // The clock of these tests moves on and their tokens do not.
      JWT_MAX_LIFETIME_S: "86400",
      ...change,
    },
    fetch: async (input, init) => {
      requests.push({ url: String(input), init });
      return script.answer();
    },
  });
  const status = async (token: string) =>
    (await test.call("GET", "/v1/me", { authorization: `Bearer ${token}` })).status;
  return { ...test, requests, script, status };
}
const keys =
  (...published: { jwk: Record<string, unknown> }[]) =>
  () =>
    Response.json({ keys: published.map(({ jwk }) => jwk) });
const longLived = (key: typeof known) => {
  const iat = Math.floor(Date.UTC(2026, 10, 29, 12) / 1_000);
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: "alice", tid: "acme", iat, exp: iat + 80_000 };
  return ecToken(key, {}, payload);
};

describe("the identity provider's keys", () => {
  it("are fetched once, without following redirects, and kept for ten minutes", async () => {
    const { requests, status, clock } = provider(keys(known));
    expect(await status(longLived(known))).toBe(200);
    expect(await status(longLived(known))).toBe(200);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ url: "https://id.test/jwks", init: { redirect: "manual" } });
    clock.now += 11 * MINUTE;
    expect(await status(longLived(known))).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it("follow a rotation, one fetch a minute", async () => {
    const { script, requests, status, clock } = provider(keys(known));
    expect(await status(longLived(known))).toBe(200);
    script.answer = keys(known, later);
    expect(await status(longLived(later))).toBe(401);
    clock.now += MINUTE;
    expect(await status(longLived(later))).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it("are not asked for again by a flood of invented key ids", async () => {
    const { requests, status } = provider(keys(known));
    for (let i = 0; i < 200; i++) expect(await status(ecToken(later, { kid: `../${i}' OR 1=1` }))).toBe(401);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  it("never come from the token", async () => {
    const { requests, status } = provider(keys(known));
    await status(ecToken(later, { jku: "https://evil.test/jwks", jwk: later.jwk }));
    expect(requests.filter(({ url }) => !url.startsWith("https://id.test/"))).toEqual([]);
  });

  it.each([
    ["an error", () => new Response("no", { status: 500 })],
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["no keys", () => Response.json({ keys: [] })],
    ["something that is no key set", () => Response.json(["x"])],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "https://evil.test/" } })],
    ["too much", () => new Response("x".repeat(1024 * 1024))],
    ["nothing: the network fails", () => Promise.reject(new TypeError("network"))],
  ])("are closed when the provider answers with %s", async (_, answer) => {
    const test = provider(answer);
    const response = await test.call("GET", "/v1/me", { authorization: `Bearer ${longLived(known)}` });
    expect(response.headers.get("retry-after")).toBeTruthy();
    expect(await problemIn(response)).toMatchObject({ code: "overloaded", status: 503, retryable: true });
  });

  it("serve an hour more while the provider is away, and then nothing does", async () => {
    const { script, status, clock } = provider(keys(known));
    expect(await status(longLived(known))).toBe(200);
    script.answer = () => new Response(null, { status: 503 });
    clock.now += 59 * MINUTE;
    expect(await status(longLived(known))).toBe(200);
    expect(await status(longLived(later))).toBe(401);
    clock.now += 2 * MINUTE;
    expect(await status(longLived(known))).toBe(503);
    script.answer = keys(known);
    clock.now += 6_000;
    expect(await status(longLived(known))).toBe(200);
  });

  it("are asked for at most every five seconds while the provider is away", async () => {
    const { requests, status } = provider(() => new Response(null, { status: 503 }));
    for (let i = 0; i < 20; i++) expect(await status(longLived(known))).toBe(503);
    expect(requests).toHaveLength(1);
  });

  it("sign with pinned algorithms only: RSA where the configuration names it", async () => {
    expect(await provider(keys(rsa)).status(rsaToken(rsa))).toBe(401);
    expect(await provider(keys(rsa), { JWT_ALGORITHMS: "RS256" }).status(rsaToken(rsa))).toBe(200);
  });

  it("are not mixed up: a key for one algorithm verifies no other", async () => {
    const test = provider(keys(known, rsa), { JWT_ALGORITHMS: "ES256,RS256" });
    expect(await test.status(rsaToken(rsa, { kid: "known" }))).toBe(401);
  });

  it("have one algorithm each, also where they name none", async () => {
    const { alg: _, ...unnamed } = rsa.jwk;
    const test = provider(keys({ jwk: unnamed }), { JWT_ALGORITHMS: "RS256,PS256,RS512" });
    expect(await test.status(rsaToken(rsa))).toBe(200);
    expect(await test.status(rsaToken(rsa, { alg: "PS256" }))).toBe(401);
    expect(await test.status(rsaToken(rsa, { alg: "RS512" }))).toBe(401);
  });

  it("are no keys where they name an algorithm that is not theirs, or not accepted", async () => {
    for (const alg of ["ES384", "HS256", "RS256", "none"]) {
      const test = provider(keys({ jwk: { ...known.jwk, alg } }), { JWT_ALGORITHMS: "ES256,ES384,RS256" });
      expect([alg, await test.status(longLived(known))]).toEqual([alg, 401]);
    }
  });

  it("are fetched once for a crowd that comes while nothing is known, or while what is known is old", async () => {
    const { requests, status, clock, script } = provider(keys(known));
    const crowd = () => Promise.all(Array.from({ length: 20 }, () => status(longLived(known))));
    const answer = script.answer;
    script.answer = async () => {
      await new Promise((soon) => setImmediate(soon));
      return answer();
    };
    expect(new Set(await crowd())).toEqual(new Set([200]));
    expect(requests).toHaveLength(1);
    clock.now += 11 * MINUTE;
    expect(new Set(await crowd())).toEqual(new Set([200]));
    expect(requests).toHaveLength(2);
  });
});
