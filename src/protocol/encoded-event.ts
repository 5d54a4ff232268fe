/**
 * The one JSON form of an event. Log, sockets, REST and history carry the same bytes: the actor encodes an event once,
 * and the log puts the same text together again from its columns. Members stand in this order and nowhere else.
 */
import type { Event } from "./events.ts";

type Envelope = Pick<Event, "seq" | "v" | "type" | "at" | "runId" | "by">;

/** Everything before the data. Followed by the JSON of the data and `}` it is the event. */
export function eventHead({ seq, v, type, at, runId, by }: Envelope): string {
  const run = runId === undefined ? "" : `,"runId":${JSON.stringify(runId)}`;
  const who = JSON.stringify(by.id === undefined ? { kind: by.kind } : { kind: by.kind, id: by.id });
  return `{"seq":${seq},"v":${v},"type":"${type}","at":"${at}"${run},"by":${who},"data":`;
}

/** @param data JSON of the event's data */
export const eventJson = (envelope: Envelope, data: string): string => `${eventHead(envelope)}${data}}`;

export function encodeEvent(event: Event): { readonly event: Event; readonly data: string; readonly json: string } {
  const data = JSON.stringify(event.data);
  return { event, data, json: eventJson(event, data) };
}
