/**
 * Sends what happened to everybody who watches. Called after the commit, in its turn; the platform holds the frames
 * until the commit is durable (**I1**). Must not decide anything about runs, and never throws: a dead watcher is no
 * reason for an actor to fail.
 *
 * A watcher that does not read: above the first bound previews are left out, and one `partial` follows when it has
 * caught up; above the second, or too long above the first, its socket is closed, to come back with its cursor. Both
 * shrink in a crowd: what waits for all of them lies in one process's memory.
 */
import type { EncodedEvent, Log, Publisher, SignIns } from "../actor/ports.ts";
import { CLOSE, type Delta } from "../protocol/frames.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Principal } from "../protocol/principal.ts";
import type { State } from "../run/state.ts";
import { Shown, watchingRole } from "./audience.ts";
import { deltaFrame, partialFrame, type InProgress } from "./encode-frames.ts";
import { closeSocket, type SocketLike, type Sockets, type Watcher } from "./sockets.ts";

export interface PublisherDeps {
  readonly sockets: Sockets;
  readonly now: () => number;
  /** The message that is being streamed right now, without the delta that is just being published. */
  readonly inProgress: () => InProgress | null;
  readonly log: Pick<Log, "warn">;
  /** As far as is known without asking: does this sign-in count no more? Absent: every one does until it ends. */
  readonly revoked?: (principal: Principal) => boolean;
}

export class SocketPublisher implements Publisher, SignIns {
  readonly #deps: PublisherDeps;
  /** Closed in this life, but still listed until the other side answers. */
  readonly #closed = new WeakSet<SocketLike>();

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  events(events: readonly EncodedEvent[], state: State): void {
    const shown = events.map((encoded) => new Shown(encoded, state));
    const sockets = this.#deps.sockets.all();
    const bounds = boundsFor(sockets.length);
    for (const socket of sockets) {
      this.#isolated(socket, (watcher) => {
        const role = watchingRole(state, watcher.principal);
        if (role === null) return this.#close(socket, CLOSE.forbidden, "no longer a participant");
        if (this.#pace(socket, watcher, bounds) === "closed") return;
        for (const event of shown) socket.send(event.frameFor(role, watcher.principal.userId));
      });
    }
  }

  delta(delta: Delta): void {
    let frame: string | null = null;
    const sockets = this.#deps.sockets.all();
    const bounds = boundsFor(sockets.length);
    for (const socket of sockets) {
      this.#isolated(socket, (watcher) => {
        const pace = this.#pace(socket, watcher, bounds);
        if (pace === "slow") this.#missed(socket);
        if (pace !== "ready") return;
        frame ??= deltaFrame(delta);
        socket.send(frame);
      });
    }
  }

  /** @returns how many were open */
  close(code: number, reason: string, userId?: string): number {
    const open = this.#deps.sockets.all(userId).filter((socket) => !this.#closed.has(socket));
    for (const socket of open) this.#close(socket, code, reason);
    return open.length;
  }

  nextEnd(): number | null {
    const open = this.#deps.sockets.all().filter((socket) => !this.#closed.has(socket));
    const ends = open.flatMap(({ watcher }) => watcher?.expiresAt ?? []);
    return ends.length === 0 ? null : Math.min(...ends);
  }

  endDue(): void {
    for (const socket of this.#deps.sockets.all()) this.admits(socket);
  }

  /** True while the sign-in holds; otherwise the socket is closed. Asked before every command that it brings. */
  admits(socket: SocketLike): boolean {
    const { watcher } = socket;
    if (this.#closed.has(socket)) return false;
    if (!watcher) this.#close(socket, CLOSE.restart, "connect again");
    else if (this.#deps.now() >= watcher.expiresAt) this.#close(socket, CLOSE.token_expired, "token expired");
    else if (this.#deps.revoked?.(watcher.principal)) this.#close(socket, CLOSE.forbidden, "signed out");
    else return true;
    return false;
  }

  #isolated(socket: SocketLike, send: (watcher: Watcher) => void): void {
    try {
      const { watcher } = socket;
      if (this.admits(socket) && watcher) send(watcher);
    } catch (error) {
      // It has gone without a close frame; what it missed it asks for with its cursor.
      this.#deps.log.warn("watcher_lost", { requestId: socket.watcher?.requestId, error: nameOf(error) });
      this.#close(socket, CLOSE.internal, "sending failed");
    }
  }

  #pace(socket: SocketLike, watcher: Watcher, bounds: Bounds): "ready" | "slow" | "closed" {
    const behind = socket.bufferedAmount;
    const { slow, ...rest } = watcher;
    if (behind <= bounds.dropBytes) {
      if (!slow) return "ready";
      socket.keep(rest);
      const partial = slow.missed ? this.#deps.inProgress() : null;
      if (partial) socket.send(partialFrame(partial));
      return "ready";
    }
    const now = this.#deps.now();
    if (behind > bounds.closeBytes || (slow && now - slow.since >= LIMITS.slowCloseMs)) {
      this.#close(socket, CLOSE.slow, "reads too slowly");
      return "closed";
    }
    if (!slow) socket.keep({ ...rest, slow: { since: now, missed: false } });
    return "slow";
  }

  #missed(socket: SocketLike): void {
    const { watcher } = socket;
    if (watcher?.slow?.missed === false) socket.keep({ ...watcher, slow: { ...watcher.slow, missed: true } });
  }

  #close(socket: SocketLike, code: number, reason: string): void {
    if (this.#closed.has(socket)) return;
    this.#closed.add(socket);
    closeSocket(socket, code, reason);
  }
}

interface Bounds {
  readonly dropBytes: number;
  readonly closeBytes: number;
}

function boundsFor(watchers: number): Bounds {
  const share = LIMITS.slowCrowdBytes / watchers;
  return {
    dropBytes: Math.min(LIMITS.slowDropBytes, share),
    closeBytes: Math.min(LIMITS.slowCloseBytes, 4 * share),
  };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
