/**
 * One WebSocket client, folding frames with the published client's view. Waits are for conditions, looked at after each
 * frame; the time limit is only there so that a condition that never comes says what came instead.
 */
import { ConversationView } from "../../../src/client/conversation-view.ts";
import type { Event } from "../../../src/protocol/events.ts";
import type { ServerFrame } from "../../../src/protocol/frames.ts";
import type { Person } from "./people.ts";

const PATIENCE_MS = 20_000;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

export class Watcher {
  readonly view: ConversationView;
  /** Every frame as text, in order, over all connections. */
  readonly heard: string[] = [];
  readonly frames: ServerFrame[] = [];
  /** How often it connected. */
  connections = 0;
  /** How the last connection ended; null while it is open. */
  closed: Closing | null = null;
  /** Called for each frame, after it was folded. */
  onFrame: (frame: ServerFrame) => void = () => undefined;
  readonly #person: Person;
  readonly #conversationId: string;
  #socket: WebSocket | null = null;
  #serial = 0;
  readonly #looks = new Set<() => void>();

  constructor(person: Person, conversationId: string, cursor: string | null = null) {
    this.#person = person;
    this.#conversationId = conversationId;
    this.view = new ConversationView(cursor);
  }

  get connected(): boolean {
    return this.#socket !== null && this.closed === null;
  }

  /** Connects with the view's cursor. */
  async connect(): Promise<this> {
    let response = await upgrade(this.#person, this.#conversationId, this.view.cursor);
    // A socket that was cut counts until the object has heard of it.
    while (response.status === 429) response = await upgrade(this.#person, this.#conversationId, this.view.cursor);
    const socket = response.webSocket;
    if (!socket) throw new Error(`no socket: ${response.status} ${await response.text()}`);
    this.#socket = socket;
    this.connections++;
    this.closed = null;
    socket.addEventListener("message", ({ data }) => socket === this.#socket && this.#take(data));
    socket.addEventListener("close", ({ code, reason }) => {
      if (socket !== this.#socket) return;
      this.closed = { code, reason };
      this.#look();
    });
    socket.accept();
    return this;
  }

  /** Cuts: nothing of this connection is heard from now on, not even what is under way. */
  cut(): void {
    const socket = this.#socket;
    this.#socket = null;
    try {
      socket?.close(1001, "cut");
    } catch {
      // Already closed by the other side.
    }
  }

  send(frame: string | ArrayBuffer): void {
    this.#socket?.send(frame);
  }

  /** Sends a command; resolves with its `ack` or `problem`. */
  async command(frame: Record<string, unknown>): Promise<ServerFrame> {
    const id = `c${++this.#serial}`;
    this.send(JSON.stringify({ ...frame, id }));
    const isAnswer = (one: ServerFrame) => (one.type === "ack" || one.type === "problem") && one.id === id;
    return this.until(`an answer to ${id}`, () => this.frames.find(isAnswer));
  }

  /** @returns what `find` finds, as soon as it finds something */
  until<T>(what: string, find: () => T | undefined | false | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        this.#looks.delete(look);
      };
      const timer = setTimeout(() => {
        done();
        const seen = this.view.events.map(({ type, runId }) => `${type} ${runId?.slice(26) ?? ""}`);
        reject(new Error(`waited in vain for ${what}; events: ${seen.join(", ")}; close: ${this.closed?.code}`));
      }, PATIENCE_MS);
      const look = () => {
        const found = find();
        if (found === undefined || found === false || found === null) return;
        done();
        resolve(found);
      };
      this.#looks.add(look);
      look();
    });
  }

  event<T extends Event["type"]>(type: T, runId?: string): Extract<Event, { type: T }> | undefined {
    const found = this.view.events.find(
      (event) => event.type === type && (runId === undefined || event.runId === runId),
    );
    return found as Extract<Event, { type: T }> | undefined;
  }

  #take(data: unknown): void {
    const text = String(data);
    this.heard.push(text);
    if (text !== "pong") {
      const frame = JSON.parse(text) as ServerFrame;
      this.frames.push(frame);
      this.view.take(frame);
      this.onFrame(frame);
    }
    this.#look();
  }

  #look(): void {
    for (const look of this.#looks) look();
  }
}

export function upgrade(person: Person, conversationId: string, after: string | null): Promise<Response> {
  const query = after === null ? "" : `?after=${encodeURIComponent(after)}`;
  return person.call("GET", `/v1/conversations/${conversationId}/stream${query}`, {
    headers: { upgrade: "websocket", "sec-websocket-protocol": "holdpoint.v1" },
  });
}
