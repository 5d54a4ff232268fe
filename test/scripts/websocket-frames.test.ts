import { expect, test } from "vitest";
import { clientFrame, closeCodeOf, frameIn, OPCODE } from "../../scripts/websocket-frames.ts";

/** What a server would have sent: the same without a mask. */
function serverFrame(payload: Buffer, final = true): Buffer {
  const { length } = payload;
  const head = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, 0, 0, 0, 0];
  const rest = length < 65_536 ? [] : [length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | OPCODE.text, ...head, ...rest]), payload]);
}

/** As a server reads it. */
function unmasked(frame: Buffer): Buffer {
  const short = frame.readUInt8(1) & 0x7f;
  const at = short < 126 ? 2 : short === 126 ? 4 : 10;
  const length = short < 126 ? short : short === 126 ? frame.readUInt16BE(2) : Number(frame.readBigUInt64BE(2));
  expect(frame.readUInt8(1) & 0x80).toBe(0x80);
  expect(frame.length).toBe(at + 4 + length);
  const mask = frame.subarray(at, at + 4);
  return frame.subarray(at + 4).map((byte, n) => byte ^ (mask[n % 4] ?? 0)) as Buffer;
}

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])("a frame of %i bytes is read and written whole", (length) => {
  const payload = Buffer.from("é1".repeat(length)).subarray(0, length);
  const data = Buffer.concat([serverFrame(payload), Buffer.from("more")]);
  const frame = frameIn(data);
  expect(frame).toMatchObject({ opcode: OPCODE.text, final: true, bytes: data.length - 4 });
  expect(frame?.payload.equals(payload)).toBe(true);
  expect(Buffer.from(unmasked(clientFrame(OPCODE.text, payload))).equals(payload)).toBe(true);
});

test("a frame that is not whole is none, wherever it is cut", () => {
  for (const length of [3, 300]) {
    const data = serverFrame(Buffer.alloc(length), false);
    for (let cut = 0; cut < data.length; cut++) expect(frameIn(data.subarray(0, cut))).toBeNull();
    expect(frameIn(data)?.final).toBe(false);
  }
});

test("a close frame says why, or nothing", () => {
  expect(closeCodeOf(Buffer.of(0x03, 0xe8))).toBe(1_000);
  expect(closeCodeOf(Buffer.alloc(0))).toBe(1_005);
});
