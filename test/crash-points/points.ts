/**
 * The instants at which an object can be made to die: where its adapters write, or hand over to somebody else. The
 * service knows nothing of them; they are the seams of what it is given (`platform.ts`).
 */
import { CallStateName } from "../../src/protocol/tool-call.ts";

export const POINTS = [
  // The transaction of a commit: at its first statement, with all of them done, and left.
  "commit.begun",
  "commit.filled",
  "commit.made",
  // Any other transaction: a timer, the alarm's row, a ticket.
  "row.filled",
  "row.made",
  "checkpoint.filled",
  "checkpoint.made",
  "alarm.asked",
  "alarm.set",
  "alarm.fired",
  "alarm.done",
  "claim.asked",
  "claim.answered",
  "release.asked",
  "release.answered",
  "model.sent",
  "model.answered",
  "tool.sent",
  "tool.answered",
  "history.asked",
  "history.landed",
  "history.marked",
  // A frame with an event, a preview, and the answer to a command that came by the socket.
  "event_frame.asked",
  "event_frame.handed_over",
  "preview_frame.handed_over",
  "answer_frame.asked",
  "answer_frame.handed_over",
] as const;
export type Point = (typeof POINTS)[number];

/** Of the call that a story is about; `none` before the model has made it. */
export const STANDINGS = ["none", ...CallStateName.options] as const;
export type Standing = (typeof STANDINGS)[number];

/** `lost`: at once, before the writes of the turn are durable. `kept`: as soon as they are. `evicted`: out of memory. */
export const DEATHS = ["lost", "kept", "evicted"] as const;
export type Death = (typeof DEATHS)[number];

export interface Arm {
  readonly point: Point;
  readonly standing: Standing;
  readonly death: Death;
}
