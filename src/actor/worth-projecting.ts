/**
 * Which events the history should soon know. The rest goes along with the end of its run, which is never far away.
 * Left out here and with no end near, a change would be missing from lists and the inbox for as long as a person thinks.
 */
import type { Event } from "../protocol/events.ts";
import { isTerminal } from "../protocol/events.ts";

const ALWAYS = new Set<Event["type"]>([
  "conversation.created",
  "conversation.updated",
  "conversation.deleted",
  "participant.added",
  "participant.role_changed",
  "participant.removed",
  "run.interrupted",
  "run.input_edited",
  "confirmation.requested",
  "tool_call.became_unknown",
  "tool_call.resolved",
  "confirmation.decided",
  "handover.requested",
  "handover.accepted",
  "handover.released",
]);

export function isWorthProjecting(event: Event): boolean {
  // A run that waits may wait for a person's decision on the one before it.
  if (event.type === "run.queued") return event.data.blockedBy !== undefined;
  // What an operator says belongs to no run that would end soon.
  if (event.type === "message.created") return event.by.kind === "operator";
  return isTerminal(event.type) || ALWAYS.has(event.type);
}
