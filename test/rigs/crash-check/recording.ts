/** What two conversations really looked like from outside while their service was killed eight times, to be changed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ConversationSeen, SeedSeen } from "../../../rigs/crash/seen.ts";
import type { Asked } from "../../../sim/observation.ts";
import type { Event, EventOf, EventType } from "../../../src/protocol/events.ts";

export const RECORDED = gunzipSync(readFileSync(join(import.meta.dirname, "../seen.json.gz"))).toString("utf8");

export type Plain<T> = T extends (infer I)[] | readonly (infer I)[]
  ? Plain<I>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<T[K]> }
    : T;
export type Wrongly = (seed: Plain<SeedSeen>) => void;

/** As the log's own text has it, after it was changed. */
export function rewritten(one: Plain<ConversationSeen>): void {
  one.seen.logJson = one.seen.log.map((event) => JSON.stringify(event));
}

export function found<T>(item: T | undefined, what: string): NonNullable<T> {
  if (item === undefined || item === null) throw new Error(`the recording has no ${what}`);
  return item;
}

export const conversation = (seed: Plain<SeedSeen>, n: number) => found(seed.conversations[n], "such conversation");
export const events = <T extends EventType>(one: Plain<ConversationSeen>, type: T) =>
  (one.seen.log as Event[]).filter((event): event is EventOf<T> => event.type === type) as Plain<EventOf<T>>[];
export const eventOf = <T extends EventType>(one: Plain<ConversationSeen>, type: T) =>
  found(events(one, type)[0], type);
export const askedOf = (one: Plain<ConversationSeen>, type: Asked["command"]["type"]) =>
  found(
    one.seen.asked.find(
      ({ command, told }) => command.type === type && told.some(({ outcome }) => outcome.kind === "ok"),
    ),
    type,
  );
export const callOf = (one: Plain<ConversationSeen>, tool: string, state: string) => {
  const finished = new Set(
    events(one, "tool_call.finished").flatMap(({ data }) => (data.state === state ? [data.toolCallId] : [])),
  );
  return found(
    events(one, "tool_call.proposed").find(({ data }) => data.tool === tool && finished.has(data.toolCallId)),
    `${tool} that ${state}`,
  ).data;
};
export const requestOf = (one: Plain<ConversationSeen>, key: string) =>
  found(
    one.requests.find((request) => request.key === key),
    key,
  );
export const liveFrames = (one: Plain<ConversationSeen>) =>
  found(
    one.connections.find(({ frames, user }) => user === one.approver && frames.filter(isLive).length > 2),
    "connection with live events",
  ).frames;
export const isLive = (text: string) => text.startsWith('{"type":"event"');

/** A law, what was seen wrongly, and how the recording is changed to show it. */
export type Wrong = readonly [law: string, what: string, wrongly: Wrongly];
