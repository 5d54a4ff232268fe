import { describe, expect, it } from "vitest";
import { eventStream, PACE, type Pace } from "../../src/edge/event-stream.ts";
import type { StreamFilter } from "../../src/edge/frame-encoder.ts";
import { caughtUp, delta, event, FakeSource, live, readSse, runOf, welcome } from "./support/streams.ts";

const decoder = new TextDecoder();

function open(filter: StreamFilter = {}, pace: Partial<Pace> = {}) {
  const socket = new FakeSource();
  const clock = { now: 1_000 };
  const stream = eventStream(socket, filter, { ...PACE, now: () => clock.now, ...pace });
  const reader = stream.getReader();
  const read = async () => {
    const { done, value } = await reader.read();
    return done ? null : decoder.decode(value);
  };
  const rest = async () => {
    let text = "";
    for (let part = await read(); part !== null; part = await read()) text += part;
    return text;
  };
  return { socket, clock, reader, read, rest };
}

describe("an event stream", () => {
  it("speaks before anything has happened", async () => {
    const { read, socket } = open();
    expect(await read()).toBe(": connected\n\n");
    expect(socket.accepted).toBe(true);
  });

  it("says that it lives, while nothing happens", async () => {
    const { read, reader } = open({}, { heartbeatMs: 5 });
    await read();
    expect([await read(), await read()]).toEqual([": still here\n\n", ": still here\n\n"]);
    await reader.cancel();
  });

  it("ends with what it was asked for, and lets the socket go", async () => {
    const { socket, rest } = open({ runId: runOf(1).id });
    socket.say(welcome({ head: 1, active: runOf(1) }), caughtUp([], 1), live(event(2, "run.completed", 1)));
    socket.say(live(event(3, "run.started", 2)));
    expect(readSse(await rest()).map(({ event: type }) => type)).toEqual(["run.completed"]);
    expect(socket.closes).toEqual([[1000, "done"]]);
  });

  it.each([
    [3000, "token expired"],
    [1012, "restart"],
    [4410, "conversation erased"],
    [1006, ""],
  ])("says with which code its source closed: %s", async (code, reason) => {
    const { socket, rest } = open();
    socket.end(code, reason);
    expect(readSse(await rest())).toEqual([{ event: "closed", data: { code, reason } }]);
  });

  it("ends once, however its source ends", async () => {
    const { socket, rest } = open();
    socket.fail();
    socket.end(1006, "");
    socket.fail();
    expect(readSse(await rest())).toEqual([{ event: "closed", data: { code: 1011, reason: "the source failed" } }]);
    expect(socket.closes).toHaveLength(1);
  });

  it("survives a socket that cannot be closed any more", async () => {
    const { socket, rest } = open();
    socket.close = () => {
      throw new TypeError("closed");
    };
    socket.end(1000, "");
    expect(readSse(await rest())).toHaveLength(1);
  });

  it("that its reader leaves lets the socket go and takes nothing more", async () => {
    const { socket, reader } = open();
    await reader.cancel();
    socket.say(welcome({ head: 1 }), live(event(2, "run.completed", 1)));
    socket.end(1000, "");
    expect(socket.closes).toEqual([[1000, "the reader left"]]);
  });

  it("takes no bytes for a frame", async () => {
    const { socket, rest } = open();
    socket.say(new Uint8Array([123]));
    socket.end(1000, "");
    expect(readSse(await rest())).toMatchObject([{ event: "closed" }]);
  });
});

describe("a reader that does not read", () => {
  const bounds = { dropBytes: 2_000, closeBytes: 8_000, closeMs: 10_000 };
  const patient = { ...bounds, closeBytes: 200_000 };
  const fill = (socket: FakeSource, from: number, count: number) => {
    for (let seq = from; seq < from + count; seq++)
      socket.say(live(event(seq, "tool_call.started", 1, { x: "y".repeat(800) })));
  };

  it("loses previews above the first bound, and no event", async () => {
    const { socket, rest } = open({}, patient);
    // The stream's own 64 KiB come first.
    fill(socket, 1, 75);
    socket.say(delta(0, "unseen"));
    fill(socket, 76, 5);
    socket.end(1000, "");
    const told = readSse(await rest());
    expect(told.filter(({ event: type }) => type === "delta")).toEqual([]);
    expect(told.filter(({ id }) => id !== undefined)).toHaveLength(80);
  });

  it("is told to come back above the second bound, and holds no more than that", async () => {
    const { socket, rest } = open({}, bounds);
    fill(socket, 1, 1_000);
    const text = await rest();
    expect(text.length).toBeLessThan(64 * 1024 + 8_000 + 2_000);
    const told = readSse(text);
    expect(told.at(-1)).toEqual({ event: "closed", data: { code: 1013, reason: "reads too slowly" } });
    expect(told.at(-2)?.id).toBe(`abcdefgh.${told.length - 1}`);
    expect(socket.closes).toEqual([[1000, "done"]]);
  });

  it("is told to come back when it has been above the first bound for too long", async () => {
    const { socket, clock, rest } = open({}, patient);
    fill(socket, 1, 75);
    clock.now += 9_999;
    fill(socket, 76, 1);
    expect(socket.closes).toEqual([]);
    clock.now += 1;
    fill(socket, 77, 1);
    expect(readSse(await rest()).at(-1)).toMatchObject({ event: "closed", data: { code: 1013 } });
  });

  it("that catches up in time is as good as new", async () => {
    const { socket, clock, read } = open({}, patient);
    fill(socket, 1, 75);
    clock.now += 9_000;
    for (let part = await read(); part !== null && !part.includes('"seq":75,'); part = await read());
    fill(socket, 76, 1);
    clock.now += 9_000;
    fill(socket, 77, 75);
    clock.now += 9_000;
    fill(socket, 152, 1);
    expect(socket.closes).toEqual([]);
  });

  it("that never reads has what it held taken away", async () => {
    const { socket, reader } = open({}, { ...bounds, closeMs: 5 });
    fill(socket, 1, 1_000);
    expect(socket.closes).toHaveLength(1);
    await expect(reader.closed).rejects.toThrow("not read");
  });
});
