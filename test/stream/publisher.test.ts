import { describe, expect, test } from "vitest";
import { ServerFrame } from "../../src/protocol/frames.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { State } from "../../src/run/state.ts";
import { SocketPublisher } from "../../src/stream/publisher.ts";
import { RUN } from "../storage/talk.ts";
import { FakeSocket, room } from "./fake-socket.ts";
import { delta, MESSAGE, shared, Stage } from "./stage.ts";

describe("events", () => {
  test("reach every participant in order, as the log has them, with their cursor", () => {
    const alice = new FakeSocket("alice");
    const { state, events } = shared();
    new Stage(alice).publisher.events(events, state);
    expect(alice.sent).toEqual(
      events.map(({ event, json }) => `{"type":"event","cursor":"abcd1234.${event.seq}","event":${json}}`),
    );
    for (const frame of alice.frames) expect(ServerFrame.safeParse(frame).success).toBe(true);
  });

  test("are encoded once for all who see details, and once for all viewers", () => {
    const sockets = [new FakeSocket("alice"), new FakeSocket("vic"), new FakeSocket("alice"), new FakeSocket("vic")];
    const { state, events } = shared();
    let parsed = 0;
    const counted = events.map((encoded) => ({
      data: encoded.data,
      json: encoded.json,
      get event() {
        parsed++;
        return encoded.event;
      },
    }));
    new Stage(...sockets).publisher.events(counted, state);
    const [one, two, three, four] = sockets.map(({ sent }) => sent);
    expect(one).toEqual(three);
    expect(two).toEqual(four);
    expect(parsed).toBe(2 * events.length);
    expect(one?.join("")).toContain("secret-iban");
    expect(two?.join("")).not.toContain("secret-iban");
    expect(two).toHaveLength(events.length);
  });

  test("show the whole to whoever started the run, whatever the role is now", () => {
    const { state, events } = shared();
    const downgraded: State = { ...state, participants: [{ userId: "alice", role: "viewer" }] };
    const alice = new FakeSocket("alice");
    new Stage(alice).publisher.events(events, downgraded);
    expect(alice.sent.join("")).toContain("secret-iban");
  });

  test("reach an operator while the hand-over lasts, and close their socket after it", () => {
    const { state, events } = shared();
    const principal = { tenantId: "t1", userId: "op", roles: [], scopes: ["handover:operate"] };
    const operator = new FakeSocket("op", { principal });
    const stage = new Stage(operator);
    const asked: State = { ...state, handover: { state: "requested", operator: null } };
    stage.publisher.events(events, asked);
    expect(operator.sent.join("")).toContain("secret-iban");
    stage.publisher.events(events, state);
    expect(operator.closes).toEqual([{ code: 3003, reason: "no longer a participant" }]);
    expect(operator.sent).toHaveLength(events.length);
  });

  test("close the socket of a sign-in that was taken back, whatever the place; the others go on", () => {
    const { state, events } = shared();
    const [alice, vic] = [new FakeSocket("alice"), new FakeSocket("vic")];
    const publisher = new SocketPublisher({
      sockets: room(alice, vic),
      now: () => 1_000,
      inProgress: () => null,
      log: { warn: () => {} },
      revoked: ({ userId }) => userId === "alice",
    });
    publisher.events(events, state);
    expect(alice.sent).toEqual([]);
    expect(alice.closes).toEqual([{ code: 3003, reason: "signed out" }]);
    expect(vic.sent).toHaveLength(events.length);
    expect(publisher.close(3003, "gone", "alice")).toBe(0);
    expect(publisher.close(3003, "gone")).toBe(1);
  });

  test("close the socket of somebody without a place, and of another tenant, before a word is said", () => {
    const stranger = new FakeSocket("mallory");
    const namesake = new FakeSocket("alice", { principal: { tenantId: "t2", userId: "alice", roles: [], scopes: [] } });
    const { state, events } = shared();
    new Stage(stranger, namesake).publisher.events(events, state);
    expect([stranger.sent, namesake.sent]).toEqual([[], []]);
    expect([...stranger.closes, ...namesake.closes].map(({ code }) => code)).toEqual([3003, 3003]);
  });

  test("after a hibernation reach the same sockets, told apart by what they kept", () => {
    const alice = new FakeSocket("alice");
    const vic = new FakeSocket("vic");
    const stage = new Stage(alice, vic);
    const { state, events } = shared();
    stage.life().events(events, state);
    stage.life().events(events, state);
    expect(alice.sent).toHaveLength(2 * events.length);
    expect(vic.sent.join("")).not.toContain("secret-iban");
  });

  test("close a socket whose attachment cannot be read, so that it comes back with one that can", () => {
    const odd = new FakeSocket("alice");
    odd.watcher = null;
    const { state, events } = shared();
    new Stage(odd).publisher.events(events, state);
    expect(odd.closes.map(({ code }) => code)).toEqual([1012]);
  });
});

