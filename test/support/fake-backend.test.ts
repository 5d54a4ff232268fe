import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postJson } from "./calls.ts";
import { startFakeBackend, type FakeBackend } from "./fake-backend.ts";
import { until } from "./wire.ts";

/** What `fetch` says when the socket is cut before an answer. */
const CUT = "fetch failed";
const KEY = "gateway-key-1234";
const PLANS = "/v1/rdb/rest/plans";
let backend: FakeBackend;
beforeAll(async () => {
  backend = await startFakeBackend({ apiKey: KEY });
});
afterAll(() => backend.close());
beforeEach(() => backend.reset());

const post = (path: string, body: unknown, headers = {}, signal?: AbortSignal) =>
  postJson(backend.url + path, body, headers, signal);
const control = async (route: string, body: unknown) => expect((await post(`/__${route}`, body)).status).toBe(200);
const pay = (key?: string, more = {}) =>
  post("/transfer", { recipient_id: "r-1", amount_cents: 500, ...more }, key ? { "idempotency-key": key } : {});
const effects = () => backend.ledger().rawEffects;

describe("the ledger", () => {
  it("books transfers in order, with their keys", async () => {
    expect((await pay("k1")).status).toBe(201);
    expect((await pay("k2", { amount_cents: 700, note: "n" })).status).toBe(201);
    const { bookings, byKey } = backend.ledger();
    expect(bookings.map(({ n, kind, idempotencyKey, body }) => [n, kind, idempotencyKey, body.amount_cents])).toEqual([
      [1, "transfer", "k1", 500],
      [2, "transfer", "k2", 700],
    ]);
    expect(byKey).toEqual({ k1: 1, k2: 1 });
    expect(await (await fetch(`${backend.url}/__ledger`)).json()).toEqual(backend.ledger());
  });

  it.each([
    { amount_cents: 0 },
    { amount_cents: 1.5 },
    { amount_cents: "5" },
    { recipient_id: "" },
    { recipient_id: 7 },
  ])("does not book %j", async (more) => {
    expect((await pay("k", more)).status).toBe(422);
    expect((await post("/transfer", "{")).status).toBe(422);
    expect(effects()).toBe(0);
  });

  it("books a key once, also ten times at once, and replays the first answer", async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => pay("same")));
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get("idempotency-replayed") === "true")).toHaveLength(9);
    expect(backend.ledger()).toMatchObject({ rawEffects: 1, replays: 9 });
  });

  it("takes a key with another body for a conflict, whatever the order of members", async () => {
    await pay("k");
    expect((await pay("k", { amount_cents: 501 })).status).toBe(422);
    const same = { amount_cents: 500, recipient_id: "r-1" };
    expect((await post("/transfer", same, { "idempotency-key": '"k"' })).status).toBe(201);
    expect(effects()).toBe(1);
  });

  it("counts each request without a key, or with de-duplication off", async () => {
    await Promise.all([pay(), pay()]);
    await control("config", { dedup: false });
    await Promise.all([pay("k"), pay("k"), pay("k")]);
    expect(backend.ledger()).toMatchObject({ rawEffects: 5, byKey: { "": 2, k: 3 } });
    backend.reset();
    expect(backend.stats().dedup).toBe(true);
  });
});

