/**
 * What the fake provider remembers: per scope the script and its counters, and every request with its fate.
 *
 * Bounded, so that an hour of load does not fill the memory: the oldest bodies go first, then the oldest records.
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Answer } from "./answer-script.ts";
import type { Violation } from "./chat-rules.ts";
import { outcomeOf, round, type Watch } from "./exchange.ts";
import { maskHeaders } from "./http-kit.ts";
import { readable } from "./json.ts";
import type { Progress } from "./playback.ts";

const MAX_RECORDS = 100_000;
const MAX_REMEMBERED_BODY_BYTES = 256 * 1024 * 1024;

export type Scope = {
  queue: Answer[];
  /** Served in turn once the queue is empty. */
  defaults: readonly Answer[];
  defaultsServed: number;
  bodyLimit: { readonly bytes: number; readonly answer: Answer } | null;
  strict: boolean | undefined;
  total: number;
  abortedByClient: number;
  violations: (Violation & { scope: string; n: number; atMs: number })[];
};

export type AnswerGiven = {
  readonly kind: string;
  readonly from?: string;
  readonly name?: string;
  readonly code?: string;
};

export type Entry = Progress & {
  /** 1 for the first request of its scope. */
  readonly n: number;
  readonly scope: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Null once it was dropped to save memory. */
  raw: Buffer | null;
  readonly bodyBytes: number;
  readonly stream: boolean;
  status: number | null;
  answer: AnswerGiven | null;
  readonly violations: Violation[];
  /** Both null in load mode. */
  bytesPlanned: number | null;
  writesPlanned: number | null;
};

/** A request as a test sees it. */
export type RequestRecord = ReturnType<typeof snapshot>;
export type Book = ReturnType<typeof createBook>;

export function createBook() {
  let scopes = new Map<string, Scope>();
  let entries: Entry[] = [];
  let rememberedBytes = 0;
  let oldestWithBody = 0;
  let abortedBeforeBody = 0;
  /** Exchanges that are still open; survives a reset, since resetting closes nothing. */
  const live = new Set<Entry>();

  const scope = (name: string): Scope => {
    const known = scopes.get(name) ?? newScope();
    scopes.set(name, known);
    return known;
  };

  const forget = (): void => {
    while (rememberedBytes > MAX_REMEMBERED_BODY_BYTES && oldestWithBody < entries.length - 1) {
      const entry = entries[oldestWithBody++];
      rememberedBytes -= entry?.raw?.length ?? 0;
      if (entry !== undefined) entry.raw = null;
    }
    if (entries.length <= MAX_RECORDS * 1.1) return;
    const dropped = entries.splice(0, entries.length - MAX_RECORDS);
    for (const entry of dropped) rememberedBytes -= entry.raw?.length ?? 0;
    oldestWithBody = Math.max(0, oldestWithBody - dropped.length);
  };

  return {
    scope,

    open(name: string, given: { watch: Watch; req: IncomingMessage; bytes: Buffer; stream: boolean }): Entry {
      const { watch, req, bytes, stream } = given;
      const own = scope(name);
      own.total += 1;
      const entry: Entry = {
        n: own.total,
        scope: name,
        watch,
        path: req.url ?? "",
        headers: req.headers,
        raw: bytes,
        bodyBytes: bytes.length,
        stream,
        status: null,
        answer: null,
        violations: [],
        bytesPlanned: null,
        writesPlanned: null,
        bytesWritten: 0,
        writes: 0,
        firstWriteAtMs: null,
        lastWriteAtMs: null,
      };
      entries.push(entry);
      rememberedBytes += bytes.length;
      forget();
      live.add(entry);
      watch.signal.addEventListener("abort", () => {
        live.delete(entry);
        if (watch.endedBy === "client") own.abortedByClient += 1;
      });
      return entry;
    },

    /** A client that left before its request was complete; there is no scope to file it under. */
    incomplete(): void {
      abortedBeforeBody += 1;
    },

    violation(entry: Entry, found: Violation): void {
      entry.violations.push(found);
      const { n, watch } = entry;
      scope(entry.scope).violations.push({ scope: entry.scope, n, atMs: round(watch.atMs), ...found });
    },

    requests(name?: string) {
      return entries.filter((entry) => name === undefined || entry.scope === name).map(snapshot);
    },

    stats(name?: string) {
      const chosen = name === undefined ? [...scopes.values()] : [scopes.get(name) ?? newScope()];
      return {
        inFlight: [...live].filter((entry) => name === undefined || entry.scope === name).length,
        total: chosen.reduce((sum, one) => sum + one.total, 0),
        abortedByClient: chosen.reduce((sum, one) => sum + one.abortedByClient, 0),
        abortedBeforeBody,
        queued: chosen.reduce((sum, one) => sum + one.queue.length, 0),
        violations: chosen.flatMap((one) => one.violations),
      };
    },

    reset(name?: string): void {
      if (name === undefined) {
        scopes = new Map();
        abortedBeforeBody = 0;
      } else {
        scopes.delete(name);
      }
      entries = entries.filter((entry) => name !== undefined && entry.scope !== name);
      rememberedBytes = entries.reduce((sum, entry) => sum + (entry.raw?.length ?? 0), 0);
      oldestWithBody = 0;
    },
  };
}

function newScope(): Scope {
  return {
    queue: [],
    defaults: [],
    defaultsServed: 0,
    bodyLimit: null,
    strict: undefined,
    total: 0,
    abortedByClient: 0,
    violations: [],
  };
}

/** Bodies are parsed here and not on arrival, so that load costs nothing more. */
function snapshot({ watch, raw, headers, ...entry }: Entry) {
  return {
    ...entry,
    at: new Date(watch.atMs).toISOString(),
    atMs: round(watch.atMs),
    headers: maskHeaders(headers),
    ...(raw === null ? { body: null, bodyText: null } : readable(raw.toString("utf8"))),
    bodySha256: raw === null ? null : createHash("sha256").update(raw).digest("hex"),
    complete: entry.bytesPlanned === null ? watch.endedBy === "server" : entry.bytesWritten >= entry.bytesPlanned,
    ...outcomeOf(watch),
  };
}
