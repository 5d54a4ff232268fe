import { describe, expect, it } from "vitest";
import { reject, type Rejection } from "../../src/protocol/problems.ts";
import { dispatch } from "../../src/stream/dispatch.ts";
import { refresh, type Renewal } from "../../src/stream/refresh.ts";
import { FakeSocket } from "./fake-socket.ts";

const NOW = 1_800_000_000_000;
const { principal } = new FakeSocket("alice").watcher ?? {
  principal: { tenantId: "", userId: "", roles: [], scopes: [] },
};
const renewal: Renewal = {
  principal: { ...principal, roles: ["sre"], scopes: ["conversations:read"] },
  signedInUntil: NOW + 60_000,
  nonce: "n1",
  exp: NOW + 30_000,
};

/** Sends the frame, with the world as given; what was burnt, and what the socket keeps and was told. */
async function refreshing(
  socket: FakeSocket,
  {
    opened = renewal,
    hidden = null,
    used = false,
  }: { opened?: Renewal | Rejection; hidden?: Rejection | null; used?: boolean } = {},
) {
  const origins: (string | null)[] = [];
  const burnt: string[] = [];
  await dispatch(socket, JSON.stringify({ type: "refresh", id: "r1", ticket: "t" }), {
    conversationId: "c",
    command: async () => ({ ok: false, rejection: reject("internal", "not asked") }),
    failed: (error) => {
      throw error;
    },
    refresh: (ticket, watcher) =>
      refresh(socket, watcher, ticket, {
        open: async (_, origin) => {
          origins.push(origin);
          return "code" in opened ? { ok: false, rejection: opened } : { ok: true, value: opened };
        },
        hidden: () => hidden,
        burn: (nonce) => {
          burnt.push(nonce);
          return !used;
        },
      }),
  });
  return { origins, burnt };
}

describe("a refreshed socket", () => {
  it("is signed in anew, with what the person may do now, and is told until when", async () => {
    const slow = { since: 5, missed: true };
    const socket = new FakeSocket("alice", { expiresAt: NOW + 1, origin: "https://app.test", slow });
    const { origins, burnt } = await refreshing(socket);
    expect(socket.frames).toEqual([{ type: "ack", id: "r1", result: { expiresAt: "2027-01-15T08:01:00.000Z" } }]);
    expect(socket.watcher).toMatchObject({ principal: renewal.principal, expiresAt: NOW + 60_000, slow });
    expect([origins, burnt]).toEqual([["https://app.test"], ["n1"]]);
  });

  it.each([
    [
      "another person's ticket",
      { opened: { ...renewal, principal: { ...principal, userId: "bob" } } },
      "ticket_invalid",
      0,
    ],
    ["another tenant's", { opened: { ...renewal, principal: { ...principal, tenantId: "t2" } } }, "ticket_invalid", 0],
    ["one that is none", { opened: reject("ticket_invalid", "no") }, "ticket_invalid", 0],
    ["a person who may not watch any more", { hidden: reject("not_found", "no") }, "not_found", 0],
    ["one that was used", { used: true }, "ticket_invalid", 1],
  ])("stays as it was, and open, for %s", async (_, world, code, burns) => {
    const socket = new FakeSocket("alice", { expiresAt: NOW + 1 });
    const { burnt } = await refreshing(socket, world);
    expect(socket.frames).toMatchObject([{ type: "problem", id: "r1", problem: { code } }]);
    expect(socket.watcher).toMatchObject({ principal, expiresAt: NOW + 1 });
    expect(burnt).toHaveLength(burns);
    expect(socket.closes).toEqual([]);
  });
});
