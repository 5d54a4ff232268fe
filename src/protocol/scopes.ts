/** The scope that each command needs, whichever way it comes: the edge asks for REST, the object for its sockets. */
import type { Command, CommandType } from "./commands.ts";
import type { Principal } from "./principal.ts";
import { reject, type Rejection } from "./problems.ts";
import { SCOPES } from "./roles.ts";

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

export function checkCommandScope(principal: Pick<Principal, "scopes">, command: Command): Rejection | null {
  // Going on beyond a limit costs what a new run costs, so it needs what a new run needs.
  const continues = command.type === "resume" && command.body.continuations !== undefined;
  return checkScope(principal, continues ? conversationsWrite : COMMAND_SCOPE[command.type]);
}

export function checkScope({ scopes }: Pick<Principal, "scopes">, scope: string | null): Rejection | null {
  if (scope === null || scopes.includes(scope)) return null;
  return reject("scope_missing", `The sign-in lacks the scope ${scope}.`);
}
