/**
 * What those see who may read a conversation but not its details (*Who may*: viewers). They get the same events, in the
 * same order, with less `data`: arguments, results, previews, policies and scopes stay away. An allow-list per type: a
 * member that a later release adds is hidden until somebody lists it here.
 *
 * Approvers and editors get everything but keys and another's scopes; the owner and the run's starter get the stored
 * event unchanged. Each of the three is the same on every hop.
 */
import type { Conversation } from "./conversation.ts";
import type { Event, EventData, EventType } from "./events.ts";
import { may, type Role } from "./roles.ts";
import type { Run } from "./run.ts";
import type { ToolCall } from "./tool-call.ts";

/** Members that stay. A list under a member reduces the objects (or the list of objects) that it holds. */
type Kept<T> = { readonly [K in keyof T]?: true | readonly string[] };
type Members = { readonly [member: string]: true | readonly string[] | undefined };
type Keep<T extends EventType> = "whole" | Kept<EventData<T>>;

const CALL = { toolCallId: true, tool: true } as const;
const PENDING = ["id", "runId", "tool", "title", "effect", "state", "attempt", "expiresAt"] as const;

/** What the model's provider said is for those who operate the conversation. */
const STOP = ["code", "detail", "retryable", "retryAfterMs"] as const;
const TERMINAL = { stop: STOP, usage: true, sideEffects: true, needsConfirmation: true, steps: true } as const;

export const VIEWER_KEEPS: { readonly [T in EventType]: Keep<T> } = {
  "conversation.created": "whole",
  "conversation.updated": "whole",
  "conversation.deleted": "whole",
  "participant.added": "whole",
  "participant.role_changed": "whole",
  "participant.removed": "whole",
  "message.created": "whole",
  "message.completed": "whole",
  "run.queued": {
    input: true,
    principal: ["userId"],
    position: true,
    blockedBy: true,
    retryOf: true,
    continues: true,
    metadata: true,
  },
  "run.input_edited": "whole",
  "run.started": "whole",
  "run.interrupted": { waitsFor: true, needsConfirmation: true, pending: PENDING },
  "run.resumed": "whole",
  "run.cancel_requested": "whole",
  "run.completed": TERMINAL,
  "run.failed": TERMINAL,
  "run.cancelled": TERMINAL,
  "step.started": { n: true, attempt: true, messageId: true },
  "step.superseded": { n: true, attempt: true, reason: true },
  "step.finished": { n: true, attempt: true },
  "tool_call.proposed": { ...CALL, step: true, title: true, effect: true },
  "tool_call.refused": { ...CALL, step: true },
  "confirmation.requested": { ...CALL, title: true, effect: true, expiresAt: true },
  "confirmation.decided": { toolCallId: true, by: true, decision: true, remaining: true, closed: true, voided: true },
  "confirmation.expired": { toolCallId: true, reason: true },
  "tool_call.started": { ...CALL, mode: true, attempt: true },
  "tool_call.finished": { toolCallId: true, state: true, attempt: true },
  "tool_call.became_unknown": { toolCallId: true, attempt: true, reason: true },
  "tool_call.resolved": { toolCallId: true, outcome: true, by: true, state: true },
  "tool_call.late_result": { toolCallId: true, attempt: true },
  "limit.tripped": "whole",
  "limit.continued": "whole",
  "budget.awaited": "whole",
  "tenant.paused": "whole",
  "tenant.resumed": "whole",
  "budget.warned": {},
  "context.trimmed": {},
  "handover.requested": "whole",
  "handover.accepted": "whole",
  "handover.released": "whole",
};

export function redactEvent(event: Event): Event {
  const keeps: "whole" | Members = VIEWER_KEEPS[event.type];
  if (keeps === "whole") return event;
  return { ...event, data: reduced(event.data, keeps) } as Event;
}

function reduced(data: object, keeps: Members): object {
  const members = Object.entries(data).flatMap(([name, value]): [string, unknown][] => {
    const kept = Object.hasOwn(keeps, name) ? keeps[name] : undefined;
    if (kept === undefined) return [];
    return [[name, kept === true ? value : picked(value, kept)]];
  });
  return Object.fromEntries(members);
}

function picked(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => picked(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

/** The shape stays that of a call, so that one screen shows both. `argsDigest` is empty: a viewer decides nothing. */
function redactCall({ id, runId, tool, title, effect, state, attempt, expiresAt }: ToolCall): ToolCall {
  return {
    id,
    runId,
    tool,
    title,
    args: null,
    argsDigest: "",
    effect,
    state,
    attempt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    decisions: [],
    allowed: [],
  };
}

export function redactRun(run: Run): Run {
  const shown = { ...run, pending: run.pending.map(redactCall) };
  if (run.stop?.provider === undefined) return shown;
  const { provider: _, ...stop } = run.stop;
  return { ...shown, stop };
}

/** @param userId the viewer: of one's own run one sees everything */
export function redactConversation(view: Conversation, userId: string): Conversation {
  const shown = (run: Run): Run => (run.by.id === userId ? run : redactRun(run));
  const own = view.activeRun?.by.id === userId;
  return {
    ...view,
    activeRun: view.activeRun && shown(view.activeRun),
    queued: view.queued.map(shown),
    pending: own ? view.pending : view.pending.map(redactCall),
  };
}

/** Details are for approvers and above, and for the person who started the run. */
export const seesDetails = (role: Role, userId: string, starter: string | null): boolean =>
  may(role, "read_details") || starter === userId;

/** How much of an event somebody sees. */
export type Sight = "whole" | "details" | "plain";

/** @param starter of the event's run; null: it is of no run */
export function sightOf(role: Role, userId: string, starter: string | null): Sight {
  if (!seesDetails(role, userId, starter)) return "plain";
  return may(role, "replay") || starter === userId ? "whole" : "details";
}

export function seenEvent(event: Event, sight: Sight): Event {
  switch (sight) {
    case "whole":
      return event;
    case "details":
      return withoutKeys(event);
    case "plain":
      return redactEvent(event);
  }
}

/**
 * Who decides sees what is decided, and not what would let them act in another's name: the key under which the outside
 * knows a call, and what else the starter may do. The same object where there is nothing of that.
 */
function withoutKeys(event: Event): Event {
  switch (event.type) {
    case "tool_call.proposed":
    case "tool_call.started": {
      const { idempotencyKey: _, ...data } = event.data;
      return { ...event, data } as Event;
    }
    case "run.queued":
      return { ...event, data: { ...event.data, principal: picked(event.data.principal, ["userId"]) } } as Event;
    default:
      return event;
  }
}

export const seenRun = (run: Run, role: Role, userId: string): Run =>
  seesDetails(role, userId, run.by.id ?? null) ? run : redactRun(run);

export const seenConversation = (view: Conversation, role: Role, userId: string): Conversation =>
  may(role, "read_details") ? view : redactConversation(view, userId);
