import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { DEFAULT_STREAM_LIMITS, StreamDecoder } from "../../../src/effects/stream/stream-decoder.ts";
import { bytesOf, delta, event } from "./streams.ts";

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");
const MIB = 1024 * 1024;

/** How much the heap has grown, garbage left out, after the decoder took `count` writes. */
function growth(count: number, write: (i: number) => Uint8Array, limits = DEFAULT_STREAM_LIMITS): number {
  gc();
  const before = process.memoryUsage().heapUsed;
  const decoder = new StreamDecoder({ limits });
  for (let i = 0; i < count; i++) decoder.push(write(i));
  gc();
  const after = process.memoryUsage().heapUsed;
  expect(decoder.done).toBe(false);
  return after - before;
}

describe("the decoder keeps little", () => {
  const roomy = { ...DEFAULT_STREAM_LIMITS, streamBytes: Number.MAX_SAFE_INTEGER };

  it("of a line that comes byte by byte", () => {
    const byte = bytesOf("x");
    expect(growth(DEFAULT_STREAM_LIMITS.lineChars, () => byte)).toBeLessThan(2 * MIB);
  });

  it("of a hundred thousand empty events, comments and keep-alives", () => {
    const empty = bytesOf(`${event(delta({ content: "" }))}: x\n\ndata: ping\n\n`);
    expect(growth(100_000, () => empty, roomy)).toBeLessThan(MIB);
  });

  it("of a hundred thousand deltas, beyond their text", () => {
    // Each in a read of its own that is mostly something else, of which a slice must not keep the rest alive.
    const noise = `: ${"y".repeat(2_000)}\n\n`;
    const grown = growth(20_000, (i) => bytesOf(noise + event(delta({ content: `a delta with number ${i} ` }))), roomy);
    expect(grown).toBeLessThan(3 * MIB);
  });
});
