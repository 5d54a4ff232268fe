/** What an object takes from the platform, with a fuse at every seam. */
import type { Platform } from "../../src/platform.ts";
import { fuseOf, type Fuse } from "./fuses.ts";
import type { Point } from "./points.ts";

export const armed = ({ storage, sockets, history, registry }: Platform, fuse: Fuse): Platform => ({
  storage: armedStorage(storage, fuse),
  sockets: {
    acceptWebSocket: (socket, tags) => sockets.acceptWebSocket(socket, tags),
    getWebSockets: (tag) => sockets.getWebSockets(tag).map((socket) => armedSocket(socket, fuse)),
    setWebSocketAutoResponse: (pair) => sockets.setWebSocketAutoResponse(pair),
  },
  history: {
    prepare: (sql) => history.prepare(sql),
    batch: (statements) => around(fuse, "history.asked", "history.landed", () => history.batch(statements)),
  },
  registry: (name) => {
    const stub = registry(name);
    return {
      claim: (claim) => around(fuse, "claim.asked", "claim.answered", () => stub.claim(claim)),
      release: (claim) => around(fuse, "release.asked", "release.answered", () => stub.release(claim)),
    } as ReturnType<Platform["registry"]>;
  },
});

async function around<T>(fuse: Fuse, before: Point, after: Point, work: () => PromiseLike<T>): Promise<T> {
  fuse.at(before);
  const result = await work();
  fuse.at(after);
  return result;
}

/** By rank: a commit may also clear the checkpoint, and what is neither may be anything. */
const KINDS = ["row", "checkpoint", "commit"] as const;
const FILLED = { row: "row.filled", checkpoint: "checkpoint.filled", commit: "commit.filled" } as const;
const MADE = { row: "row.made", checkpoint: "checkpoint.made", commit: "commit.made" } as const;
const kindOf = (sql: string): 0 | 1 | 2 => (sql.includes("INTO events") ? 2 : sql.includes("INTO checkpoint") ? 1 : 0);

function armedStorage(storage: Platform["storage"], fuse: Fuse): Platform["storage"] {
  /** Of the transaction that is open; -1: nothing was written yet. */
  let kind = -1;
  const exec = (sql: string, ...params: unknown[]) => {
    if (!/^\s*(INSERT|UPDATE|DELETE)/.test(sql)) return storage.sql.exec(sql, ...params);
    if (kindOf(sql) === 2 && kind < 2) fuse.at("commit.begun");
    kind = Math.max(kind, kindOf(sql));
    const cursor = storage.sql.exec(sql, ...params);
    if (params[0] === "projected_seq") fuse.at("history.marked");
    return cursor;
  };
  const sql = new Proxy(storage.sql, {
    get: (target, name) => (name === "exec" ? exec : Reflect.get(target, name, target)),
  });
  return {
    sql,
    transactionSync: (run) => {
      kind = -1;
      const result = storage.transactionSync(() => {
        const made = run();
        const filled = KINDS[kind];
        if (filled) fuse.at(FILLED[filled]);
        return made;
      });
      const made = KINDS[kind];
      if (made) fuse.at(MADE[made]);
      return result;
    },
    setAlarm: async (at, options) => {
      fuse.at("alarm.asked");
      const setting = storage.setAlarm(at, options);
      fuse.at("alarm.set");
      return setting;
    },
    deleteAll: (options) => storage.deleteAll(options),
  };
}

const known = new WeakMap<WebSocket, WebSocket>();

/** The same one for the same socket, whoever asks. */
export function armedSocket(socket: WebSocket, fuse: Fuse): WebSocket {
  const made =
    known.get(socket) ??
    new Proxy(socket, {
      get(target, name) {
        if (name === "send") return (text: string) => send(target, text, fuse);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  known.set(socket, made);
  return made;
}

function send(socket: WebSocket, text: string, fuse: Fuse): void {
  const kind = /^\{"type":"(\w+)"/.exec(text)?.[1];
  if (kind === "event") fuse.at("event_frame.asked");
  if (kind === "ack" || kind === "problem") fuse.at("answer_frame.asked");
  socket.send(text);
  if (kind === "event") fuse.at("event_frame.handed_over");
  if (kind === "delta" || kind === "partial") fuse.at("preview_frame.handed_over");
  if (kind === "ack" || kind === "problem") fuse.at("answer_frame.handed_over");
}

/** Requests that leave: whose they are stands in them. */
export function armFetch(): void {
  const fetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const isModel = pathname.endsWith("/chat/completions");
    const userId = request.headers.get("x-user-id");
    const scope = isModel && typeof init?.body === "string" ? (JSON.parse(init.body) as { model: string }).model : null;
    const fuse =
      isModel || userId !== null
        ? fuseOf((subject) => (isModel ? subject.scope === scope : subject.userId === userId))
        : undefined;
    if (!fuse) return fetch(input, init);
    return around(fuse, isModel ? "model.sent" : "tool.sent", isModel ? "model.answered" : "tool.answered", () =>
      fetch(input, init),
    );
  };
}
