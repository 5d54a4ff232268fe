import { describe, expect, it } from "vitest";
import { RequestContext } from "../../src/protocol/principal.ts";
import { problemOf, reject, type Rejection } from "../../src/protocol/problems.ts";
import { CONTEXT_HEADER } from "../../src/protocol/rpc.ts";
import { CONVERSATION, emptyActor, problemIn, testEdge } from "./support/edge.ts";

const STREAM = `/v1/conversations/${CONVERSATION}/stream`;
const upgrade = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-protocol": "holdpoint.v1" };

/** Keeps the handshakes and refuses them: Node's `Response` cannot be a 101. */
function door(rejection: Rejection = reject("not_found", "no")) {
  const handshakes: Request[] = [];
  const actor = {
    ...emptyActor,
    fetch: async (request: Request) => {
      handshakes.push(request);
      return Response.json(problemOf(rejection, "r"), { status: 404 });
    },
  };
  return { actor, handshakes };
}

describe("the socket's door", () => {
  it("makes the object's request anew: verified context, cursor, and nothing of the client's", async () => {
    const { actor, handshakes } = door();
    const test = testEdge(actor);
    const authorization = `Bearer ${await test.token({ userId: "李雷", tenantId: "acme", roles: ["sre"], scopes: ["conversations:read"] })}`;
    const headers = {
      ...upgrade,
      [CONTEXT_HEADER]: "{}",
      "x-tenant": "evil",
      "cf-connecting-ip": "1.2.3.4",
      cookie: "a=b",
      "sec-websocket-protocol": "holdpoint.v1, ticket.canary",
    };
    await test.call("GET", `${STREAM}?after=abcdefgh.7&conversation=evil`, { headers, authorization });
    const [handshake] = handshakes;
    const url = new URL(handshake?.url ?? "");
    expect([...url.searchParams]).toEqual([
      ["conversation", CONVERSATION],
      ["after", "abcdefgh.7"],
    ]);
    expect([...(handshake?.headers.keys() ?? [])].toSorted()).toEqual(["upgrade", CONTEXT_HEADER].toSorted());
    const context = RequestContext.parse(JSON.parse(handshake?.headers.get(CONTEXT_HEADER) ?? ""));
    expect(context).toMatchObject({ tenantId: "acme", userId: "李雷", roles: ["sre"], scopes: ["conversations:read"] });
    expect(context).not.toHaveProperty("deadlineAt");
    expect(JSON.stringify([...(handshake?.headers ?? [])])).not.toMatch(/evil|canary|1\.2\.3\.4/);
  });

  it("sends no cursor where the client has none", async () => {
    const { actor, handshakes } = door();
    await testEdge(actor).call("GET", STREAM, { headers: upgrade });
    expect(new URL(handshakes[0]?.url ?? "").searchParams.has("after")).toBe(false);
  });

  it.each([
    ["no upgrade", {}, STREAM, "not_acceptable"],
    ["another upgrade", { ...upgrade, upgrade: "h2c" }, STREAM, "not_acceptable"],
    ["no subprotocol", { upgrade: "websocket" }, STREAM, "invalid_request"],
    ["another subprotocol", { ...upgrade, "sec-websocket-protocol": "holdpoint.v2" }, STREAM, "invalid_request"],
    ["a ticket alone", { ...upgrade, "sec-websocket-protocol": "ticket.abc" }, STREAM, "invalid_request"],
    ["a malformed cursor", upgrade, `${STREAM}?after=7`, "cursor_invalid"],
    ["an empty cursor", upgrade, `${STREAM}?after=`, "cursor_invalid"],
    ["a cursor below zero", upgrade, `${STREAM}?after=abcdefgh.-1`, "cursor_invalid"],
    ["a conversation of another form", upgrade, "/v1/conversations/x/stream", "not_found"],
  ])("stays closed for %s, before an object is touched", async (_, headers, path, code) => {
    const test = testEdge(door().actor);
    expect(await problemIn(await test.call("GET", path, { headers }))).toMatchObject({ code });
    expect(test.asked).toEqual([]);
  });

  it("stays closed without a sign-in", async () => {
    const test = testEdge(door().actor);
    const answer = await test.call("GET", STREAM, { headers: upgrade, authorization: null });
    expect(await problemIn(answer)).toMatchObject({ code: "unauthenticated" });
    expect(test.asked).toEqual([]);
  });

  it("tells the object's refusal in the request's own name", async () => {
    const { actor } = door(reject("too_many_sockets", "At most 10.", { retryAfterMs: 2_500 }));
    const answer = await testEdge(actor).call("GET", STREAM, { headers: upgrade });
    expect(answer.headers.get("retry-after")).toBe("3");
    expect(await problemIn(answer)).toMatchObject({ code: "too_many_sockets", retryAfterMs: 2_500 });
  });

  it("is a fault of ours where the object answers something else", async () => {
    for (const body of ["<html>", '{"code":"made_up"}']) {
      const actor = { ...emptyActor, fetch: async () => new Response(body) };
      const answer = await testEdge(actor).call("GET", STREAM, { headers: upgrade });
      expect(await problemIn(answer)).toMatchObject({ code: "internal", status: 500 });
    }
  });
});
