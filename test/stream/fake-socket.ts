import type { SocketLike, Sockets, Watcher } from "../../src/stream/sockets.ts";

export const watcher = (userId: string, more: Partial<Watcher> = {}): Watcher => ({
  principal: { tenantId: "t1", userId, roles: [], scopes: [] },
  requestId: `req-${userId}`,
  traceId: "trace",
  expiresAt: Number.MAX_SAFE_INTEGER,
  ...more,
});

/** A socket that keeps what it was sent. Its attachment survives as structured data only, as a hibernation would. */
export class FakeSocket implements SocketLike {
  readonly sent: string[] = [];
  readonly closes: { code: number; reason: string }[] = [];
  bufferedAmount = 0;
  /** What `send` and `close` throw from now on. */
  broken: Error | null = null;
  #kept: unknown;

  constructor(userId: string, more: Partial<Watcher> = {}) {
    this.#kept = structuredClone(watcher(userId, more));
  }

  get watcher(): Watcher | null {
    return structuredClone(this.#kept) as Watcher | null;
  }

  set watcher(kept: Watcher | null) {
    this.#kept = kept;
  }

  keep(kept: Watcher): void {
    this.#kept = structuredClone(kept);
  }

  send(text: string): void {
    if (this.broken) throw this.broken;
    this.sent.push(text);
  }

  close(code: number, reason: string): void {
    this.closes.push({ code, reason });
    if (this.broken) throw this.broken;
  }

  get frames(): { type: string; [member: string]: unknown }[] {
    return this.sent.map((text) => JSON.parse(text) as { type: string });
  }
  get types(): string[] {
    return this.frames.map(({ type }) => type);
  }
}

export const room = (...sockets: FakeSocket[]): Sockets => ({
  all: (userId) => sockets.filter(({ watcher }) => userId === undefined || watcher?.principal.userId === userId),
});
