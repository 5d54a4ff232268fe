/** Events are encoded once: the log, every watcher and the history share the text. */
import type { Event } from "../protocol/events.ts";
import type { EncodedEvent } from "./ports.ts";

export function encodeEvent(event: Event): EncodedEvent {
  const data = JSON.stringify(event.data);
  const { data: _, ...head } = event;
  // The envelope's members are few and small; `data` may be large, so it is spliced in instead of encoded again.
  const json = `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
  return { event, data, json };
}
