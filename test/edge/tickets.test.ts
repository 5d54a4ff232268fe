import { describe, expect, it } from "vitest";
import { ticketIn, tickets, type Place } from "../../src/edge/tickets.ts";
import { readHandshake, type Handshake } from "../../src/edge/handshake.ts";
import { RequestContext } from "../../src/protocol/principal.ts";
import { CONTEXT_HEADER } from "../../src/protocol/rpc.ts";
import { CONVERSATION, emptyActor, NOW, problemIn, testEdge } from "./support/edge.ts";
import { FakeSource, upgraded } from "./support/streams.ts";

const ORIGIN = "https://app.test";
const TICKETS = `/v1/conversations/${CONVERSATION}/tickets`;
const STREAM = `/v1/conversations/${CONVERSATION}/stream`;
const OTHER = `${CONVERSATION.slice(0, -1)}t`;
const context: RequestContext = {
  tenantId: "acme",
  userId: "李雷",
  roles: ["sre"],
  scopes: ["conversations:read"],
  locale: "zh-CN",
  requestId: "r",
  traceId: "t",
  authHeader: "Bearer canary",
  expiresAt: NOW + 600_000,
};
const place: Place = { conversationId: CONVERSATION, origin: ORIGIN, now: NOW };

async function made(more: Partial<RequestContext> = {}, key = "k".repeat(32)) {
  const ticket = await tickets(key).make({ ...context, ...more }, place);
  if (!ticket.ok) throw new Error(ticket.rejection.code);
  return ticket.value;
}

describe("a ticket", () => {
  const ours = tickets("k".repeat(32));

  it("says who may come in, until when, and carries no credential", async () => {
    const { ticket, expiresAt } = await made();
    expect(expiresAt).toBe(NOW + 30_000);
    const opened = await ours.open(ticket, { ...place, now: NOW + 29_999 });
    expect(opened).toMatchObject({
      ok: true,
      value: {
        principal: {
          tenantId: "acme",
          userId: "李雷",
          roles: ["sre"],
          scopes: ["conversations:read"],
          locale: "zh-CN",
        },
        signedInUntil: NOW + 600_000,
        exp: NOW + 30_000,
      },
    });
    expect(Buffer.from(ticket.split(".")[0] ?? "", "base64url").toString()).not.toContain("canary");
    // As a subprotocol's name it must be a token of HTTP.
    expect(ticket).toMatch(/^[A-Za-z0-9_.-]+$/);
    expect((await made()).ticket).not.toBe(ticket);
  });

  it("does not outlive the sign-in that it was made with", async () => {
    expect(await made({ expiresAt: NOW + 5_000 })).toMatchObject({ expiresAt: NOW + 5_000 });
  });

  it.each([
    ["later", { now: NOW + 30_000 }],
    ["for another conversation", { conversationId: OTHER }],
    ["at another origin", { origin: "https://evil.test" }],
    ["without an origin", { origin: null }],
  ])("is good for nothing %s", async (_, change) => {
    const { ticket } = await made();
    expect(await ours.open(ticket, { ...place, ...change })).toMatchObject({ rejection: { code: "ticket_invalid" } });
  });

  it("cannot be made or changed by anybody else", async () => {
    const { ticket } = await made();
    const [payload = "", seal = ""] = ticket.split(".");
    const richer = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    richer["exp"] = NOW + 1_000_000;
    const forged = Buffer.from(JSON.stringify(richer)).toString("base64url");
    const others = (await made({}, "x".repeat(32))).ticket;
    for (const bad of [
      `${forged}.${seal}`,
      others,
      payload,
      `${payload}.`,
      `${ticket}.x`,
      `${ticket}A`,
      "",
      ".",
      "a.b",
      "é.é",
    ]) {
      expect(await ours.open(bad, place)).toMatchObject({ rejection: { code: "ticket_invalid" } });
    }
    expect(await ours.open(`${"A".repeat(5_000)}.${seal}`, place)).toMatchObject({ ok: false });
  });

  it("is refused to a sign-in that is larger than a frame may carry", async () => {
    const scopes = Array.from({ length: 256 }, (_, n) => `scope:${n}:${"x".repeat(50)}`);
    await expect(made({ scopes })).rejects.toThrow("payload_too_large");
  });

  it("is found among subprotocols, alone", () => {
    const among = (header: string) => ticketIn(new Headers({ "sec-websocket-protocol": header }));
    expect(among("holdpoint.v1, ticket.abc.def")).toBe("abc.def");
    expect(among("ticket.abc,holdpoint.v1")).toBe("abc");
    expect(among("holdpoint.v1")).toBeNull();
    expect(ticketIn(new Headers())).toBeNull();
    expect(among("ticket.a, ticket.b")).toBe("");
  });
});

