import * as fc from "fast-check";
import { expect, test } from "vitest";
import { utf8Bytes } from "../../src/protocol/text.ts";
import { closeSocket, contextOf, sendableCode, watcherIn } from "../../src/stream/sockets.ts";
import { watcher } from "./fake-socket.ts";

test("a close code that may not be sent is answered with one that may", () => {
  for (const code of [1004, 1005, 1006, 1015, 0, 999, 2999, 5000, Number.NaN, 1000.5, -1]) {
    expect(sendableCode(code)).toBe(1000);
  }
  for (const code of [1000, 1001, 1008, 1009, 1011, 1012, 1013, 3000, 3003, 4410, 4999]) {
    expect(sendableCode(code)).toBe(code);
  }
});

test("closing never throws and never says more than a close frame holds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 70_000 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      (code, reason) => {
        const said: { code: number; reason: string }[] = [];
        closeSocket({ close: (code, reason) => void said.push({ code, reason }) }, code, reason);
        expect(utf8Bytes(said[0]?.reason ?? "")).toBeLessThanOrEqual(123);
        expect(said[0]?.code).toBe(sendableCode(code));
      },
    ),
  );
  const broken = () => {
    throw new TypeError("closed");
  };
  expect(() => closeSocket({ close: broken }, 1000, "")).not.toThrow();
});

test("what a socket kept is read back, and anything else is nobody", () => {
  const kept = watcher("alice", { slow: { since: 5, missed: true } });
  expect(watcherIn(structuredClone(kept))).toEqual(kept);
  for (const odd of [
    null,
    undefined,
    1,
    "x",
    [],
    {},
    { ...kept, principal: { userId: "alice" } },
    { ...kept, expiresAt: "never" },
  ]) {
    expect(watcherIn(odd)).toBeNull();
  }
  expect(watcherIn({ ...kept, slow: { since: "x" } })).toEqual(watcher("alice"));
});

test("a command on a socket carries the identity that the socket was opened with, and no credential", () => {
  const context = contextOf(watcher("alice"));
  expect(context).toMatchObject({ tenantId: "t1", userId: "alice", requestId: "req-alice" });
  expect(context).not.toHaveProperty("authHeader");
});
