/** What the transcript is folded from; a cold start reads these types only, not the whole log. */
import type { EventType } from "../protocol/events.ts";

export const TRANSCRIPT_EVENTS: readonly EventType[] = [
  "message.created",
  "message.completed",
  "run.queued",
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "step.started",
  "step.finished",
  "tool_call.proposed",
  "tool_call.refused",
  "tool_call.finished",
  "tool_call.became_unknown",
  "tool_call.resolved",
  "confirmation.decided",
  "confirmation.expired",
  "confirmation.requested",
];
