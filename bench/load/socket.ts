/**
 * A WebSocket client on a bare TCP socket, without extensions: it costs the load generator little, and counts bytes.
 * For servers that are ours or were started by us; a frame that it does not understand ends the connection.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { clientFrame, frameIn, OPCODE, type Frame } from "../../scripts/websocket-frames.ts";

export interface SocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onText: (text: string) => void;
}

const HEAD_END = "\r\n\r\n";
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
    this.#send(OPCODE.text, Buffer.from(text));
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
      this.#send(OPCODE.close, Buffer.of(0x03, 0xe8));
    });
  }

  #take(chunk: Buffer): void {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    if (!this.#isOpen && !this.#upgraded()) return;
    for (let frame = frameIn(this.#data); frame; frame = frameIn(this.#data)) {
      this.#data = this.#data.subarray(frame.bytes);
      this.#taken(frame);
    }
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

  #taken({ opcode, final, payload }: Frame): void {
    if (opcode === OPCODE.close) this.#socket.end();
    else if (opcode === OPCODE.ping) this.#send(OPCODE.pong, payload);
    else if (opcode <= OPCODE.text) {
      this.#parts.push(payload);
      if (!final) return;
      const [only = payload] = this.#parts;
      const text = (this.#parts.length === 1 ? only : Buffer.concat(this.#parts)).toString("utf8");
      this.#parts = [];
      this.framesIn += 1;
      this.#onText(text);
    }
  }

  #send(opcode: number, payload: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(clientFrame(opcode, payload));
  }
}
