/** Case S67: attacks on the token, each with one answer: 401, no reason, and no actor asked. */
import { sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CONVERSATION, problemIn, testEdge } from "./support/edge.ts";
import { ATTACKS } from "./support/attacks.ts";
import {
  AUDIENCE,
  claims,
  ecKey,
  ecToken,
  hs,
  ISSUER,
  seconds,
  SECRET,
  segment,
  sharedToken,
} from "./support/tokens.ts";

const KEY = "k".repeat(32);
const common = { ENVIRONMENT: "production", HOLDPOINT_KEY: KEY, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
const shared = (change: Record<string, string> = {}) =>
  testEdge(undefined, { env: { ...common, JWT_SECRET: SECRET, ...change } });

const me = (test: ReturnType<typeof testEdge>, token: string) =>
  test.call("GET", "/v1/me", { authorization: `Bearer ${token}` });

describe("the sign-in with a shared secret", () => {
  it("takes a good token, and builds the principal from it", async () => {
    const token = sharedToken({ payload: claims({ roles: ["sre"], scope: "a b", locale: "zh-CN" }) });
    const answer = await me(shared(), token);
    expect(await answer.json()).toEqual({
      tenantId: "acme",
      userId: "alice",
      roles: ["sre"],
      scopes: ["a", "b"],
      locale: "zh-CN",
      expiresAt: new Date((seconds + 630) * 1_000).toISOString(),
    });
  });

  it.each([
    ["a type in upper case", sharedToken({ header: { typ: "AT+JWT" } })],
    ["a type with its application/", sharedToken({ header: { typ: "application/at+jwt" } })],
    ["a list of our audience alone", hs({ aud: [AUDIENCE] })],
    ["a user id with a bar", hs({ sub: "auth0|123" })],
    ["a language that nobody can read", hs({ locale: 7 })],
    ["scopes as a list", hs({ scope: ["a"] })],
    ["no scopes", hs({ scope: undefined })],
  ])("takes %s", async (_, token) => {
    expect((await me(shared(), token)).status).toBe(200);
  });

  it.each(ATTACKS)("refuses %s, and says no more than that", async (_, token) => {
    const test = shared();
    const answer = await test.call("GET", `/v1/conversations/${CONVERSATION}`, { authorization: `Bearer ${token}` });
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="holdpoint", error="invalid_token"');
    const { requestId, ...problem } = await problemIn(answer);
    expect(requestId).toBeTruthy();
    expect(problem).toEqual({
      type: "/problems/unauthenticated",
      title: "Sign in first",
      status: 401,
      detail: "The bearer token is not valid.",
      code: "unauthenticated",
      retryable: false,
    });
    expect(test.asked).toEqual([]);
  });

  it("says that a token has expired only when it was good before", async () => {
    const expired = { exp: seconds - 31 };
    expect(await problemIn(await me(shared(), hs(expired)))).toMatchObject({ code: "token_expired", status: 401 });
    const forged = sharedToken({ payload: claims(expired), secret: "another secret that is long enough too" });
    expect(await problemIn(await me(shared(), forged))).toMatchObject({ code: "unauthenticated" });
    const elsewhere = hs({ ...expired, aud: "other" });
    expect(await problemIn(await me(shared(), elsewhere))).toMatchObject({ code: "unauthenticated" });
  });

  it("computes anew of a token that was good: its end, and its signature", async () => {
    const test = shared();
    const token = hs({ exp: seconds + 60 });
    expect((await me(test, token)).status).toBe(200);
    expect((await me(test, `${token.slice(0, token.lastIndexOf("."))}.${sharedToken().split(".")[2]}`)).status).toBe(
      401,
    );
    test.clock.now += 60_000 + 31_000;
    expect(await problemIn(await me(test, token))).toMatchObject({ code: "token_expired" });
  });

  it("knows everybody, however many come", async () => {
    const test = shared();
    const tokens = Array.from({ length: 300 }, (_, n) => hs({ sub: `user-${n}` }));
    for (const round of [tokens, tokens.slice(0, 10)]) {
      const answers = await Promise.all(round.map((token) => me(test, token)));
      const users = await Promise.all(answers.map((answer) => answer.json()));
      expect(users).toMatchObject(round.map((_, n) => ({ userId: `user-${n}` })));
    }
  });

  it("allows clocks to differ by its leeway", async () => {
    expect((await me(shared(), hs({ exp: seconds - 29 }))).status).toBe(200);
    expect((await me(shared({ JWT_LEEWAY_S: "0" }), hs({ exp: seconds - 1 }))).status).toBe(401);
  });

  it("reads claims where the configuration says, also inside objects and under names with dots", async () => {
    const test = shared({ CLAIM_TENANT: "https://acme.test/tenant", CLAIM_ROLES: "realm_access.roles" });
    const token = hs({ tid: "ignored", "https://acme.test/tenant": "real", realm_access: { roles: ["sre"] } });
    expect(await (await me(test, token)).json()).toMatchObject({ tenantId: "real", roles: ["sre"] });
    const inherited = shared({ CLAIM_TENANT: "constructor.name" });
    expect((await me(inherited, hs({ tid: "acme" }))).status).toBe(401);
  });

  it("takes no default user: without a credential it is 401 with the scheme alone", async () => {
    const answer = await shared().call("GET", "/v1/me", { authorization: null });
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="holdpoint"');
    expect(await problemIn(answer)).toMatchObject({ code: "unauthenticated", status: 401 });
  });

  it.each([
    ["another scheme", "Basic YWxpY2U6eA=="],
    ["the token without a scheme", sharedToken()],
    ["the header sent twice", `Bearer ${sharedToken()}, Bearer ${sharedToken()}`],
    ["an empty token", "Bearer "],
    ["two tokens", `Bearer ${sharedToken()} ${sharedToken()}`],
  ])("refuses %s", async (_, authorization) => {
    expect((await shared().call("GET", "/v1/me", { authorization })).status).toBe(401);
  });

  it("refuses a token in the URL, with and without one in the header", async () => {
    for (const name of ["access_token", "token", "ticket"]) {
      const path = `/v1/me?${name}=${sharedToken()}`;
      expect((await shared().call("GET", path, { authorization: null })).status).toBe(401);
      const both = await shared().call("GET", path, { authorization: `Bearer ${sharedToken()}` });
      expect(await problemIn(both)).toMatchObject({ code: "invalid_request", status: 422 });
    }
  });

  it("writes no token, and not what stood in it, into the log", async () => {
    const test = shared();
    const token = hs({ sub: "alice", secretive: "canary" });
    await me(test, token);
    await test.call("GET", `/v1/me?access_token=${token}`, { authorization: `Bearer ${token}` });
    await me(test, `${token}x`);
    const text = JSON.stringify(test.log);
    expect(text).not.toContain(token.slice(0, 40));
    expect(text).not.toContain("canary");
  });
});

describe("the development sign-in", () => {
  it("signs in whomever it is asked for, without a leeway", async () => {
    const test = testEdge();
    const token = await test.token({ userId: "bob", tenantId: "acme", roles: ["sre"], scopes: ["x"], ttlSeconds: 5 });
    const { expiresAt, ...who } = (await (await me(test, token)).json()) as Record<string, unknown>;
    expect(who).toEqual({ tenantId: "acme", userId: "bob", roles: ["sre"], scopes: ["x"] });
    expect(expiresAt).toBe(new Date((seconds + 5) * 1_000).toISOString());
    test.clock.now += 5_000;
    expect(await problemIn(await me(test, token))).toMatchObject({ code: "token_expired" });
  });

  it("gives an ordinary user what an ordinary user needs", async () => {
    const test = testEdge();
    const { scopes } = (await (await me(test, await test.token())).json()) as { scopes: string[] };
    for (const scope of ["conversations:read", "conversations:write", "confirmations:decide", "plans:write"]) {
      expect(scopes).toContain(scope);
    }
    for (const scope of ["handover:operate", "tenant:admin", "platform:admin"]) expect(scopes).not.toContain(scope);
  });

  it.each([
    [{}, "/userId"],
    [{ userId: "" }, "/userId"],
    [{ userId: "a\nb" }, "/userId"],
    [{ userId: "a", ttlSeconds: 0 }, "/ttlSeconds"],
    [{ userId: "a", ttlSeconds: 86_401 }, "/ttlSeconds"],
    [{ userId: "a", admin: true }, "/admin"],
    [{ userId: "a", scopes: "all" }, "/scopes"],
  ])("refuses %j", async (json, pointer) => {
    const answer = await testEdge().call("POST", "/dev/token", { json, authorization: null });
    const { code, errors } = await problemIn(answer);
    expect({ code, pointer: errors?.[0]?.pointer }).toEqual({ code: "invalid_request", pointer });
  });

  it("is not there unless it is switched on", async () => {
    const answer = await shared().call("POST", "/dev/token", { json: { userId: "a" }, authorization: null });
    expect(await problemIn(answer)).toMatchObject({ code: "not_found", status: 404 });
  });

  it("takes no token that the identity provider signed in its name, nor the other way round", async () => {
    const env = { ...common, ENVIRONMENT: "development", DEV_SIGN_IN: "on", JWT_SECRET: SECRET };
    const test = testEdge(undefined, { env });
    expect((await me(test, hs({ iss: "holdpoint:development-sign-in" }))).status).toBe(401);
    expect((await me(test, sharedToken())).status).toBe(200);
    expect((await me(test, await test.token())).status).toBe(200);
  });

  it("takes no token of a deployment with another key", async () => {
    const token = await testEdge().token();
    const other = testEdge(undefined, { env: { ENVIRONMENT: "development", DEV_SIGN_IN: "on", HOLDPOINT_KEY: KEY } });
    expect((await me(other, token)).status).toBe(401);
  });
});

describe("signatures of published keys", () => {
  const key = ecKey("k1");
  const published = () =>
    testEdge(undefined, {
      env: { ...common, JWKS_URL: "https://id.test/jwks" },
      fetch: async () => Response.json({ keys: [key.jwk] }),
    });
  const signed = `${segment({ alg: "ES256", typ: "at+jwt", kid: "k1" })}.${segment(claims())}`;

  it("are taken when they are right", async () => {
    expect((await me(published(), ecToken(key))).status).toBe(200);
  });

  it.each([
    ["made of zeros", `${signed}.${segment(Buffer.alloc(64))}`],
    ["in DER", `${signed}.${sign("sha256", Buffer.from(signed), key.privateKey).toString("base64url")}`],
    ["of another key", ecToken({ ...ecKey("k1"), kid: "k1" })],
    ["made with the public key as a shared secret", hsWithPublicKey()],
  ])("are refused when %s", async (_, token) => {
    expect((await me(published(), token)).status).toBe(401);
  });

  function hsWithPublicKey(): string {
    const pem = key.publicKey.export({ format: "pem", type: "spki" });
    return sharedToken({ header: { kid: "k1" }, secret: pem });
  }
});
