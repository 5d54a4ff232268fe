/**
 * A WebSocket client on a bare TCP socket: the only kind that can stop reading, and cheap enough for hundreds. It takes
 * what a server may send without extensions, and answers closes and pings.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { clientFrame, closeCodeOf, frameIn, OPCODE, type Frame } from "../../scripts/websocket-frames.ts";

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
    for (let frame = frameIn(this.#data); frame; frame = frameIn(this.#data)) {
      this.#data = this.#data.subarray(frame.bytes);
      this.#taken(frame);
    }
  }

  #taken({ opcode, final, payload }: Frame): void {
    if (opcode === OPCODE.close) {
      this.#send(OPCODE.close, payload.subarray(0, 2));
      this.#socket.end();
      this.#end(closeCodeOf(payload));
    } else if (opcode === OPCODE.ping) this.#send(OPCODE.pong, payload);
    else if (opcode <= OPCODE.text) {
      this.#message.push(payload);
      if (!final) return;
      const text = Buffer.concat(this.#message).toString("utf8");
      this.#message = [];
      if (!this.#closed) this.#options.onText(text);
    }
  }

  #send(opcode: number, payload: Buffer): void {
    this.#socket.write(clientFrame(opcode, payload));
  }

  #end(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onClose(code);
  }
}
