/** Requests as they are written, byte for byte, and sockets that say what they are told to: no client that mends them. */
import { randomBytes } from "node:crypto";
import { request as send, type IncomingMessage } from "node:http";
import type { Socket as TcpSocket } from "node:net";
import { clientFrame, closeCodeOf, frameIn, OPCODE, type Frame } from "../../scripts/websocket-frames.ts";

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
    for (let frame = frameIn(this.#data); frame; frame = frameIn(this.#data)) {
      this.#data = this.#data.subarray(frame.bytes);
      this.#taken(frame);
    }
    for (const look of this.#looks) look();
  }

  #taken({ opcode, final, payload }: Frame): void {
    if (opcode === OPCODE.close) {
      this.#send(OPCODE.close, payload.subarray(0, 2));
      this.#end(closeCodeOf(payload));
      this.#socket.end();
    } else if (opcode === OPCODE.ping) this.#send(OPCODE.pong, payload);
    else if (opcode <= OPCODE.text) {
      this.#message.push(Buffer.from(payload));
      if (!final) return;
      this.heard.push(Buffer.concat(this.#message).toString());
      this.#message = [];
    }
  }

  #send(opcode: number, payload: Buffer): void {
    this.#socket.write(clientFrame(opcode, payload));
  }

  #end(code: number): void {
    this.closed ??= code;
    for (const look of this.#looks) look();
  }
}
