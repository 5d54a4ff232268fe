/** The door in workerd: what plain Node cannot do is a socket, and an object that is not touched. */
/// <reference types="@cloudflare/vitest-plugin/types" />
import { env, exports } from "cloudflare:workers";
import { listDurableObjectIds } from "cloudflare:test";
import { expect, test } from "vitest";
import { objectName } from "../../src/edge/object-name.ts";

const BASE = "http://127.0.0.1:8787";
const ask = (path: string, init: RequestInit = {}) => exports.default.fetch(new Request(BASE + path, init));

async function signedIn(who: Record<string, unknown>): Promise<Record<string, string>> {
  const headers = { "content-type": "application/json" };
  const answer = await ask("/dev/token", { method: "POST", headers, body: JSON.stringify(who) });
  const { token } = (await answer.json()) as { token: string };
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

async function conversationOf(headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ agent: "planner" });
  const answer = await ask("/v1/conversations", { method: "POST", headers, body });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}
const upgrade = { upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1, ticket.canary" };

test("a socket opens with the subprotocol alone, a request id, and a welcome", async () => {
  const alice = await signedIn({ userId: "李雷" });
  const id = await conversationOf(alice);
  const answer = await ask(`/v1/conversations/${id}/stream`, { headers: { ...alice, ...upgrade } });
  expect(answer.status).toBe(101);
  expect(answer.headers.get("sec-websocket-protocol")).toBe("holdpoint.v1");
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect(JSON.stringify([...answer.headers])).not.toContain("canary");
  const { webSocket } = answer;
  if (!webSocket) throw new Error("no socket");
  const first = new Promise<string>((resolve) => {
    webSocket.addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
  });
  webSocket.accept();
  expect(JSON.parse(await first)).toMatchObject({ type: "welcome", conversation: { id, role: "owner" } });
  webSocket.close(1000);
});

test("a socket to somebody else's conversation is the 404 of one that is not there", async () => {
  const id = await conversationOf(await signedIn({ userId: "alice" }));
  for (const who of [{ userId: "bob" }, { userId: "alice", tenantId: "other" }]) {
    const headers = { ...(await signedIn(who)), ...upgrade };
    const answer = await ask(`/v1/conversations/${id}/stream`, { headers });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not_found", requestId: answer.headers.get("x-request-id") });
  }
});

test("a request that the edge refuses touches no object", async () => {
  const alice = await signedIn({ userId: "alice" });
  const before = await listDurableObjectIds(env.CONVERSATIONS);
  const id = "0123456789abcdefghjkmnpqrs";
  for (const [path, headers, status] of [
    [`/v1/conversations/${id}`, {}, 401],
    [`/v1/conversations/${id}/stream`, { ...alice, ...upgrade, origin: "https://evil.test" }, 403],
    [`/v1/conversations/${id}/stream?after=x`, { ...alice, ...upgrade }, 422],
    [`/v1/conversations/${"a".repeat(64)}`, alice, 404],
  ] as const) {
    expect((await ask(path, { headers })).status).toBe(status);
  }
  expect(await listDurableObjectIds(env.CONVERSATIONS)).toEqual(before);
});

test("a conversation's object is found by its tenant and id", async () => {
  const id = await conversationOf(await signedIn({ userId: "alice", tenantId: "acme" }));
  const expected = env.CONVERSATIONS.idFromName(await objectName("acme", id));
  const ids = await listDurableObjectIds(env.CONVERSATIONS);
  expect(ids.some((one) => one.equals(expected))).toBe(true);
});

test("10 MB without a length get their problem, in workerd too", async () => {
  const alice = await signedIn({ userId: "alice" });
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 64 * 1024;
      if (sent > 10 * 1024 * 1024) controller.close();
      else controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
  const answer = await ask("/v1/conversations", { method: "POST", headers: alice, body });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ code: "payload_too_large" });
});
