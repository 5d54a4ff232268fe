/** What a command is answered, from the state that it led to. A replay gives the same status and body again. */
import type { Command } from "../protocol/commands.ts";
import { runIdOf } from "../protocol/ids.ts";
import type { Event } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import type { CommandAnswer } from "../protocol/rpc.ts";
import type { Role } from "../protocol/roles.ts";
import type { State } from "../run/state.ts";
import { findRun } from "../run/status.ts";
import { conversationView, runView } from "../run/views.ts";

export type Answer = Omit<CommandAnswer, "replayed">;

/** @param events of the command, which led to this state */
export function answerOf(state: State, command: Command, role: Role, events: readonly Event[]): Answer {
  switch (command.type) {
    case "create_conversation":
      return { status: 201, body: conversationView(state, role) };
    case "update_conversation":
    case "put_participant":
    case "take_over":
    case "release_handover":
      return { status: 200, body: conversationView(state, role) };
    case "remove_participant":
      return { status: 204, body: null };
    case "delete_conversation":
      return { status: 202, body: null };
    case "start_run":
    case "retry_run":
      return { status: 202, body: runOf(state, runIdOf(state.identity?.conversationId ?? "", state.runCount)) };
    case "edit_run":
      return { status: 200, body: runOf(state, command.runId) };
    case "drop_run":
    case "resume":
    case "cancel_run":
      return { status: 202, body: runOf(state, command.runId) };
    case "say_as_operator":
      return { status: 201, body: saidIn(events) };
  }
}

function runOf(state: State, runId: string) {
  const run = findRun(state, runId);
  return run && runView(state, run);
}

function saidIn(events: readonly Event[]): Message | null {
  const said = events.findLast((event) => event.type === "message.created");
  return said?.data.message ?? null;
}
