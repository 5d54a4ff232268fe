/**
 * Frames of a WebSocket (RFC 6455, section 5.2) for clients on a bare TCP socket: rigs that read slowly or write what no
 * library would, and a load generator that must cost little. Servers do not mask, clients do.
 */
import { randomBytes } from "node:crypto";

export const OPCODE = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly final: boolean;
  /** A view of what was read, not a copy. */
  readonly payload: Buffer;
  /** With its head. */
  readonly bytes: number;
}

/** A server's frame at the beginning of what was read; null: it is not whole yet. */
export function frameIn(data: Buffer): Frame | null {
  if (data.length < 2) return null;
  const first = data.readUInt8(0);
  let length = data.readUInt8(1) & 0x7f;
  let at = 2;
  if (length === 126) {
    if (data.length < 4) return null;
    length = data.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (data.length < 10) return null;
    length = Number(data.readBigUInt64BE(2));
    at = 10;
  }
  const bytes = at + length;
  if (data.length < bytes) return null;
  return { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload: data.subarray(at, bytes), bytes };
}

/** A whole frame of a client. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0));
  return Buffer.concat([headOf(opcode, payload.length), mask, masked]);
}

/** The code of a close frame; 1005: it has none. */
export const closeCodeOf = (payload: Buffer): number => (payload.length >= 2 ? payload.readUInt16BE(0) : 1005);

function headOf(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | opcode, 0);
  head.writeUInt8(0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127), 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
