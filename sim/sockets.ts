/**
 * WebSockets between the object and its clients. A socket outlives the object's memory when that is evicted, with its
 * attachment; it dies with a crash. Frames arrive in the order in which they were sent, or not at all.
 */
import type { SocketLike, Watcher } from "../src/stream/sockets.ts";
import type { Kernel } from "./kernel.ts";
import type { Connection, Frame } from "./observation.ts";

export interface SocketPeer {
  heard(frame: Frame): void;
  ended(code: number): void;
}

export interface SocketWorld {
  readonly kernel: Kernel;
  /** Held until everything before it is durable. */
  gate(run: () => void): void;
  delay(): number;
  /** Everybody who is sent the same text hears the same frame. */
  parse(text: string): Frame;
  /** How many bytes of buffer one character counts for. */
  readonly weight: number;
}

export class SimSocket implements SocketLike {
  readonly connection: Connection;
  readonly #world: SocketWorld;
  readonly #peer: SocketPeer;
  /** As JSON, which is all that outlives the object's memory; parsed once for all who ask. */
  #kept: string;
  #watcher: Watcher | null = null;
  #unread = 0;
  #lastAt = 0;
  #pausedUntil = 0;
  /** The object has closed it, or the connection is gone. */
  closing = false;
  gone = false;

  constructor(world: SocketWorld, peer: SocketPeer, connection: Connection, watcher: Watcher) {
    this.#world = world;
    this.#peer = peer;
    this.connection = connection;
    this.#kept = JSON.stringify(watcher);
  }

  get bufferedAmount(): number {
    return this.#unread * this.#world.weight;
  }

  get watcher(): Watcher | null {
    this.#watcher ??= JSON.parse(this.#kept) as Watcher;
    return this.#watcher;
  }

  keep(watcher: Watcher): void {
    this.#watcher = null;
    this.#kept = JSON.stringify(watcher);
  }

  send(text: string): void {
    if (this.closing || this.gone) throw new TypeError("the socket is closed");
    this.#unread += text.length;
    this.#world.gate(() => {
      this.#deliver(() => {
        this.#unread -= text.length;
        const frame = this.#world.parse(text);
        this.connection.frames.push({ text, frame });
        this.#peer.heard(frame);
      });
    });
  }

  close(code: number): void {
    if (this.closing || this.gone) return;
    this.closing = true;
    this.#world.gate(() => {
      this.#deliver(() => this.#end(code));
    });
  }

  /** The client reads nothing for a while. */
  pause(ms: number): void {
    this.#pausedUntil = this.#world.kernel.now + ms;
  }

  /** The connection breaks: what is on the way is lost. */
  cut(code: number): void {
    this.#end(code);
  }

  #deliver(run: () => void): void {
    const { kernel } = this.#world;
    const at = Math.max(this.#lastAt, this.#pausedUntil, kernel.now + this.#world.delay());
    // Strictly one after the other: equal times would be shuffled.
    this.#lastAt = at + 0.001;
    kernel.at(this.#lastAt, () => {
      if (!this.gone) run();
    });
  }

  #end(code: number): void {
    if (this.gone) return;
    this.gone = true;
    this.connection.closed = { at: this.#world.kernel.now, code };
    this.#peer.ended(code);
  }
}
