/**
 * A client over a bare socket, for tests that must see what `fetch` hides: how many writes there were, and whether a
 * body ended properly or was cut.
 */
import { connect } from "node:net";

export type Wire = {
  /** 0 until the head has come. */
  status: number;
  headers: Record<string, string>;
  /** The server's writes: the chunks of a chunked body. */
  readonly chunks: Buffer[];
  /** How often the socket delivered something after the head. */
  packets: number;
  /** `complete` with the final empty chunk, `cut` when the socket ended before it. */
  end: "complete" | "cut" | null;
  readonly destroy: () => void;
};

/** Posts a body and takes the chunked answer apart as it comes. */
export function postOverWire(port: number, path: string, body: unknown): Wire {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const socket = connect(port, "127.0.0.1");
  const wire: Wire = { status: 0, headers: {}, chunks: [], packets: 0, end: null, destroy: () => socket.destroy() };
  let pending: Buffer = Buffer.alloc(0);

  const takeHead = (): boolean => {
    const at = pending.indexOf("\r\n\r\n");
    if (at < 0) return false;
    const [statusLine = "", ...lines] = pending.subarray(0, at).toString("latin1").split("\r\n");
    wire.status = Number(statusLine.split(" ")[1]);
    wire.headers = Object.fromEntries(
      lines.map((line) => [line.split(": ")[0]?.toLowerCase(), line.slice(line.indexOf(": ") + 2)]),
    );
    pending = pending.subarray(at + 4);
    return true;
  };
  const takeChunk = (): boolean => {
    const at = pending.indexOf("\r\n");
    const size = at < 0 ? Number.NaN : Number.parseInt(pending.subarray(0, at).toString("latin1"), 16);
    if (Number.isNaN(size) || pending.length < at + size + 4) return false;
    if (size === 0) wire.end = "complete";
    else wire.chunks.push(Buffer.from(pending.subarray(at + 2, at + 2 + size)));
    pending = pending.subarray(at + size + 4);
    return size > 0;
  };

  socket.on("data", (data: Buffer) => {
    if (wire.status !== 0) wire.packets += 1;
    pending = Buffer.concat([pending, data]);
    if (wire.status === 0 && !takeHead()) return;
    while (takeChunk());
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    wire.end ??= "cut";
  });
  socket.write(`POST ${path} HTTP/1.1\r\nhost: test\r\ncontent-length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
  return wire;
}

/** Polls; for what the far side of a socket does in its own time. Not a fixed sleep. */
export async function until<T>(look: () => T, what: string, limitMs = 5_000): Promise<NonNullable<T>> {
  for (const end = performance.now() + limitMs; performance.now() < end;) {
    const seen = look();
    if (seen !== undefined && seen !== null && seen !== false && seen !== 0) return seen as NonNullable<T>;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`waited in vain: ${what}`);
}
