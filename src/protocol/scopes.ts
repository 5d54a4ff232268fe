/**
 * What each command needs: the scope, whichever way it comes (the edge asks for REST, the object for its sockets), and
 * the place in the conversation, which the core asks for.
 */
import type { Command, CommandType } from "./commands.ts";
import type { Principal } from "./principal.ts";
import { reject, type Rejection } from "./problems.ts";
import { SCOPES, type Permission } from "./roles.ts";

const { conversationsWrite, handoverOperate } = SCOPES;

/**
 * null: the decision itself asks: call by call (`confirmations:decide` and the tool's own scope), or by place (a
 * participant asks for a person, an operator accepts, an owner takes back).
 */
export const COMMAND_SCOPE: Readonly<Record<CommandType, string | null>> = {
  create_conversation: conversationsWrite,
  update_conversation: conversationsWrite,
  delete_conversation: conversationsWrite,
  put_participant: conversationsWrite,
  remove_participant: conversationsWrite,
  start_run: conversationsWrite,
  edit_run: conversationsWrite,
  drop_run: conversationsWrite,
  resume: null,
  cancel_run: conversationsWrite,
  retry_run: conversationsWrite,
  take_over: null,
  say_as_operator: handoverOperate,
  release_handover: null,
};

/**
 * What a command needs of its sender's place. null: a place is not what counts (to create, there is none yet; to
 * operate a hand-over takes a scope). Retrying needs `start_runs` besides: it is a new run.
 */
export const COMMAND_PERMISSION: Readonly<Record<CommandType, Permission | null>> = {
  create_conversation: null,
  update_conversation: "manage",
  delete_conversation: "manage",
  put_participant: "manage",
  remove_participant: "manage",
  start_run: "start_runs",
  edit_run: "control_any_run",
  drop_run: "control_any_run",
  resume: "decide",
  cancel_run: "control_any_run",
  retry_run: "control_any_run",
  take_over: null,
  say_as_operator: null,
  release_handover: null,
};

export function checkCommandScope(principal: Pick<Principal, "scopes">, command: Command): Rejection | null {
  // Going on beyond a limit costs what a new run costs, so it needs what a new run needs.
  const continues = command.type === "resume" && command.body.continuations !== undefined;
  return checkScope(principal, continues ? conversationsWrite : COMMAND_SCOPE[command.type]);
}

export function checkScope({ scopes }: Pick<Principal, "scopes">, scope: string | null): Rejection | null {
  if (scope === null || scopes.includes(scope)) return null;
  return reject("scope_missing", `The sign-in lacks the scope ${scope}.`);
}
