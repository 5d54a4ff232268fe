/** One command, from a route to its actor and back: the same for every route that changes something. */
import type { Command, CommandType } from "../protocol/commands.ts";
import type { RequestContext } from "../protocol/principal.ts";
import type { Result } from "../protocol/problems.ts";
import { checkCommandScope } from "../protocol/scopes.ts";
import type { CommandAnswer } from "../protocol/rpc.ts";
import { callActor } from "./call-actor.ts";
import { rateHeaders } from "./rate-headers.ts";
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
  const answered = await askCommand(edge, call);
  if (!answered.ok) return answered;
  const { status, body } = answered.value;
  return ok(status, body, commandHeaders(call, answered.value));
}

export function askCommand(edge: EdgeServices, call: CommandCall): Promise<Result<CommandAnswer>> {
  const { context, conversationId, command, key } = call;
  const refused = checkCommandScope(context, command);
  if (refused) return Promise.resolve({ ok: false, rejection: refused });
  return callActor(edge, {
    context,
    conversationId,
    repeatable: key !== undefined || SAME_TWICE.has(command.type),
    ask: (actor) =>
      actor.command(context, { conversationId, command, ...(key === undefined ? {} : { idempotencyKey: key }) }),
  });
}

export function commandHeaders(call: CommandCall, { body, replayed, rate }: CommandAnswer): Record<string, string> {
  return {
    ...(rate ? rateHeaders(rate) : {}),
    ...(replayed ? { "idempotency-replayed": "true" } : {}),
    ...(call.location && body !== null ? { location: call.location(body) } : {}),
  };
}
