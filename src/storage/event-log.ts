/**
 * The log: append, bounded reads, fold. Keeps **I8** (`seq` is dense: an append that does not follow the head throws, a
 * hole found while folding is storage lost) and **I2** (the state comes from here alone).
 */
import type { Cause, EncodedEvent } from "../actor/ports.ts";
import { eventJson } from "../protocol/encoded-event.ts";
import type { EventType } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import { utf8Bytes } from "../protocol/text.ts";
import { epochOf } from "../protocol/time.ts";
import { evolve } from "../run/evolve.ts";
import type { State } from "../run/state.ts";
import { gather, spillNew } from "./overflow.ts";
import type { SqlValue } from "../sql/rows.ts";
import { numberIn, textOrNullIn, type SqlDatabase } from "./sql-database.ts";
import { StorageLostError } from "./storage-lost.ts";
import { EVENT_COLUMNS, storedEvent } from "./stored-event.ts";

/** With its cause in line, a row stays under 1 MB. */
const MAX_DATA_BYTES = 768 * 1024;
const INLINE_CAUSE_CHARS = 64 * 1024;
/** Rows read at once: bounds the memory of a read whose byte bound only the rows themselves can tell. */
const BATCH = 64;

const HEAD = "SELECT seq FROM events ORDER BY seq DESC LIMIT 1";
/** Rows of one statement: with nine parameters each they stay below the hundred that a statement may have. */
const APPENDED = 8;
const APPENDS = Array.from(
  { length: APPENDED + 1 },
  (_, rows) => `INSERT INTO events (seq, v, type, at, run_n, by_kind, by_id, codec, data, cause)
  VALUES ${Array.from({ length: rows }, () => "(?, ?, ?, ?, ?, ?, ?, 'json', ?, ?)").join(", ")}`,
);
const AFTER = `SELECT ${EVENT_COLUMNS} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`;
const AFTER_OF_RUN = `SELECT ${EVENT_COLUMNS} FROM events WHERE seq > ? AND run_n = ? ORDER BY seq LIMIT ?`;
const AFTER_OF_TYPES = `SELECT ${EVENT_COLUMNS} FROM events
  WHERE seq > ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`;
const CAUSES = `SELECT seq, cause FROM events WHERE seq > ? AND cause IS NOT NULL ORDER BY seq LIMIT ?`;

/** A cause too long for its row: the text stands in the overflow. `null` in the column means that there is none. */
const ELSEWHERE = "";

export const headOf = (db: SqlDatabase): number => {
  const [row] = db.exec(HEAD);
  return row ? numberIn(row, "seq") : 0;
};

/** Inside the caller's transaction. `head` is the last `seq` of the log. */
export function append(db: SqlDatabase, head: number, events: readonly EncodedEvent[], causes: readonly Cause[]): void {
  const causeOf = new Map(causes.map((cause) => [cause.seq, cause]));
  const rows: SqlValue[][] = [];
  for (const [at, encoded] of events.entries()) {
    const { event } = encoded;
    if (event.seq !== head + 1 + at) throw new RangeError(`event ${event.seq} does not follow ${head + at}`);
    // The log gives back what it puts together from columns; it must be what the watchers of this commit are sent.
    if (encoded.json !== eventJson(event, encoded.data)) throw new TypeError(`event ${event.seq} is encoded otherwise`);
    if (encoded.data.length * 3 > MAX_DATA_BYTES && utf8Bytes(encoded.data) > MAX_DATA_BYTES) {
      throw new RangeError(`event ${event.seq} (${event.type}) has more than ${MAX_DATA_BYTES} bytes`);
    }
    const cause = causeOf.get(event.seq);
    causeOf.delete(event.seq);
    rows.push([
      event.seq,
      event.v,
      event.type,
      epochOf(event.at),
      event.runId === undefined ? null : numberOf(event.runId),
      event.by.kind,
      event.by.id ?? null,
      encoded.data,
      cause ? causeColumn(db, cause) : null,
    ]);
  }
  const [stray] = causeOf.keys();
  if (stray !== undefined) throw new RangeError(`a cause names event ${stray}, which is not in this commit`);
  for (let from = 0; from < rows.length; from += APPENDED) {
    const some = rows.slice(from, from + APPENDED);
    db.exec(APPENDS[some.length] ?? "", ...some.flat());
  }
}

function causeColumn(db: SqlDatabase, { seq, now, input }: Cause): string {
  const text = JSON.stringify({ now, input });
  if (text.length <= INLINE_CAUSE_CHARS) return text;
  spillNew(db, `cause:${seq}`, text, 0);
  return ELSEWHERE;
}

export interface LogQuery {
  readonly after: number;
  readonly limit: number;
  readonly maxBytes: number;
  readonly runId?: string;
}

/** Oldest first, within both bounds; the first is given whatever its size, or a reader would never get past it. */
export function readEvents(db: SqlDatabase, conversationId: string, query: LogQuery): EncodedEvent[] {
  const found: EncodedEvent[] = [];
  let bytes = 0;
  let after = query.after;
  while (found.length < query.limit) {
    const wanted = Math.min(BATCH, query.limit - found.length);
    const rows =
      query.runId === undefined
        ? db.exec(AFTER, after, wanted)
        : db.exec(AFTER_OF_RUN, after, numberOf(query.runId), wanted);
    for (const row of rows) {
      const encoded = storedEvent(row, conversationId);
      bytes += utf8Bytes(encoded.json);
      if (bytes > query.maxBytes && found.length > 0) return found;
      found.push(encoded);
      after = numberIn(row, "seq");
    }
    if (rows.length < wanted) return found;
  }
  return found;
}

/** In batches: a cursor left open over the caller's own writes would see them. */
export function* eventsOfTypes(
  db: SqlDatabase,
  conversationId: string,
  types: readonly EventType[],
): Generator<EncodedEvent> {
  const wanted = JSON.stringify(types);
  for (let after = 0; ;) {
    const rows = db.exec(AFTER_OF_TYPES, after, wanted, BATCH);
    for (const row of rows) yield storedEvent(row, conversationId);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = numberIn(last, "seq");
  }
}

/** What caused the events after `after`, oldest first, read one by one: a cause may be megabytes. */
export function* causesAfter(db: SqlDatabase, after: number): Generator<Cause> {
  for (let from = after; ;) {
    const [row] = db.exec(CAUSES, from, 1);
    if (!row) return;
    const seq = numberIn(row, "seq");
    const column = textOrNullIn(row, "cause");
    const { now, input } = JSON.parse(gather(db, `cause:${seq}`, column === ELSEWHERE ? null : column)) as Cause;
    yield { seq, now, input };
    from = seq;
  }
}

/** The state after the whole log, from `start` on. */
export function fold(db: SqlDatabase, conversationId: string, start: State): State {
  let state = start;
  for (;;) {
    const rows = db.exec(AFTER, state.seq, BATCH);
    for (const row of rows) {
      const { event } = storedEvent(row, conversationId);
      if (event.seq !== state.seq + 1) throw new StorageLostError(`event ${state.seq + 1} is missing`);
      state = evolve(state, event);
    }
    if (rows.length < BATCH) return state;
  }
}
