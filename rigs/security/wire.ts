/** Requests as they are written, byte for byte, and sockets that say what they are told to: no client that mends them. */
import { randomBytes } from "node:crypto";
import { request as send, type IncomingMessage } from "node:http";
import type { Socket as TcpSocket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const PATIENCE_MS = 20_000;

export function exchange({ method, url, headers, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    // The path as it was written: `new URL` would tidy it.
    const path = url.slice(url.indexOf("/", "http://".length));
    const outgoing = send({ host: hostname, port, method, path, headers: { ...headers }, agent: false }, (incoming) => {
      // A stream of events has no end of its own; what comes at once is what is looked at.
      const endless = String(incoming.headers["content-type"] ?? "").startsWith("text/event-stream");
      void whole(incoming, endless ? 300 : PATIENCE_MS).then((text) => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        if (endless) outgoing.destroy();
      });
    });
    outgoing.setTimeout(PATIENCE_MS, () => outgoing.destroy(new Error("no answer")));
    outgoing.on("error", reject);
    if (body !== undefined) outgoing.write(body);
    outgoing.end();
  });
}

function whole(incoming: IncomingMessage, ms: number): Promise<string> {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    const done = () => resolve(Buffer.concat(chunks).toString());
    incoming.on("end", done);
    incoming.on("close", done);
    setTimeout(done, ms).unref();
  });
}

export interface Upgrade {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer without a socket, or the socket. */
export function upgrade({ url, headers }: Upgrade): Promise<Answer | Wire> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const outgoing = send({
      host: hostname,
      port,
      path: url.slice(url.indexOf("/", "http://".length)),
      agent: false,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        ...headers,
      },
    });
    outgoing.setTimeout(PATIENCE_MS, () => outgoing.destroy(new Error("no answer to an upgrade")));
    outgoing.on("response", (incoming) => {
      void whole(incoming, PATIENCE_MS).then((text) =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
      );
    });
    outgoing.on("upgrade", (incoming, socket, head) => resolve(new Wire(incoming, socket as TcpSocket, head)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** A WebSocket from the client's side, without extensions. */
export class Wire {
  readonly headers: IncomingMessage["headers"];
  /** Texts, as they came. */
  readonly heard: string[] = [];
  /** null: open. 1006: cut without a word. */
  closed: number | null = null;
  readonly #socket: TcpSocket;
  readonly #looks = new Set<() => void>();
  #data: Buffer;
  #message: Buffer[] = [];

  constructor({ headers }: IncomingMessage, socket: TcpSocket, head: Buffer) {
    this.headers = headers;
    this.#socket = socket;
    this.#data = head;
    socket.setTimeout(0);
    socket.on("data", (chunk: Buffer) => {
      this.#data = Buffer.concat([this.#data, chunk]);
      this.#take();
    });
    for (const end of ["close", "error"] as const) socket.on(end, () => this.#end(1006));
    this.#take();
  }

  /** @param fill binary where it is bytes */
  say(payload: string | Uint8Array): void {
    const opcode = typeof payload === "string" ? 1 : 2;
    this.#send(opcode, Buffer.from(payload));
  }

  /** Until the condition holds, or patience ends. */
  async until(holds: () => boolean, ms = PATIENCE_MS): Promise<boolean> {
    if (holds()) return true;
    return new Promise((resolve) => {
      const end = (held: boolean) => {
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve(held);
      };
      const look = () => holds() && end(true);
      const timer = setTimeout(() => end(holds()), ms);
      this.#looks.add(look);
    });
  }

  leave(): void {
    this.#socket.destroy();
  }

  #take(): void {
    for (let used = this.#frame(); used > 0; used = this.#frame()) this.#data = this.#data.subarray(used);
    for (const look of this.#looks) look();
  }

  #frame(): number {
    const data = this.#data;
    if (data.length < 2) return 0;
    const opcode = data.readUInt8(0) & 0x0f;
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
      this.#end(length >= 2 ? payload.readUInt16BE(0) : 1005);
      this.#socket.end();
    } else if (opcode === 9) this.#send(10, payload);
    else if (opcode <= 1) {
      this.#message.push(Buffer.from(payload));
      if (data.readUInt8(0) & 0x80) {
        this.heard.push(Buffer.concat(this.#message).toString());
        this.#message = [];
      }
    }
    return at + length;
  }

  /** A client's frames are masked; with zeros, which changes nothing. */
  #send(opcode: number, payload: Buffer): void {
    const { length } = payload;
    const head =
      length < 126
        ? Buffer.of(0x80 | opcode, 0x80 | length)
        : length < 65_536
          ? Buffer.of(0x80 | opcode, 0x80 | 126, length >> 8, length & 255)
          : Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | 127), bigEndian(length)]);
    this.#socket.write(Buffer.concat([head, Buffer.alloc(4), payload]));
  }

  #end(code: number): void {
    this.closed ??= code;
    for (const look of this.#looks) look();
  }
}

function bigEndian(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}