/** An actor that lets in whoever comes, and keeps how they came. */
function open() {
  const handshakes: { handshake: Handshake; context: RequestContext; headers: string }[] = [];
  const actor = {
    ...emptyActor,
    snapshot: async () => ({ ok: true as const, value: { id: CONVERSATION } as never }),
    fetch: async (request: Request) => {
      handshakes.push({
        handshake: readHandshake(request.url),
        context: RequestContext.parse(JSON.parse(request.headers.get(CONTEXT_HEADER) ?? "")),
        headers: JSON.stringify([...request.headers, request.url]),
      });
      return upgraded(new FakeSource());
    },
  };
  return { actor, handshakes };
}
const asking = { headers: { origin: ORIGIN } };
const upgrade = (ticket: string, origin: string | null = ORIGIN) => ({
  headers: {
    upgrade: "websocket",
    "sec-websocket-protocol": `holdpoint.v1, ticket.${ticket}`,
    ...(origin === null ? {} : { origin }),
  },
  authorization: null,
});

describe("asking for a ticket", () => {
  it("is answered with one, for half a minute", async () => {
    const test = testEdge(open().actor);
    const answer = await test.call("POST", TICKETS, asking);
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({
      ticket: expect.any(String) as string,
      expiresAt: new Date(NOW + 30_000).toISOString(),
    });
  });

  it("is refused to who cannot see the conversation, may not read, or has not signed in", async () => {
    expect(await problemIn(await testEdge().call("POST", TICKETS, asking))).toMatchObject({ code: "not_found" });
    const test = testEdge(open().actor);
    const authorization = `Bearer ${await test.token({ userId: "a", scopes: ["conversations:write"] })}`;
    expect(await problemIn(await test.call("POST", TICKETS, { ...asking, authorization }))).toMatchObject({
      code: "scope_missing",
    });
    expect((await test.call("POST", TICKETS, { ...asking, authorization: null })).status).toBe(401);
    expect(await problemIn(await test.call("POST", TICKETS, { ...asking, json: { origin: "x" } }))).toMatchObject({
      code: "invalid_request",
    });
    expect(test.asked).toEqual([]);
  });
});

describe("coming with a ticket", () => {
  async function ticketOf(test: ReturnType<typeof testEdge>, authorization?: string) {
    const init = authorization === undefined ? asking : { ...asking, authorization };
    return ((await (await test.call("POST", TICKETS, init)).json()) as { ticket: string }).ticket;
  }

  it("opens the door as the person that asked for it; the object is told the nonce, never the ticket", async () => {
    const { actor, handshakes } = open();
    const test = testEdge(actor);
    const token = await test.token({
      userId: "李雷",
      tenantId: "acme",
      roles: ["sre"],
      scopes: ["conversations:read"],
    });
    const ticket = await ticketOf(test, `Bearer ${token}`);
    // Node cannot answer 101; that the object was asked is what counts here.
    await test.call("GET", `${STREAM}?after=abcdefgh.3`, upgrade(ticket));
    const [{ handshake, context: who, headers } = { handshake: null, context: null, headers: "" }] = handshakes;
    expect(who).toMatchObject({ tenantId: "acme", userId: "李雷", roles: ["sre"], scopes: ["conversations:read"] });
    expect(who).not.toHaveProperty("authHeader");
    expect(who?.expiresAt).toBe(NOW + 3_600_000);
    expect(handshake).toEqual({
      conversation: CONVERSATION,
      after: "abcdefgh.3",
      origin: ORIGIN,
      nonce: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/) as string,
      nonceUntil: NOW + 30_000,
    });
    expect(headers).not.toContain(ticket.slice(0, 40));
    expect(test.asked.at(-1)).toEqual({ tenantId: "acme", conversationId: CONVERSATION });
  });

  it.each([
    ["that is none", "a.b", ORIGIN, STREAM, 0],
    ["of another origin", null, null, STREAM, 0],
    ["of another conversation", null, ORIGIN, STREAM.replace(CONVERSATION, OTHER), 0],
    ["that is old", null, ORIGIN, STREAM, 30_000],
  ])("is refused for one %s, before an object is touched", async (_, given, origin, path, later) => {
    const { actor, handshakes } = open();
    const test = testEdge(actor);
    const ticket = given ?? (await ticketOf(test));
    test.clock.now += later;
    const answer = await test.call("GET", path, upgrade(ticket, origin));
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    expect(await problemIn(answer)).toMatchObject({ code: "ticket_invalid", status: 401 });
    expect(handshakes).toEqual([]);
  });

  it("is not a way into anything but the socket", async () => {
    const test = testEdge(open().actor);
    const ticket = await ticketOf(test);
    for (const path of ["/v1/me", `/v1/conversations/${CONVERSATION}`, `/v1/conversations/${CONVERSATION}/events`]) {
      const answer = await test.call("GET", path, upgrade(ticket));
      expect(await problemIn(answer)).toMatchObject({ code: "unauthenticated" });
    }
  });

  it("is not looked at beside a token, which says who comes", async () => {
    const { actor, handshakes } = open();
    const test = testEdge(actor);
    const authorization = `Bearer ${await test.token({ userId: "bob" })}`;
    await test.call("GET", STREAM, { ...upgrade(await ticketOf(test)), authorization });
    expect(handshakes[0]).toMatchObject({ context: { userId: "bob" }, handshake: { origin: ORIGIN } });
    expect(handshakes[0]?.handshake).not.toHaveProperty("nonce");
  });
});
