/** Server frames as text. What contains an event puts the log's own JSON in, so that it is the same on every hop. */
import type { Conversation } from "../protocol/conversation.ts";
import { cursorOf } from "../protocol/cursor.ts";
import type { Delta, ServerFrame } from "../protocol/frames.ts";
import type { Problem } from "../protocol/problems.ts";
import { SUBPROTOCOL } from "../protocol/version.ts";

/** What a watcher is shown of a message in progress. */
export interface InProgress {
  readonly messageId: string;
  readonly attempt: number;
  readonly part: number;
  readonly text: string;
}

const encode = (frame: ServerFrame): string => JSON.stringify(frame);

export const welcomeFrame = (conversation: Conversation, serverTime: string): string =>
  encode({
    type: "welcome",
    protocol: SUBPROTOCOL,
    conversation,
    headCursor: conversation.headCursor,
    serverTime,
  });

export const resetFrame = (snapshot: Conversation, reason: Extract<ServerFrame, { type: "reset" }>["reason"]): string =>
  encode({ type: "reset", snapshot, reason, headCursor: snapshot.headCursor });

/** @param events JSON of each event @param seq of the last of them; of the head where there are none */
export const eventsFrame = (events: readonly string[], generation: string, seq: number): string =>
  `{"type":"events","events":[${events.join(",")}],"cursor":"${cursorOf(generation, seq)}"}`;

/** @param event JSON of the event */
export const eventFrame = (event: string, generation: string, seq: number): string =>
  `{"type":"event","cursor":"${cursorOf(generation, seq)}","event":${event}}`;

export const deltaFrame = (delta: Delta): string => encode(delta);

export const partialFrame = ({ messageId, attempt, part, text }: InProgress): string =>
  encode({ type: "partial", messageId, attempt, part, text });

export const ackFrame = (id: string, result: unknown, replayed: boolean): string =>
  encode({ type: "ack", id, result, ...(replayed ? { replayed } : {}) });

export const problemFrame = (problem: Problem, id?: string): string =>
  encode({ type: "problem", ...(id === undefined ? {} : { id }), problem });