describe("a dead socket", () => {
  test("never throws out of publishing, and the others get everything", () => {
    const dead = new FakeSocket("alice");
    dead.broken = new TypeError("Can't call WebSocket send() after close().");
    const alive = new FakeSocket("alice");
    const stage = new Stage(dead, alive);
    const { state, events } = shared();
    stage.publisher.events(events, state);
    stage.publisher.delta(delta(0, "x"));
    stage.publisher.close(1000, "done");
    expect(alive.types).toEqual([...events.map(() => "event"), "delta"]);
    expect(alive.closes).toEqual([{ code: 1000, reason: "done" }]);
    expect(stage.lost).toEqual([{ event: "watcher_lost", requestId: "req-alice", error: "TypeError" }]);
  });
});

describe("previews", () => {
  test("are the same text for all", () => {
    const sockets = [new FakeSocket("alice"), new FakeSocket("vic")];
    new Stage(...sockets).publisher.delta(delta(3, "abc"));
    for (const { frames } of sockets) expect(frames).toEqual([delta(3, "abc")]);
  });

  test("are left out for a reader that is behind, who gets one partial when it has caught up", () => {
    const slow = new FakeSocket("alice");
    const quick = new FakeSocket("vic");
    const stage = new Stage(slow, quick);
    stage.publisher.delta(delta(0, "a"));
    slow.bufferedAmount = LIMITS.slowDropBytes + 1;
    stage.publisher.delta(delta(1, "b"));
    stage.now += LIMITS.slowCloseMs - 1;
    stage.publisher.delta(delta(2, "c"));
    slow.bufferedAmount = LIMITS.slowDropBytes;
    stage.progress = { messageId: MESSAGE, attempt: 1, part: 0, text: "abc" };
    // In another life: what it missed is not forgotten with the memory.
    stage.life().delta(delta(3, "d"));
    stage.life().delta(delta(4, "e"));
    expect(slow.frames).toEqual([delta(0, "a"), { type: "partial", ...stage.progress }, delta(3, "d"), delta(4, "e")]);
    expect(quick.types).toEqual(Array(5).fill("delta"));
  });

  test("missed by a reader that catches up after the message was completed are not repeated", () => {
    const slow = new FakeSocket("alice");
    const stage = new Stage(slow);
    slow.bufferedAmount = LIMITS.slowDropBytes + 1;
    stage.publisher.delta(delta(0, "a"));
    slow.bufferedAmount = 0;
    stage.publisher.delta(delta(0, "new"));
    expect(slow.frames).toEqual([delta(0, "new")]);
    expect(slow.watcher?.slow).toBeUndefined();
  });
});

test("one user's sockets can be closed alone", () => {
  const alice = new FakeSocket("alice");
  const vic = new FakeSocket("vic");
  new Stage(alice, vic).publisher.close(3003, "deactivated", "vic");
  expect(alice.closes).toEqual([]);
  expect(vic.closes).toEqual([{ code: 3003, reason: "deactivated" }]);
});

test("the run of the events is the one that the tests mean", () => {
  expect(shared().events.every(({ event }) => event.runId === RUN)).toBe(true);
});
