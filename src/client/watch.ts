/**
 * Watching a conversation over WebSocket: reconnects with full-jitter back-off from its cursor, forgets nothing, and
 * stops where the close code says that coming back is pointless. Closing it cancels nothing.
 */
import type { Event } from "../protocol/events.ts";
import type { ServerFrame } from "../protocol/frames.ts";
import { ConversationView } from "./conversation-view.ts";
import type { Connection } from "./http.ts";

export interface WatchOptions {
  readonly after?: string;
  readonly onEvent?: (event: Event, view: ConversationView) => void;
  readonly onFrame?: (frame: ServerFrame, view: ConversationView) => void;
  readonly onClose?: (code: number, reason: string) => void;
  /** Makes the socket; the default is for runtimes whose WebSocket takes headers (Node 22 and later). */
  readonly open?: (url: string, token: string) => WebSocket;
}

/** Codes after which a new connection would meet the same fate. */
const FINAL = new Set([1008, 3003, 4410]);
const LONGEST_MS = 10_000;

export class Watch {
  readonly view: ConversationView;
  readonly #connection: Connection;
  readonly #conversationId: string;
  readonly #options: WatchOptions;
  #socket: WebSocket | null = null;
  #stopped = false;
  #failures = 0;
  #serial = 0;
  readonly #acks = new Map<string, (frame: ServerFrame) => void>();

  constructor(connection: Connection, conversationId: string, options: WatchOptions = {}) {
    this.#connection = connection;
    this.#conversationId = conversationId;
    this.#options = options;
    this.view = new ConversationView(options.after ?? null);
    void this.#connect();
  }

  /** Cuts the connection as a network would; the watch comes back by itself. */
  cut(): void {
    this.#socket?.close();
  }

  stop(): void {
    this.#stopped = true;
    this.#socket?.close(1000);
  }

  /** Sends a command and resolves with its `ack` or `problem`; rejects when the connection goes first. */
  command(frame: Record<string, unknown>): Promise<ServerFrame> {
    const id = `c${++this.#serial}`;
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) {
        reject(new TypeError("not connected"));
        return;
      }
      this.#acks.set(id, resolve);
      this.#socket.addEventListener("close", () => reject(new TypeError("connection lost")), { once: true });
      this.#socket.send(JSON.stringify({ id, ...frame }));
    });
  }

  async #connect(): Promise<void> {
    try {
      const token = await this.#connection.token();
      if (this.#stopped) return;
      const after = this.view.cursor === null ? "" : `?after=${this.view.cursor}`;
      const base = this.#connection.baseUrl.replace(/^http/, "ws");
      const url = `${base}/v1/conversations/${this.#conversationId}/stream${after}`;
      const socket = (this.#options.open ?? openWithHeaders)(url, token);
      this.#socket = socket;
      socket.addEventListener("message", ({ data }) => this.#take(data));
      socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
    } catch {
      this.#closed(1006, "");
    }
  }

  #take(data: unknown): void {
    if (typeof data !== "string" || data === "pong") return;
    const frame = JSON.parse(data) as ServerFrame;
    if (frame.type === "welcome") this.#failures = 0;
    for (const event of this.view.take(frame)) this.#options.onEvent?.(event, this.view);
    this.#options.onFrame?.(frame, this.view);
    if ((frame.type === "ack" || frame.type === "problem") && frame.id !== undefined) {
      this.#acks.get(frame.id)?.(frame);
      this.#acks.delete(frame.id);
    }
  }

  #closed(code: number, reason: string): void {
    this.#acks.clear();
    this.#options.onClose?.(code, reason);
    if (this.#stopped || FINAL.has(code)) return;
    this.#failures++;
    const wait = Math.random() * Math.min(LONGEST_MS, 100 * 2 ** this.#failures);
    setTimeout(() => void this.#connect(), wait);
  }
}

function openWithHeaders(url: string, token: string): WebSocket {
  const options = { protocols: ["holdpoint.v1"], headers: { authorization: `Bearer ${token}` } };
  // Node's WebSocket takes an options object where the standard has only protocols.
  return new WebSocket(url, options as unknown as string[]);
}
