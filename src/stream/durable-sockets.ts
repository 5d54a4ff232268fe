/**
 * The sockets of a Durable Object, hibernatable: the platform keeps them while the object sleeps, with a tag (the user)
 * and an attachment (who watches, until when). Nothing here remembers a socket; what looks like memory is a cache of
 * the attachment, so that a delta does not decode it for every watcher.
 */
import { LIMITS } from "../protocol/limits.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { utf8Bytes } from "../protocol/text.ts";
import { SUBPROTOCOL } from "../protocol/version.ts";
import { ATTACHMENT_BYTES, cutBytes, watcherIn, type SocketLike, type Sockets, type Watcher } from "./sockets.ts";

export const PING = "ping";
export const PONG = "pong";

/** Of the platform's state. */
export type SocketHost = Pick<DurableObjectState, "getWebSockets" | "acceptWebSocket" | "setWebSocketAutoResponse">;

export class DurableSockets implements Sockets {
  readonly #host: SocketHost;
  readonly #known = new WeakMap<WebSocket, SocketLike>();

  constructor(host: SocketHost) {
    this.#host = host;
    // Answered by the platform without waking the object.
    host.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  all(userId?: string): SocketLike[] {
    if (userId === undefined) return this.#host.getWebSockets().map((socket) => this.of(socket));
    const tagged = this.#host.getWebSockets(tagOf(userId)).map((socket) => this.of(socket));
    return tagged.filter(({ watcher }) => watcher?.principal.userId === userId);
  }

  of(socket: WebSocket): SocketLike {
    const known = this.#known.get(socket) ?? new DurableSocket(socket);
    this.#known.set(socket, known);
    return known;
  }

  /** null: there is room for this watcher. */
  refusal(watcher: Watcher): Rejection | null {
    const { userId } = watcher.principal;
    if (this.all(userId).length >= LIMITS.socketsPerUser) {
      return reject("too_many_sockets", `A user has at most ${LIMITS.socketsPerUser} sockets in one conversation.`);
    }
    if (this.#host.getWebSockets().length >= LIMITS.socketsPerConversation) {
      return reject("too_many_sockets", `A conversation has at most ${LIMITS.socketsPerConversation} sockets.`);
    }
    if (utf8Bytes(JSON.stringify(watcher)) > ATTACHMENT_BYTES) {
      return reject("payload_too_large", "The sign-in has more roles and scopes than a socket can keep.");
    }
    return null;
  }

  /** Accepts a socket and says the greeting, in the caller's turn. The answer is for the upgrade. */
  accept(watcher: Watcher, greeting: readonly string[]): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#host.acceptWebSocket(server, [tagOf(watcher.principal.userId)]);
    const socket = this.of(server);
    socket.keep(watcher);
    for (const frame of greeting) socket.send(frame);
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "sec-websocket-protocol": SUBPROTOCOL },
    });
  }
}

/** A tag only finds candidates, the attachment decides: the platform takes 256 bytes, and a user's id may have more. */
const tagOf = (userId: string): string => cutBytes(userId, 256);

class DurableSocket implements SocketLike {
  readonly #socket: WebSocket;
  #watcher: Watcher | null | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  get watcher(): Watcher | null {
    this.#watcher ??= watcherIn(this.#socket.deserializeAttachment());
    return this.#watcher;
  }

  keep(watcher: Watcher): void {
    this.#socket.serializeAttachment(watcher);
    this.#watcher = watcher;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }
}
