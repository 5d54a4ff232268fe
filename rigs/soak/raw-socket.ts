/**
 * A WebSocket client on a bare TCP socket: the only kind that can stop reading, and cheap enough for hundreds. It takes
 * what a server may send without extensions, and answers closes and pings.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface RawSocketOptions {
  readonly url: string;
  readonly token: string;
  readonly onText: (text: string) => void;
  /** Once, whoever ended it; 1006: without a close frame. */
  readonly onClose: (code: number) => void;
}

const HEAD_END = "\r\n\r\n";

export class RawSocket {
  readonly #socket: Socket;
  readonly #options: RawSocketOptions;
  #data: Buffer = Buffer.alloc(0);
  #open = false;
  #closed = false;
  #message: Buffer[] = [];

  constructor(options: RawSocketOptions) {
    const { url, token } = options;
    const { hostname, port, pathname, search, host } = new URL(url);
    this.#options = options;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.write(
      [
        `GET ${pathname}${search} HTTP/1.1`,
        `Host: ${host}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: holdpoint.v1",
        `Authorization: Bearer ${token}${HEAD_END}`,
      ].join("\r\n"),
    );
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", () => this.#end(1006));
    this.#socket.on("close", () => this.#end(1006));
  }

  /** Reads nothing from now on: what comes stays in the kernel, and then with the sender. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** As a network would cut it. */
  cut(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    if (!this.#open) {
      const end = this.#data.indexOf(HEAD_END);
      if (end < 0) return;
      if (!this.#data.subarray(0, end).toString().startsWith("HTTP/1.1 101")) return this.cut();
      this.#open = true;
      this.#data = this.#data.subarray(end + HEAD_END.length);
    }
    for (let used = this.#frame(); used > 0; used = this.#frame()) this.#data = this.#data.subarray(used);
  }

  /** @returns the bytes of the frame that was taken; 0: it is not whole yet */
  #frame(): number {
    const data = this.#data;
    if (data.length < 2) return 0;
    const opcode = data.readUInt8(0) & 0x0f;
    const final = (data.readUInt8(0) & 0x80) !== 0;
    let length = data.readUInt8(1) & 0x7f;
    let at = 2;
    if (length === 126) {
      if (data.length < 4) return 0;
      length = data.readUInt16BE(2);
      at = 4;
    } else if (length === 127) {
      if (data.length < 10) return 0;
      length = Number(data.readBigUInt64BE(2));
      at = 10;
    }
    if (data.length < at + length) return 0;
    const payload = data.subarray(at, at + length);
    if (opcode === 8) {
      this.#send(8, payload.subarray(0, 2));
      this.#socket.end();
      this.#end(length >= 2 ? payload.readUInt16BE(0) : 1005);
    } else if (opcode === 9) this.#send(10, payload);
    else if (opcode <= 1) {
      this.#message.push(payload);
      if (final) {
        const text = Buffer.concat(this.#message).toString("utf8");
        this.#message = [];
        if (!this.#closed) this.#options.onText(text);
      }
    }
    return at + length;
  }

  /** A client's frames are masked. */
  #send(opcode: number, payload: Buffer): void {
    const mask = randomBytes(4);
    const masked = payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0));
    this.#socket.write(Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | payload.length), mask, masked]));
  }

  #end(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onClose(code);
  }
}
