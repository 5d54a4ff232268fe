import { describe, expect, test } from "vitest";
import { FakeSocket } from "./fake-socket.ts";
import { delta, shared, Stage } from "./stage.ts";

describe("an expired sign-in", () => {
  test("closes the socket at the next broadcast, preview or command, with the code for it", () => {
    const { state, events } = shared();
    const uses: ((stage: Stage, socket: FakeSocket) => unknown)[] = [
      ({ publisher }) => publisher.events(events, state),
      ({ publisher }) => publisher.delta(delta(0, "a")),
      ({ publisher }, socket) => publisher.admits(socket),
    ];
    for (const use of uses) {
      const socket = new FakeSocket("alice", { expiresAt: 1_000 });
      const stage = new Stage(socket);
      stage.now = 999;
      expect(stage.publisher.admits(socket)).toBe(true);
      stage.now = 1_000;
      use(stage, socket);
      expect(socket.closes).toEqual([{ code: 3000, reason: "token expired" }]);
      expect(socket.sent).toEqual([]);
      expect(stage.publisher.admits(socket)).toBe(false);
    }
  });
});

describe("sign-ins that end", () => {
  test("are known by the earliest of those who still watch", () => {
    const [alice, bob] = [new FakeSocket("alice", { expiresAt: 2_000 }), new FakeSocket("bob", { expiresAt: 3_000 })];
    const stage = new Stage(alice, bob);
    expect(new Stage().publisher.nextEnd()).toBeNull();
    expect(stage.publisher.nextEnd()).toBe(2_000);
    stage.now = 2_000;
    stage.publisher.endDue();
    // Closed by us, but listed until the other side answers.
    expect(stage.publisher.nextEnd()).toBe(3_000);
    expect([alice.closes, bob.closes]).toEqual([[{ code: 3000, reason: "token expired" }], []]);
    stage.publisher.endDue();
    expect(alice.closes).toHaveLength(1);
  });

  test("do not end for a socket that was refreshed", () => {
    const alice = new FakeSocket("alice", { expiresAt: 2_000 });
    const stage = new Stage(alice);
    if (alice.watcher) alice.keep({ ...alice.watcher, expiresAt: 9_000 });
    stage.now = 2_000;
    stage.publisher.endDue();
    expect([stage.publisher.nextEnd(), alice.closes]).toEqual([9_000, []]);
  });
});
