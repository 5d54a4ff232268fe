/** Commands about the conversation itself: create, rename, archive, share, erase. */
import { LIMITS } from "../protocol/limits.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { checkPermission, NOT_FOUND } from "./authority.ts";
import { userBy, type Draft } from "./draft.ts";
import { endRun } from "./ending.ts";
import { halt } from "./halting.ts";
import { stopOf } from "../protocol/stops.ts";
import type { Facts } from "./inputs.ts";
import type { Command } from "../protocol/commands.ts";

type Of<T extends Command["type"]> = Extract<Command, { type: T }>;

export function createConversation(
  draft: Draft,
  command: Of<"create_conversation">,
  principal: Principal,
  facts: Facts,
): Rejection | null {
  if (draft.state.identity || !facts.create) return NOT_FOUND;
  const { agent, title, metadata } = command.body;
  draft.emit("conversation.created", userBy(principal), {
    ...facts.create,
    tenantId: principal.tenantId,
    owner: principal.userId,
    agent,
    ...(title === undefined ? {} : { title }),
    metadata: metadata ?? {},
  });
  return null;
}

export function updateConversation(
  draft: Draft,
  command: Of<"update_conversation">,
  principal: Principal,
): Rejection | null {
  const refused = checkPermission(draft.state, principal, "manage");
  if (refused) return refused;
  const { title, archived } = command.body;
  const changes = {
    ...(title === undefined || title === draft.state.title ? {} : { title }),
    ...(archived === undefined || archived === draft.state.archived ? {} : { archived }),
  };
  if (Object.keys(changes).length === 0) return null;
  draft.emit("conversation.updated", userBy(principal), changes);
  return null;
}

export function putParticipant(draft: Draft, command: Of<"put_participant">, principal: Principal): Rejection | null {
  const { state } = draft;
  const refused = checkPermission(state, principal, "manage");
  if (refused) return refused;
  const { userId } = command;
  const { role } = command.body;
  const known = state.participants.find((one) => one.userId === userId);
  if (known?.role === role) return null;
  const lastOwner = known?.role === "owner" && owners(draft) === 1;
  if (lastOwner) return reject("invalid_request", "A conversation keeps at least one owner.");
  if (!known && state.participants.length >= LIMITS.participants) {
    return reject("invalid_request", `A conversation has at most ${LIMITS.participants} participants.`);
  }
  draft.emit(known ? "participant.role_changed" : "participant.added", userBy(principal), { userId, role });
  return null;
}

export function removeParticipant(
  draft: Draft,
  command: Of<"remove_participant">,
  principal: Principal,
): Rejection | null {
  const { state } = draft;
  const refused = checkPermission(state, principal, "manage");
  if (refused) return refused;
  const known = state.participants.find((one) => one.userId === command.userId);
  if (!known) return NOT_FOUND;
  if (known.role === "owner" && owners(draft) === 1) {
    return reject("invalid_request", "A conversation keeps at least one owner.");
  }
  draft.emit("participant.removed", userBy(principal), { userId: command.userId });
  return null;
}

/** Closes the conversation to commands at once; what is in flight settles as after a cancel. */
export function deleteConversation(draft: Draft, principal: Principal): Rejection | null {
  const refused = checkPermission(draft.state, principal, "manage");
  if (refused) return refused;
  const by = userBy(principal);
  draft.emit("conversation.deleted", by, {});
  const detail = "The conversation was erased.";
  for (const run of draft.state.queue) endRun(draft, run, stopOf("conversation_deleted", detail), by);
  // A stop that settles already keeps its reason and its grace.
  if (draft.state.active && !draft.run.halt) halt(draft, draft.run, "conversation_deleted", by, null);
  return null;
}

const owners = (draft: Draft) => draft.state.participants.filter(({ role }) => role === "owner").length;