describe("a fault", () => {
  it.each([true, false])(
    "commit_then_drop books once and drops; de-duplication %s decides on a retry",
    async (dedup) => {
      await control("config", { dedup });
      await control("fault", { route: "/transfer", mode: "commit_then_drop", times: 1 });
      await expect(pay("k")).rejects.toThrow(CUT);
      expect(effects()).toBe(1);
      expect(backend.requests("/transfer")[0]).toMatchObject({ endedBy: "server_destroyed", committed: true });
      const probe = await fetch(`${backend.url}/transfer?key=k`);
      expect([probe.status, await probe.json()]).toEqual([200, expect.objectContaining({ status: "booked" })]);
      expect((await fetch(`${backend.url}/transfer?key=other`)).status).toBe(404);
      expect((await pay("k")).status).toBe(201);
      expect(effects()).toBe(dedup ? 1 : 2);
    },
  );

  it.each([
    { mode: "500", status: 500, booked: 0 },
    { mode: "401", status: 401, booked: 0 },
    { mode: "403", status: 403, booked: 0 },
    { mode: "empty_success", status: 200, booked: 0 },
    { mode: "wrong_shape", status: 200, booked: 1 },
  ])("$mode answers $status, books $booked, and ends after its number of times", async ({ mode, status, booked }) => {
    await control("fault", { route: "POST /transfer", mode, times: 1 });
    expect((await pay("a")).status).toBe(status);
    expect(effects()).toBe(booked);
    expect((await pay("b")).status).toBe(201);
    expect(effects()).toBe(booked + 1);
  });

  it("stays until it is switched off, and may be for certain bodies only", async () => {
    await control("fault", { route: "/transfer", mode: "500", match: { recipient_id: "r-2" } });
    expect((await pay("a")).status).toBe(201);
    for (let i = 0; i < 3; i++) expect((await pay("b", { recipient_id: "r-2" })).status).toBe(500);
    await control("fault", { route: "/transfer", mode: "off" });
    expect((await pay("b", { recipient_id: "r-2" })).status).toBe(201);
  });

  it("timeout stays silent, has no effect, and cuts the socket after ms", async () => {
    await control("fault", { route: "/transfer", mode: "timeout", ms: 30, times: 1 });
    const started = performance.now();
    await expect(pay("k")).rejects.toThrow(CUT);
    expect(performance.now() - started).toBeGreaterThan(25);
    expect(effects()).toBe(0);
  });

  it("delay books at commitAt and answers at answerAt", async () => {
    await control("fault", { route: "/transfer", mode: "delay", commitAt: 20, answerAt: 80, times: 1 });
    const started = performance.now();
    const answer = pay("k");
    await until(() => effects() === 1, "the booking");
    expect(performance.now() - started).toBeGreaterThan(15);
    expect((await answer).status).toBe(201);
    expect(performance.now() - started).toBeGreaterThan(75);
  });

  it.each([false, true])("delay books for a client that left, unless a reset (%s) voids it", async (resets) => {
    await control("fault", { route: "/transfer", mode: "delay", commitAt: 60, answerAt: 70, times: 1 });
    const stop = new AbortController();
    const left = expect(post("/transfer", { recipient_id: "r-1", amount_cents: 1 }, {}, stop.signal)).rejects.toThrow(
      "aborted",
    );
    await until(() => backend.requests("/transfer").length === 1, "the request");
    stop.abort();
    await left;
    if (resets) backend.reset();
    const settled = new Promise((resolve) => setTimeout(resolve, 90));
    if (resets) await settled;
    else await until(() => effects() === 1, "the booking");
    expect(effects()).toBe(resets ? 0 : 1);
  });

  it("with a mistake is refused; unknown routes are 404 and 405", async () => {
    for (const mistake of [
      { route: "/nowhere", mode: "500" },
      { route: "/transfer", mode: "boom" },
      { route: "/transfer", mode: "500", time: 1 },
      { route: "/transfer", mode: "500", times: 0 },
    ]) {
      expect((await post("/__fault", mistake)).status).toBe(400);
    }
    expect((await post("/__config", { dedup: "no" })).status).toBe(400);
    expect((await post("/nowhere", {})).status).toBe(404);
    expect((await fetch(`${backend.url}/always_fail`)).status).toBe(405);
  });
});

describe("the read routes", () => {
  it("slow answers after ms, and logs a client that leaves", async () => {
    expect(await (await post("/slow", { ms: 5 })).json()).toEqual({ waited_ms: 5 });
    const stop = new AbortController();
    const left = expect(post("/slow", { ms: 20_000 }, {}, stop.signal)).rejects.toThrow("aborted");
    await until(() => backend.requests("/slow").length === 2, "the request");
    stop.abort();
    await left;
    await until(() => backend.requests("/slow")[1]?.endedBy === "client", "the abort");
    expect(backend.stats()).toMatchObject({ abortedByClient: 1, inFlight: 0 });
  });

  it("always_fail fails; lookup_order finds and believes a user id in the body", async () => {
    expect((await post("/always_fail", { q: "x" })).status).toBe(500);
    const jwt = { authorization: `Bearer e30.${Buffer.from('{"sub":"user-a"}').toString("base64url")}.sig` };
    const own = await (await post("/lookup_order", { order_id: "A-17" }, jwt)).json();
    expect(own).toMatchObject({ order_id: "A-17", owner: "user-a" });
    const tricked = await (await post("/lookup_order", { order_id: "A-17", user_id: "user-b" }, jwt)).json();
    expect(tricked).toMatchObject({ owner: "user-b" });
    expect(backend.requests("/lookup_order")[1]?.caller).toBe("user-a");
    expect((await post("/lookup_order", {})).status).toBe(422);
  });
});

