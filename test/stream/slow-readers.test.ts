import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { FakeSocket } from "./fake-socket.ts";
import { delta, shared, Stage } from "./stage.ts";

describe("a reader that does not read", () => {
  test("still gets events while it is behind, but not for longer than it may be", () => {
    const slow = new FakeSocket("alice");
    const stage = new Stage(slow);
    const { state, events } = shared();
    slow.bufferedAmount = LIMITS.slowDropBytes + 1;
    stage.publisher.events(events, state);
    expect(slow.sent).toHaveLength(events.length);
    stage.now += LIMITS.slowCloseMs;
    stage.life().delta(delta(0, "a"));
    expect(slow.closes).toEqual([{ code: 1013, reason: "reads too slowly" }]);
  });

  test("is closed at once when the upper bound is passed, and only once", () => {
    const slow = new FakeSocket("alice");
    const stage = new Stage(slow);
    const { state, events } = shared();
    slow.bufferedAmount = LIMITS.slowCloseBytes + 1;
    stage.publisher.events(events, state);
    stage.publisher.delta(delta(0, "a"));
    stage.publisher.close(1000, "done");
    expect(slow.closes.map(({ code }) => code)).toEqual([1013]);
    expect(slow.sent).toEqual([]);
  });

  test("has its share of what a crowd may keep waiting, and no more", () => {
    const crowd = Array.from({ length: 128 }, () => new FakeSocket("alice"));
    const [slow, slower] = crowd;
    if (!slow || !slower) throw new Error("no crowd");
    const stage = new Stage(...crowd);
    const share = LIMITS.slowCrowdBytes / crowd.length;
    expect(share).toBeLessThan(LIMITS.slowDropBytes);
    slow.bufferedAmount = share + 1;
    slower.bufferedAmount = 4 * share + 1;
    stage.publisher.delta(delta(0, "a"));
    expect(crowd.filter(({ sent }) => sent.length === 1)).toHaveLength(126);
    expect(slow.closes).toEqual([]);
    expect(slower.closes.map(({ code }) => code)).toEqual([1013]);
    // Alone with as much, it is still served.
    const alone = new FakeSocket("alice");
    alone.bufferedAmount = share + 1;
    new Stage(alone).publisher.delta(delta(0, "a"));
    expect(alone.sent).toHaveLength(1);
  });

  test("is not counted as behind for the time in which it had caught up", () => {
    const slow = new FakeSocket("alice");
    const stage = new Stage(slow);
    for (let round = 0; round < 5; round++) {
      slow.bufferedAmount = LIMITS.slowDropBytes + 1;
      stage.publisher.delta(delta(0, "a"));
      stage.now += LIMITS.slowCloseMs - 1;
      slow.bufferedAmount = 0;
      stage.publisher.delta(delta(0, "a"));
    }
    expect(slow.closes).toEqual([]);
  });
});
