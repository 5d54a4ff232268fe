/**
 * A WebSocket client on a bare TCP socket, without extensions: it costs the load generator little, and counts bytes.
 * For servers that are ours or were started by us; a frame that it does not understand ends the connection.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface SocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onText: (text: string) => void;
}

const HEAD_END = "\r\n\r\n";
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const CLOSE_MS = 500;

export class LoadSocket {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  readonly #onText: (text: string) => void;
  #open: () => void = () => undefined;
  #refuse: (error: Error) => void = () => undefined;
  #isOpen = false;
  #data: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  framesIn = 0;

  constructor({ url, headers = {}, onText }: SocketOptions) {
    const { hostname, port, pathname, search, host } = new URL(url);
    this.#onText = onText;
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const sent = {
      Host: host,
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      "Sec-WebSocket-Version": "13",
      ...headers,
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    this.#socket.write([`GET ${pathname}${search} HTTP/1.1`, ...lines].join("\r\n") + HEAD_END);
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#refuse(error));
    this.#socket.on("close", () => this.#refuse(new Error(`${url} closed before it was open`)));
  }

  get bytesIn(): number {
    return this.#socket.bytesRead;
  }

  get bytesOut(): number {
    return this.#socket.bytesWritten;
  }

  send(text: string): void {
    this.#send(TEXT, Buffer.from(text));
  }

  /** Resolves when the connection is gone: by agreement, or cut after a while. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve();
      const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
      this.#socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      this.#send(CLOSE, Buffer.of(0x03, 0xe8));
    });
  }

  #take(chunk: Buffer): void {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    if (!this.#isOpen && !this.#upgraded()) return;
    for (let used = this.#frame(); used > 0; used = this.#frame()) this.#data = this.#data.subarray(used);
  }

  #upgraded(): boolean {
    const end = this.#data.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#data.subarray(0, end).toString();
    this.#data = this.#data.subarray(end + HEAD_END.length);
    this.#isOpen = head.startsWith("HTTP/1.1 101");
    if (this.#isOpen) this.#open();
    else {
      this.#refuse(new Error(`no upgrade: ${head.slice(0, 200)} ${this.#data.toString().slice(0, 300)}`));
      this.#socket.destroy();
    }
    return this.#isOpen;
  }

  /** @returns the bytes of the frame that was taken; 0: it is not whole yet */
  #frame(): number {
    const data = this.#data;
    if (data.length < 2) return 0;
    const first = data.readUInt8(0);
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
    this.#taken(first & 0x0f, (first & 0x80) !== 0, data.subarray(at, at + length));
    return at + length;
  }

  #taken(opcode: number, final: boolean, payload: Buffer): void {
    if (opcode === CLOSE) this.#socket.end();
    else if (opcode === PING) this.#send(PONG, payload);
    else if (opcode <= TEXT) {
      this.#parts.push(payload);
      if (!final) return;
      const [only = payload] = this.#parts;
      const text = (this.#parts.length === 1 ? only : Buffer.concat(this.#parts)).toString("utf8");
      this.#parts = [];
      this.framesIn += 1;
      this.#onText(text);
    }
  }

  /** A client's frames are masked. */
  #send(opcode: number, payload: Buffer): void {
    if (this.#socket.destroyed) return;
    const mask = randomBytes(4);
    const long = payload.length > 125;
    const head = Buffer.alloc(long ? 4 : 2);
    head.writeUInt8(0x80 | opcode, 0);
    head.writeUInt8(0x80 | (long ? 126 : payload.length), 1);
    if (long) head.writeUInt16BE(payload.length, 2);
    const masked = payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0));
    this.#socket.write(Buffer.concat([head, mask, masked]));
  }
}
