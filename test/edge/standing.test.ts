/** Whether a sign-in still counts, as the edge asks it; commands are their actor's to ask about. */
import { describe, expect, it } from "vitest";
import { reject } from "../../src/protocol/problems.ts";
import {
  CONVERSATION,
  emptyActor,
  emptyHistory,
  emptyTenants,
  problemIn,
  recordingActor,
  testEdge,
} from "./support/edge.ts";

const OUT = reject("unauthenticated", "The bearer token is not valid.");
const optional = { history: emptyHistory, tenants: emptyTenants, agents: async () => [] };
const CONV = `/v1/conversations/${CONVERSATION}`;

describe("a sign-in that counts no more", () => {
  it.each([
    ["GET", "/v1/me"],
    ["GET", "/v1/agents"],
    ["GET", "/v1/conversations"],
    ["GET", "/v1/confirmations"],
    ["GET", CONV],
    ["GET", `${CONV}/messages`],
    ["GET", `${CONV}/events`],
    ["GET", `${CONV}/stream`],
    ["POST", `${CONV}/tickets`],
  ])("is refused at %s %s, in the words of any bad token", async (method, path) => {
    const test = testEdge(undefined, { ...optional, standing: async () => OUT });
    const answer = await test.call(method, path);
    expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(await problemIn(answer)).toMatchObject({ status: 401, code: "unauthenticated", detail: OUT.detail });
  });

  it("opens no socket, and is asked about before there is one", async () => {
    const fetched: string[] = [];
    const actor = { ...emptyActor, fetch: async (request: Request) => (fetched.push(request.url), new Response(null)) };
    const test = testEdge(actor, { standing: async () => OUT });
    const headers = { upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1" };
    expect((await test.call("GET", `${CONV}/stream`, { headers })).status).toBe(401);
    expect(fetched).toEqual([]);
  });

  it("is told so, and not which scope it would have needed", async () => {
    const test = testEdge(undefined, { ...optional, standing: async () => OUT });
    const authorization = `Bearer ${await test.token({ userId: "ann", scopes: [] })}`;
    expect((await test.call("GET", "/v1/conversations", { authorization })).status).toBe(401);
  });

  it("changes nobody's standing", async () => {
    let changed = 0;
    const tenants = {
      ...emptyTenants,
      changeUser: async () => (changed++, { tenantId: "", userId: "", state: "active" as const }),
    };
    const test = testEdge(undefined, { ...optional, tenants, standing: async () => OUT });
    const authorization = `Bearer ${await test.token({ userId: "root", scopes: ["tenant:admin"] })}`;
    const answer = await test.call("POST", "/v1/tenant/users/ann/deactivate", { authorization });
    expect([answer.status, changed]).toEqual([401, 0]);
  });
});

it("commands are not asked about here: their actor does, beside everything else", async () => {
  const { actor, commands } = recordingActor();
  let asked = 0;
  const test = testEdge(actor, { standing: async () => (asked++, OUT) });
  const answer = await test.call("PATCH", CONV, { json: { archived: true } });
  expect([answer.status, asked, commands.length]).toEqual([202, 0, 1]);
});

it("reading does not wait for the answer to begin", async () => {
  const order: string[] = [];
  const actor = {
    ...emptyActor,
    snapshot: async () => (order.push("read"), { ok: false as const, rejection: reject("not_found", "no") }),
  };
  const standing = async () => {
    await new Promise((soon) => setImmediate(soon));
    order.push("told");
    return null;
  };
  expect((await testEdge(actor, { standing }).call("GET", CONV)).status).toBe(404);
  expect(order).toEqual(["read", "told"]);
});

describe("an administrator across tenants", () => {
  const asPlatform = async (headers: Record<string, string>) => {
    const test = testEdge(undefined, optional);
    const token = await test.token({ userId: "root", tenantId: "operations", scopes: ["platform:admin"] });
    const answer = await test.call("POST", "/v1/admin/tenants/acme/pause", {
      authorization: `Bearer ${token}`,
      headers,
    });
    return { answer, log: test.log };
  };

  it.each([[{}], [{ "x-audit-reason": "" }], [{ "x-audit-reason": "   " }], [{ "x-audit-reason": "x".repeat(501) }]])(
    "says why, or is refused: %j",
    async (headers) => {
      const { answer } = await asPlatform(headers);
      expect(await problemIn(answer)).toMatchObject({ status: 400, code: "audit_reason_missing" });
    },
  );

  it("leaves a trace: who, what, where, and why, in any language", async () => {
    const { answer, log } = await asPlatform({ "x-audit-reason": encodeURIComponent("欠费") });
    expect(answer.status).toBe(202);
    expect(log.find(({ event }) => event === "administrator_acted")?.fields).toMatchObject({
      userId: "root",
      tenantId: "operations",
      operation: "pause",
      target: "acme",
      reason: "欠费",
    });
  });
});
