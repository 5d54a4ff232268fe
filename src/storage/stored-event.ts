/**
 * A row of the log as an event. The JSON that everybody gets is put together from the columns without parsing the data;
 * only who asks for the object pays for it.
 */
import type { EncodedEvent } from "../actor/ports.ts";
import { eventJson } from "../protocol/encoded-event.ts";
import { EventType, type Event } from "../protocol/events.ts";
import { runIdOf } from "../protocol/ids.ts";
import { By } from "../protocol/principal.ts";
import { isoOf } from "../protocol/time.ts";
import { EVENT_VERSION } from "../protocol/version.ts";
import { numberIn, numberOrNullIn, textIn, textOrNullIn, type Row } from "./sql-database.ts";
import { upcast } from "./upcast.ts";

export const EVENT_COLUMNS = "seq, v, type, at, run_n, by_kind, by_id, codec, data";

export function storedEvent(row: Row, conversationId: string): EncodedEvent {
  const codec = textIn(row, "codec");
  if (codec !== "json") throw new TypeError(`event ${numberIn(row, "seq")} is written as ${codec}`);
  const type = typeIn(row);
  const v = numberIn(row, "v");
  const stored = textIn(row, "data");
  const data = v === EVENT_VERSION ? stored : JSON.stringify(upcast(type, v, JSON.parse(stored)));
  const runN = numberOrNullIn(row, "run_n");
  const id = textOrNullIn(row, "by_id");
  return new StoredEvent(
    {
      seq: numberIn(row, "seq"),
      v: EVENT_VERSION,
      type,
      at: isoOf(numberIn(row, "at")),
      ...(runN === null ? {} : { runId: runIdOf(conversationId, runN) }),
      by: { kind: kindIn(row), ...(id === null ? {} : { id }) },
    },
    data,
  );
}

// Looked up, not parsed: this is done for every row of every fold.
const TYPES = new Map<unknown, EventType>(EventType.options.map((type) => [type, type]));
const KINDS = new Map<unknown, By["kind"]>(By.shape.kind.options.map((kind) => [kind, kind]));

const typeIn = (row: Row): EventType => TYPES.get(row["type"]) ?? EventType.parse(row["type"]);
const kindIn = (row: Row): By["kind"] => KINDS.get(row["by_kind"]) ?? By.shape.kind.parse(row["by_kind"]);

type Envelope = Parameters<typeof eventJson>[0];

class StoredEvent implements EncodedEvent {
  readonly data: string;
  readonly json: string;
  readonly #envelope: Envelope;
  #event: Event | null = null;

  constructor(envelope: Envelope, data: string) {
    this.#envelope = envelope;
    this.data = data;
    this.json = eventJson(envelope, data);
  }

  get event(): Event {
    this.#event ??= { ...this.#envelope, data: JSON.parse(this.data) } as Event;
    return this.#event;
  }
}
