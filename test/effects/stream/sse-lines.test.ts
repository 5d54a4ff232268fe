import { describe, expect, it } from "vitest";
import { SseLines } from "../../../src/effects/stream/sse-lines.ts";
import { bytesOf, bytewise } from "./streams.ts";

type Seen = { events: [data: string, name: string][]; tooLong: boolean };

function scan(writes: readonly Uint8Array[], maxChars = 1_000): Seen {
  const events: [string, string][] = [];
  const lines = new SseLines(maxChars, (data, name) => {
    events.push([data, name]);
    return data !== "stop";
  });
  for (const write of writes) lines.push(write);
  lines.end();
  return { events, tooLong: lines.tooLong };
}

/** In one write and byte by byte, which must not differ. */
function eventsOf(stream: string, maxChars?: number): [string, string][] {
  const whole = scan([bytesOf(stream)], maxChars);
  expect(scan(bytewise(bytesOf(stream)), maxChars)).toEqual(whole);
  return whole.events;
}

describe("the scanner of event lines", () => {
  it.each<[what: string, stream: string, events: [string, string][]]>([
    [
      "LF",
      "data: a\n\ndata: b\n\n",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    [
      "CR",
      "data: a\r\rdata: b\r\r",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    [
      "CRLF",
      "data: a\r\n\r\ndata: b\r\n\r\n",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    [
      "mixed ends",
      "data: a\r\n\ndata: b\r\r\ndata: c\n\r",
      [
        ["a", ""],
        ["b", ""],
        ["c", ""],
      ],
    ],
    ["a byte order mark", "\ufeffdata: a\n\n", [["a", ""]]],
    ["only one mark, and only at the start", "\ufeff\ufeffdata: a\n\ndata: \ufeffb\n\n", [["\ufeffb", ""]]],
    ["several data lines", "data: a\ndata: b\ndata:\n\n", [["a\nb\n", ""]]],
    [
      "one blank after the colon, no more",
      "data:a\n\ndata:  b\n\ndata\n\n",
      [
        ["a", ""],
        [" b", ""],
        ["", ""],
      ],
    ],
    ["comments and unknown fields", ": hello\nid: 7\nretry: 9\nfoo\ndata: a\n:\n\n: bye\n\n", [["a", ""]]],
    [
      "event names, for one event each",
      "event: x\ndata: a\n\ndata: b\n\nevent: y\n\n",
      [
        ["a", "x"],
        ["b", ""],
      ],
    ],
    ["fields that only look like data", 'Data: a\n data: b\ndatas: c\n{"data":1}\n\n', []],
    [
      "a last line without an end",
      "data: a\n\ndata: b",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    ["a last event without a blank line", "data: a\ndata: b\n", [["a\nb", ""]]],
    ["characters of every length", "data: zł你🚀\n\n", [["zł你🚀", ""]]],
    ["NUL", "data: a\0b\n\n", [["a\0b", ""]]],
    ["nothing", "", []],
    ["a consumer that has enough", "data: stop\n\ndata: b\n\n", [["stop", ""]]],
  ])("understands %s", (_what, stream, events) => {
    expect(eventsOf(stream)).toEqual(events);
  });

  it("replaces bytes that are no UTF-8, cut or whole", () => {
    const bytes = Uint8Array.of(...bytesOf("data: a"), 0xff, 0xf0, 0x9f, ...bytesOf("b\n\ndata: c"), 0xe4, 0xbd);
    const { events } = scan([bytes]);
    expect(events).toEqual([
      ["a\ufffd\ufffdb", ""],
      ["c\ufffd", ""],
    ]);
    expect(scan(bytewise(bytes)).events).toEqual(events);
  });

  it.each([
    ["a line", `data: ${"x".repeat(100)}\n\n`],
    ["a line without an end", `data: ${"x".repeat(100)}`],
    ["a comment", `: ${"x".repeat(100)}\n\n`],
    ["an event of many lines", "data: 12345678\n".repeat(10)],
  ])("gives up on %s over the bound, and keeps what came before", (_what, tail) => {
    expect(eventsOf(`data: a\n\n${tail}data: b\n\n`, 64)).toEqual([["a", ""]]);
    expect(scan([bytesOf(`data: a\n\n${tail}`)], 64).tooLong).toBe(true);
    expect(scan([bytesOf(`data: a\n\n${tail}`)], 200).tooLong).toBe(false);
  });
});