describe("the plans gateway", () => {
  const bearer = { authorization: `Bearer ${KEY}` };
  const plans = (query = "", headers: Record<string, string> = bearer) =>
    fetch(backend.url + PLANS + query, { headers });
  const add = (row: unknown, prefer = "return=representation") => post(PLANS, row, { ...bearer, prefer });

  it("wants its key", async () => {
    const wrong = await plans("", { authorization: "Bearer wrong-key-9999" });
    expect([wrong.status, await wrong.json()]).toEqual([
      401,
      expect.objectContaining({ code: "GATEWAY_UNAUTHORIZED" }),
    ]);
    expect((await plans("", {})).status).toBe(401);
    expect((await post(PLANS, { title: "x" })).status).toBe(401);
    expect(effects()).toBe(0);
    expect(backend.requests(PLANS)[0]?.headers.authorization).toBe("Bearer ***9999");
  });

  it("inserts, and returns rows when the client prefers so", async () => {
    const full = await add({ id: "p1", user_id: "u1", title: "One" });
    expect([full.status, await full.json()]).toEqual([201, [expect.objectContaining({ title: "One" })]]);
    const minimal = await add({ user_id: "u1", title: "Two" }, "return=minimal");
    expect([minimal.status, await minimal.text()]).toEqual([201, ""]);
    expect(await (await add([{ title: "Three" }, { title: "Four" }])).json()).toHaveLength(2);
    expect((await add({ id: "p1", title: "again" })).status).toBe(409);
    expect((await add("nonsense")).status).toBe(400);
    expect(backend.ledger().bookings.map(({ kind, body }) => `${kind} ${body.title}`)).toEqual([
      "plan One",
      "plan Two",
      "plan Three",
      "plan Four",
    ]);
  });

  it("filters by any column, orders and cuts", async () => {
    for (const row of [
      { user_id: "u1", title: "b", rank: 2 },
      { user_id: "u2", title: "x", rank: 9 },
      { user_id: "u1", title: "a", rank: 10 },
      { user_id: "u1", title: "c. d=e&f", rank: 2 },
    ]) {
      expect((await add(row)).status).toBe(201);
    }
    const titles = async (query: string) => {
      const rows: { title: string }[] = JSON.parse(await (await plans(query)).text());
      return rows.map(({ title }) => title);
    };
    expect(await titles("?user_id=eq.u1&order=created_at.desc")).toEqual(["c. d=e&f", "a", "b"]);
    expect(await titles("?user_id=eq.u1&rank=eq.2&order=title.asc")).toEqual(["b", "c. d=e&f"]);
    expect(await titles(`?title=eq.${encodeURIComponent("c. d=e&f")}`)).toEqual(["c. d=e&f"]);
    expect(await titles("?user_id=eq.u1&order=rank.desc,title.desc&limit=2")).toEqual(["a", "c. d=e&f"]);
    expect(await titles("?user_id=eq.nobody")).toEqual([]);
    expect(await (await plans("?user_id=eq.u2&select=title")).json()).toEqual([{ title: "x" }]);
    expect((await plans("?user_id=like.u*")).status).toBe(400);
    expect((await plans("?order=title.up")).status).toBe(400);
  });

  it("has faults too", async () => {
    await control("fault", { route: `POST ${PLANS}`, mode: "commit_then_drop", times: 1 });
    await control("fault", { route: `GET ${PLANS}`, mode: "401", times: 1 });
    await expect(add({ id: "p1", title: "lost answer" })).rejects.toThrow(CUT);
    expect((await plans()).status).toBe(401);
    expect(await (await plans("?id=eq.p1")).json()).toHaveLength(1);
  });
});
