/** What a command is answered, from the state that it led to. A replay gives the same status and body again. */
import type { Command } from "../protocol/commands.ts";
import { runIdOf } from "../protocol/ids.ts";
import type { Event } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { seenConversation, seenRun } from "../protocol/redaction.ts";
import type { CommandAnswer } from "../protocol/rpc.ts";
import type { Role } from "../protocol/roles.ts";
import type { State } from "../run/state.ts";
import { findRun } from "../run/status.ts";
import { conversationView, runView } from "../run/views.ts";

export type Answer = Omit<CommandAnswer, "replayed">;

/** Who is answered, and so how much of it they see. */
export interface Answered {
  readonly role: Role;
  readonly userId: string;
}

/** @param events of the command, which led to this state */
export function answerOf(state: State, command: Command, to: Answered, events: readonly Event[]): Answer {
  switch (command.type) {
    case "create_conversation":
      return { status: 201, body: conversationOf(state, to) };
    case "update_conversation":
    case "put_participant":
    case "take_over":
    case "release_handover":
      return { status: 200, body: conversationOf(state, to) };
    case "remove_participant":
      return { status: 204, body: null };
    case "delete_conversation":
      return { status: 202, body: null };
    case "start_run":
    case "retry_run":
      return { status: 202, body: runOf(state, runIdOf(state.identity?.conversationId ?? "", state.runCount), to) };
    case "edit_run":
      return { status: 200, body: runOf(state, command.runId, to) };
    case "drop_run":
    case "resume":
    case "cancel_run":
      return { status: 202, body: runOf(state, command.runId, to) };
    case "say_as_operator":
      return { status: 201, body: saidIn(events) };
  }
}

const conversationOf = (state: State, { role, userId }: Answered) =>
  seenConversation(conversationView(state, role), role, userId);

function runOf(state: State, runId: string, { role, userId }: Answered) {
  const run = findRun(state, runId);
  return run && seenRun(runView(state, run), role, userId);
}

function saidIn(events: readonly Event[]): Message | null {
  const said = events.findLast((event) => event.type === "message.created");
  return said?.data.message ?? null;
}
