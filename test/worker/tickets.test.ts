/** Tickets and the end of a sign-in (case S68), on real sockets: what a browser does, on the loopback origin of development. */
import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { stubFor } from "../../src/edge/stub-for.ts";
import type { ServerFrame } from "../../src/protocol/frames.ts";

const ORIGIN = "http://127.0.0.1:8787";
const JSON_TYPE = { "content-type": "application/json" };
const ask = (path: string, init: RequestInit = {}) => exports.default.fetch(new Request(ORIGIN + path, init));

class Browser {
  readonly userId: string;
  #token = "";
  conversation = "";

  constructor(userId = `user-${crypto.randomUUID()}`) {
    this.userId = userId;
  }

  async signIn(ttlSeconds?: number): Promise<this> {
    const body = JSON.stringify({ userId: this.userId, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) });
    const answer = await ask("/dev/token", { method: "POST", headers: JSON_TYPE, body });
    this.#token = ((await answer.json()) as { token: string }).token;
    return this;
  }

  call(path: string, init: { method?: string; body?: unknown; headers?: Record<string, string> } = {}) {
    const { method = "GET", body, headers } = init;
    return ask(path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, origin: ORIGIN, ...JSON_TYPE, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async create(): Promise<string> {
    const answer = await this.call("/v1/conversations", { method: "POST", body: { agent: "planner" } });
    this.conversation = ((await answer.json()) as { id: string }).id;
    return this.conversation;
  }

  async rename(title: string): Promise<void> {
    await this.call(`/v1/conversations/${this.conversation}`, { method: "PATCH", body: { title } });
  }

  async ticket(conversation = this.conversation): Promise<string> {
    const answer = await this.call(`/v1/conversations/${conversation}/tickets`, { method: "POST" });
    if (answer.status !== 201) throw new Error(`no ticket: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { ticket: string }).ticket;
  }
}

const knock = (conversation: string, ticket: string) =>
  ask(`/v1/conversations/${conversation}/stream`, {
    headers: { upgrade: "websocket", "sec-websocket-protocol": `holdpoint.v1, ticket.${ticket}`, origin: ORIGIN },
  });

async function opened(conversation: string, ticket: string) {
  const answer = await knock(conversation, ticket);
  const socket = answer.webSocket;
  if (!socket) throw new Error(`no socket: ${answer.status} ${await answer.text()}`);
  const frames: ServerFrame[] = [];
  const closes: number[] = [];
  socket.addEventListener("message", ({ data }) => void frames.push(JSON.parse(String(data)) as ServerFrame));
  socket.addEventListener("close", ({ code }) => void closes.push(code));
  socket.accept();
  return { answer, socket, frames, closes };
}

describe("a ticket", () => {
  test("opens one socket, as the one who asked for it, under the subprotocol alone", async () => {
    const browser = await new Browser().signIn();
    const id = await browser.create();
    const ticket = await browser.ticket();
    const { answer, frames, socket } = await opened(id, ticket);
    expect(answer.headers.get("sec-websocket-protocol")).toBe("holdpoint.v1");
    await expect.poll(() => frames).toMatchObject([{ type: "welcome", conversation: { id, role: "owner" } }]);
    const again = await knock(id, ticket);
    expect([again.status, await again.json()]).toMatchObject([401, { code: "ticket_invalid" }]);
    await evictDurableObject(await stubFor(env, { id: "development" }, id));
    expect((await knock(id, ticket)).status).toBe(401);
    socket.close(1000);
  });

  test("is good for its own conversation, and of nobody's else", async () => {
    const browser = await new Browser().signIn();
    const first = await browser.create();
    const second = await browser.create();
    const elsewhere = await knock(second, await browser.ticket(first));
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([401, { code: "ticket_invalid" }]);
    const stranger = await new Browser().signIn();
    const unseen = await stranger.call(`/v1/conversations/${first}/tickets`, { method: "POST" });
    expect([unseen.status, await unseen.json()]).toMatchObject([404, { code: "not_found" }]);
  });

  test("raced for by two is won by one", async () => {
    const browser = await new Browser().signIn();
    const id = await browser.create();
    const ticket = await browser.ticket();
    const statuses = (await Promise.all([knock(id, ticket), knock(id, ticket)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([101, 401]);
  });
});

describe("a sign-in that ends", () => {
  test("closes an idle socket with its code, and ends a stream with the same", async () => {
    const browser = await new Browser().signIn();
    const id = await browser.create();
    await browser.signIn(2);
    const { closes } = await opened(id, await browser.ticket());
    const stream = await browser.call(`/v1/conversations/${id}/events`, { headers: { accept: "text/event-stream" } });
    const told = await stream.text();
    expect(told).toContain('event: closed\ndata: {"code":3000,"reason":"token expired"}\n\n');
    await expect.poll(() => closes).toEqual([3000]);
  });

  test("does so though nobody was awake in between", async () => {
    const browser = await new Browser().signIn();
    const id = await browser.create();
    await browser.signIn(3);
    const { closes } = await opened(id, await browser.ticket());
    await evictDurableObject(await stubFor(env, { id: "development" }, id));
    expect(closes).toEqual([]);
    await expect.poll(() => closes, { timeout: 10_000 }).toEqual([3000]);
  });

  test("is put off by a ticket on the socket itself: the socket stays, and hears what comes after", async () => {
    const browser = await new Browser().signIn();
    const id = await browser.create();
    await browser.signIn(3);
    const [kept, left] = [await opened(id, await browser.ticket()), await opened(id, await browser.ticket())];
    await browser.signIn();
    const ticket = await browser.ticket();
    kept.socket.send(JSON.stringify({ type: "refresh", id: "r1", ticket }));
    kept.socket.send(JSON.stringify({ type: "refresh", id: "r2", ticket }));
    const answers = () => kept.frames.filter(({ type }) => type === "ack" || type === "problem");
    await expect.poll(answers).toMatchObject([
      { type: "ack", id: "r1", result: { expiresAt: expect.any(String) as string } },
      { type: "problem", id: "r2", problem: { code: "ticket_invalid" } },
    ]);
    await expect.poll(() => left.closes, { timeout: 10_000 }).toEqual([3000]);
    await browser.rename("still here");
    await expect.poll(() => kept.frames.at(-1)).toMatchObject({ event: { type: "conversation.updated" } });
    expect(left.frames.map(({ type }) => type)).not.toContain("event");
    kept.socket.close(1000);
  });

  test("is not put off by another person's ticket", async () => {
    const owner = await new Browser().signIn();
    const id = await owner.create();
    const guest = await new Browser().signIn();
    const path = `/v1/conversations/${id}/participants/${guest.userId}`;
    expect((await owner.call(path, { method: "PUT", body: { role: "viewer" } })).status).toBe(200);
    const { socket, frames } = await opened(id, await guest.ticket(id));
    socket.send(JSON.stringify({ type: "refresh", id: "r", ticket: await owner.ticket() }));
    await expect.poll(() => frames.at(-1)).toMatchObject({ type: "problem", problem: { code: "ticket_invalid" } });
    socket.close(1000);
  });
});
