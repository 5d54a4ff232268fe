/** One command, from a route to its actor and back: the same for every route that changes something. */
import type { Command, CommandType } from "../protocol/commands.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { checkCommandScope } from "../protocol/scopes.ts";
import type { CommandAnswer } from "../protocol/rpc.ts";
import { callActor } from "./call-actor.ts";
import { ok, type Answered, type EdgeServices } from "./route.ts";

/** Setting a thing to what it is: the second time changes nothing and answers the same. */
const SAME_TWICE: ReadonlySet<CommandType> = new Set([
  "update_conversation",
  "put_participant",
  "edit_run",
  "cancel_run",
]);

export interface CommandCall {
  readonly context: RequestContext;
  readonly conversationId: string;
  readonly command: Command;
  readonly key?: string | undefined;
  readonly location?: (body: NonNullable<CommandAnswer["body"]>) => string;
}

export async function runCommand(edge: EdgeServices, call: CommandCall): Promise<Answered> {
  const { context, conversationId, command, key } = call;
  const refused = checkCommandScope(context, command);
  if (refused) return { ok: false, rejection: refused };
  const answered = await callActor(edge, {
    context,
    conversationId,
    repeatable: key !== undefined || SAME_TWICE.has(command.type),
    ask: (actor) =>
      actor.command(context, { conversationId, command, ...(key === undefined ? {} : { idempotencyKey: key }) }),
  });
  if (!answered.ok) return answered;
  const { status, body, replayed } = answered.value;
  return ok(status, body, {
    ...(replayed ? { "idempotency-replayed": "true" } : {}),
    ...(call.location && body !== null ? { location: call.location(body) } : {}),
  });
}
