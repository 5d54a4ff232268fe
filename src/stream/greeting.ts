/**
 * What a watcher is sent first: the snapshot, then what it missed, then the text in progress. Pure: frames from state and
 * log. Sent in the turn that accepts the socket, so no event falls between the catch-up and the live stream.
 *
 * Never loses silently: a cursor that cannot be caught up from gets a `reset` with its reason.
 */
import type { EncodedEvent } from "../actor/ports.ts";
import type { Conversation } from "../protocol/conversation.ts";
import type { Position } from "../protocol/cursor.ts";
import { LIMITS } from "../protocol/limits.ts";
import { seenConversation } from "../protocol/redaction.ts";
import type { Role } from "../protocol/roles.ts";
import { isoOf } from "../protocol/time.ts";
import type { State } from "../run/state.ts";
import { conversationView } from "../run/views.ts";
import { Shown } from "./audience.ts";
import { eventsFrame, partialFrame, resetFrame, welcomeFrame, type InProgress } from "./encode-frames.ts";

export interface Joining {
  readonly state: State;
  readonly role: Role;
  readonly userId: string;
  /** Where it says it is; null: it brought no cursor. */
  readonly position: Position | null;
  readonly now: number;
  readonly events: (query: { after: number; limit: number; maxBytes: number }) => readonly EncodedEvent[];
  /** Of this life, or the checkpoint of the last one. */
  readonly inProgress: InProgress | null;
}

/** UTF-16 units of events in one frame, so that a client need not hold a megabyte to parse the first of them. */
const FRAME_CHARS = 256 * 1024;

export function greet(joining: Joining): string[] {
  const { state, role, position, now, inProgress } = joining;
  const snapshot = seenConversation(conversationView(state, role), role, joining.userId);
  return [
    welcomeFrame(snapshot, isoOf(now)),
    ...(position ? catchUp(joining, position, snapshot) : []),
    ...(inProgress && isStreaming(state, inProgress) ? [partialFrame(inProgress)] : []),
  ];
}

function catchUp(joining: Joining, position: Position, snapshot: Conversation): string[] {
  const { state, role, userId } = joining;
  const generation = state.identity?.generation ?? "";
  if (position.generation !== generation) return [resetFrame(snapshot, "other_generation")];
  const behind = state.seq - position.seq;
  if (behind < 0) return [resetFrame(snapshot, "ahead_of_head")];
  // An empty page says that nothing was missed.
  if (behind === 0) return [eventsFrame([], generation, state.seq)];
  if (behind > LIMITS.catchUpEvents) return [resetFrame(snapshot, "too_far_behind")];
  const missed = joining.events({ after: position.seq, limit: behind, maxBytes: LIMITS.catchUpBytes });
  const shown = missed.map((encoded) => new Shown(encoded, state));
  if (shown.at(-1)?.seq !== state.seq) return [resetFrame(snapshot, "too_far_behind")];
  return pages(
    shown.map((event) => ({ seq: event.seq, json: event.jsonFor(role, userId) })),
    generation,
  );
}

function pages(events: readonly { seq: number; json: string }[], generation: string): string[] {
  const frames: string[] = [];
  let page: string[] = [];
  let chars = 0;
  for (const [at, { seq, json }] of events.entries()) {
    page.push(json);
    chars += json.length;
    const next = events[at + 1];
    if (next && chars + next.json.length <= FRAME_CHARS) continue;
    frames.push(eventsFrame(page, generation, seq));
    page = [];
    chars = 0;
  }
  return frames;
}

/** A checkpoint may be of an attempt that is over; its text would then come back after the message that replaced it. */
function isStreaming({ active }: State, { messageId, attempt }: InProgress): boolean {
  const step = active?.step;
  return step?.phase === "asking" && step.messageId === messageId && step.attempt === attempt;
}
