import { describe, expect, it } from "vitest";
import { FrameEncoder, type StreamFilter } from "../../src/edge/frame-encoder.ts";
import * as frames from "./support/streams.ts";
import { caughtUp, cursor, delta, event, live, partial, readSse, reset, runOf, welcome } from "./support/streams.ts";

const RUN = runOf(1).id;

/** What a reader is told of these frames, and after which of them the stream ended. */
function told(filter: StreamFilter, ...sent: readonly object[]) {
  const encoder = new FrameEncoder(filter);
  let text = "";
  let ended: number | null = null;
  for (const [at, frame] of sent.entries()) {
    const encoded = encoder.encode(JSON.stringify(frame), false);
    text += encoded.text;
    if (!encoded.last) continue;
    ended = at;
    break;
  }
  return { events: readSse(text), ended };
}
const typesOf = (filter: StreamFilter, ...sent: readonly object[]) =>
  told(filter, ...sent).events.map(({ event: type }) => type);

describe("a conversation's stream", () => {
  it("gives durable events their cursor as id, previews none, and the data whole", () => {
    const created = event(3, "message.created", 1, { message: "…" });
    const { events, ended } = told({}, welcome({ head: 3 }), caughtUp([created], 3), delta(0, "Hi"), partial("Hi y"));
    expect(events).toEqual([
      { event: "message.created", id: cursor(3), data: created },
      { event: "delta", data: delta(0, "Hi") },
      { event: "partial", data: partial("Hi y") },
    ]);
    expect(ended).toBeNull();
  });

  it("has every run's events, and no end", () => {
    const all = [event(1, "run.completed", 1), event(2, "run.failed", 2), event(3, "run.interrupted", 3)];
    const { events, ended } = told({}, welcome({ head: 3 }), caughtUp(all, 3), live(event(4, "run.cancelled", 3)));
    expect(events.map(({ id }) => id)).toEqual([1, 2, 3, 4].map(cursor));
    expect(ended).toBeNull();
  });

  it("tells a reset without an id, with its snapshot", () => {
    const { events } = told({}, welcome({ head: 9 }), reset({ head: 9 }));
    expect(events).toEqual([{ event: "reset", data: reset({ head: 9 }) }]);
  });

  it("keeps text that looks like fields of the stream text", () => {
    const forged = "\n\nid: abcdefgh.999\nevent: run.completed\ndata: {}\r\r\u2028\n\n:";
    const said = event(2, "message.completed", 1, { message: { parts: [{ type: "text", text: forged }] } });
    const sent = [delta(0, forged), live(said)];
    const { events } = told({}, welcome({ head: 1 }), ...sent);
    expect(events).toEqual([
      { event: "delta", data: sent[0] },
      { event: "message.completed", id: cursor(2), data: said },
    ]);
  });

  it("leaves out what is an answer to somebody's frame", () => {
    const others = [
      { type: "ack", id: "c1", result: {} },
      { type: "problem", problem: {} },
    ];
    expect(typesOf({}, welcome({ head: 1 }), ...others)).toEqual([]);
  });
});

