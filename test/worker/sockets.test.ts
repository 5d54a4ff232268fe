import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { CLOSE } from "../../src/protocol/frames.ts";
import { DurableSockets } from "../../src/stream/durable-sockets.ts";
import { closeSocket } from "../../src/stream/sockets.ts";
import { watcher } from "../stream/fake-socket.ts";

const inObject = (run: (state: DurableObjectState) => void | Promise<void>) =>
  runInDurableObject(env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId()), (_object, state) => run(state));

test("a socket says its greeting, speaks the subprotocol, and is known again without memory", () =>
  inObject(async (state) => {
    const answer = new DurableSockets(state).accept(watcher("alice"), ["one", "two"]);
    expect(answer.status).toBe(101);
    expect(answer.headers.get("sec-websocket-protocol")).toBe("holdpoint.v1");
    const client = answer.webSocket;
    if (!client) throw new Error("no socket");
    const heard: unknown[] = [];
    client.addEventListener("message", ({ data }) => void heard.push(data));
    client.accept();
    // Another binding of the same object: what a life after a hibernation has.
    const after = new DurableSockets(state);
    expect(after.all().map((socket) => socket.watcher)).toEqual([watcher("alice")]);
    expect(after.all("alice")).toHaveLength(1);
    expect(after.all("bob")).toEqual([]);
    const [socket] = after.all();
    if (!socket) throw new Error("no socket");
    socket.keep(watcher("alice", { slow: { since: 7, missed: true } }));
    expect(new DurableSockets(state).all()[0]?.watcher?.slow).toEqual({ since: 7, missed: true });
    expect(socket.bufferedAmount).toBeTypeOf("number");
    expect(after.all()[0]).toBe(socket);
    socket.send("three");
    await expect.poll(() => heard).toEqual(["one", "two", "three"]);
    client.send("ping");
    await expect.poll(() => heard.at(-1)).toBe("pong");
  }));

test("closes with each of our codes, and with none that the platform refuses", () =>
  inObject((state) => {
    for (const code of [...Object.values(CLOSE), 1005, 1006, 1015, 9]) {
      const sockets = new DurableSockets(state);
      sockets.accept(watcher(`user-${code}`), []);
      const [socket] = sockets.all(`user-${code}`);
      if (!socket) throw new Error("no socket");
      closeSocket(socket, code, "a reason ".repeat(40));
      expect(() => socket.send("after")).toThrow();
      closeSocket(socket, code, "twice");
    }
  }));

test("a user, and a conversation, have room for so many and no more", () =>
  inObject((state) => {
    const sockets = new DurableSockets(state);
    for (let n = 0; n < LIMITS.socketsPerUser; n++) {
      expect(sockets.refusal(watcher("alice"))).toBeNull();
      sockets.accept(watcher("alice"), []);
    }
    expect(sockets.refusal(watcher("alice"))?.code).toBe("too_many_sockets");
    expect(sockets.refusal(watcher("bob"))).toBeNull();
    for (let n = LIMITS.socketsPerUser; n < LIMITS.socketsPerConversation; n++) sockets.accept(watcher(`u${n}`), []);
    expect(sockets.refusal(watcher("bob"))?.code).toBe("too_many_sockets");
  }));

test("the longest user ids are told apart, and a sign-in that no attachment holds is refused beforehand", () =>
  inObject((state) => {
    const sockets = new DurableSockets(state);
    const id = "中".repeat(255);
    const scopes = Array.from({ length: 100 }, (_, n) => `scope:${n}:${"x".repeat(100)}`);
    const full = watcher(id, { principal: { tenantId: "t1", userId: id, roles: [], scopes } });
    expect(sockets.refusal(full)).toBeNull();
    sockets.accept(full, []);
    expect(sockets.all(id)[0]?.watcher).toEqual(full);
    expect(sockets.all(id.slice(1))).toEqual([]);
    expect(sockets.all(`${id.slice(1)}国`)).toEqual([]);
    const more = { ...full, principal: { ...full.principal, scopes: [...scopes, ...scopes] } };
    expect(sockets.refusal(more)?.code).toBe("payload_too_large");
  }));
