/** What goes on the wire: the writes of a body, the wait before each, and the end. */
import type { Writes } from "./answer-script.ts";
import type { JsonObject } from "./json.ts";
import type { End, FixtureLibrary } from "./stream-fixtures.ts";

export type PlanEnd =
  | End
  | { readonly mode: "destroy" }
  | { readonly mode: "hang"; readonly headers: boolean; readonly ms: number };

export type Plan = {
  readonly kind: string;
  /** Of a fixture. */
  readonly name?: string;
  /** Null when not even a head is sent. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly writes: readonly Uint8Array[];
  /** Ms before each write. */
  readonly delays: readonly number[];
  readonly end: PlanEnd;
  /** Ms before anything at all is sent. */
  readonly waitMs: number;
};

/** A plan before its wait and its cut are known. */
export type Draft = Omit<Plan, "waitMs">;

export type PlanContext = {
  readonly fixtures: FixtureLibrary;
  readonly body: JsonObject;
  readonly bodyBytes: number;
  /** Makes generated ids unique within the server. */
  readonly serial: number;
};

export const SSE_HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

/** A body that goes out whole, with its length. */
export function inOnePiece(
  bytes: Buffer,
  type: string,
  headers: Readonly<Record<string, string>> = {},
  delayMs = 0,
): Omit<Draft, "kind"> {
  return {
    status: 200,
    headers: { "content-type": type, "content-length": String(bytes.length), ...headers },
    writes: [bytes],
    delays: [delayMs],
    end: { mode: "close" },
  };
}

/** The writes of a body; shared with the decoder's tests, which feed them in without a socket. */
export function split(
  bytes: Uint8Array,
  splitAt: readonly number[],
  delays: readonly number[],
  mode: Writes = "planned",
): { writes: Uint8Array[]; delays: readonly number[] } {
  if (mode === "single") return { writes: [bytes], delays: [delays[0] ?? 0] };
  if (mode === "bytewise") {
    return { writes: Array.from(bytes, (byte) => Uint8Array.of(byte)), delays: Array.from(bytes, () => 0) };
  }
  if (bytes.length === 0) return { writes: [], delays: [] };
  const edges = [...splitAt, bytes.length];
  return { writes: edges.map((edge, i) => bytes.subarray(edges[i - 1] ?? 0, edge)), delays };
}