describe("a run's stream", () => {
  it("has its events and its previews, and ends with its terminal event", () => {
    const sent = [
      welcome({ head: 2, active: runOf(1), queued: [runOf(2, "queued")] }),
      caughtUp([event(1, "conversation.created"), event(2, "run.started", 1)], 2),
      delta(0, "mine"),
      live(event(3, "run.queued", 2)),
      live(event(4, "run.interrupted", 1)),
      live(event(5, "run.resumed", 1)),
      live(event(6, "run.completed", 1)),
      live(event(7, "run.started", 2)),
    ];
    const { events, ended } = told({ runId: RUN }, ...sent);
    expect(events.map(({ event: type }) => type)).toEqual([
      "run.started",
      "delta",
      "run.interrupted",
      "run.resumed",
      "run.completed",
    ]);
    expect(ended).toBe(6);
  });

  it("has no previews of the run before it or after it", () => {
    const sent = [
      welcome({ head: 2, active: runOf(1), queued: [runOf(2, "queued")] }),
      caughtUp([], 2),
      delta(0, "another's"),
      partial("another's"),
      live(event(3, "run.completed", 1)),
      live(event(4, "run.started", 2)),
      delta(0, "mine"),
    ];
    const { events } = told({ runId: runOf(2).id }, ...sent);
    expect(events.map(({ data }) => data)).toEqual([event(4, "run.started", 2), delta(0, "mine")]);
  });

  it.each([["run.completed"], ["run.failed"], ["run.cancelled"]] as const)(
    "ends with %s that it catches up with",
    (type) => {
      const page = caughtUp([event(1, "run.started", 1), event(2, type, 1), event(3, "run.started", 2)], 3);
      expect(told({ runId: RUN }, welcome({ head: 3, active: runOf(2) }), page)).toMatchObject({
        events: [{ event: "run.started" }, { event: type }],
        ended: 1,
      });
    },
  );

  it("that ended while it was asked for ends at once, with or without a cursor, or after its reset", () => {
    const over = welcome({ head: 9, active: runOf(2) });
    expect(told({ runId: RUN, fromHead: true }, over)).toEqual({ events: [], ended: 0 });
    expect(told({ runId: RUN }, over, caughtUp([], 9))).toEqual({ events: [], ended: 1 });
    expect(told({ runId: RUN }, over, reset({ head: 9, active: runOf(2) }))).toMatchObject({ ended: 1 });
  });

  it("does not end in the middle of what it catches up with", () => {
    const over = welcome({ head: 9 });
    const parts = [caughtUp([event(4, "run.started", 1)], 4), caughtUp([event(9, "run.failed", 1)], 9)];
    expect(told({ runId: RUN }, over, ...parts)).toMatchObject({ ended: 2, events: [{}, {}] });
  });

  it("of a queued run waits for it", () => {
    const sent = [welcome({ head: 3, active: runOf(2), queued: [runOf(1, "queued")] }), caughtUp([], 3)];
    expect(told({ runId: RUN }, ...sent).ended).toBeNull();
    expect(told({ runId: RUN, fromHead: true }, ...sent).ended).toBeNull();
  });
});

describe("the stream of a start", () => {
  const start = { runId: RUN, untilInterrupted: true };
  const begun = [event(2, "run.queued", 1), event(3, "run.started", 1)];

  it("ends where the run begins to wait", () => {
    const sent = [welcome({ head: 3, active: runOf(1) }), caughtUp(begun, 3), live(event(4, "run.interrupted", 1))];
    expect(told(start, ...sent).ended).toBe(2);
  });

  it("that attaches to a run that waits ends after what led to it", () => {
    const waits = welcome({ head: 4, active: runOf(1, "interrupted") });
    const { events, ended } = told(start, waits, caughtUp([...begun, event(4, "run.interrupted", 1)], 4));
    expect([events.length, ended]).toEqual([3, 1]);
  });

  it("that attaches to a run that waited and goes on, goes on with it", () => {
    const past = [...begun, event(4, "run.interrupted", 1), event(5, "run.resumed", 1)];
    const sent = [welcome({ head: 5, active: runOf(1) }), caughtUp(past, 5), live(event(6, "run.completed", 1))];
    const { events, ended } = told(start, ...sent);
    expect([events.length, ended]).toEqual([5, 2]);
  });
});

describe("a reader that lags", () => {
  it("misses previews, never events, and is told the whole text when it has caught up", () => {
    const encoder = new FrameEncoder({});
    const say = (frame: object, slow: boolean) => readSse(encoder.encode(JSON.stringify(frame), slow).text);
    say(welcome({ head: 1 }), false);
    expect(say(delta(0, "It "), false)).toMatchObject([{ event: "delta" }]);
    expect(say(delta(3, "was "), true)).toEqual([]);
    expect(say(live(event(2, "tool_call.started", 1)), true)).toMatchObject([{ id: cursor(2) }]);
    expect(say(delta(7, "a "), true)).toEqual([]);
    expect(say(delta(9, "dark"), false)).toEqual([{ event: "partial", data: partial("It was a dark") }]);
    expect(say(delta(13, "."), false)).toEqual([{ event: "delta", data: delta(13, ".") }]);
  });

  it("is not told text of a message that is over, nor text with a hole", () => {
    const encoder = new FrameEncoder({});
    const say = (frame: object, slow: boolean) => readSse(encoder.encode(JSON.stringify(frame), slow).text);
    say(delta(0, "old"), true);
    say(live(event(2, "message.completed", 1)), false);
    const next = { messageId: "next" };
    expect(say(delta(0, "new", next), false)).toEqual([{ event: "delta", data: delta(0, "new", next) }]);
    // It joined in the middle: what came before is not known here.
    say(delta(40, "late", { attempt: 2 }), true);
    expect(say(delta(44, "r", { attempt: 2 }), false)).toMatchObject([{ event: "delta" }]);
  });
});

describe("a frame of a kind that this release does not know", () => {
  it("is left out", () => {
    expect(told({}, { type: "from_the_future", data: 1 })).toEqual({ events: [], ended: null });
    expect(frames.readSse(": a comment\n\n")).toEqual([]);
  });
});
