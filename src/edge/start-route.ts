/**
 * Starting a run. One click, one key, one run: the same request again is answered as the first was, and as a stream it
 * attaches to the run that there is. It must never start a second one.
 */
import { StartRun } from "../protocol/commands.ts";
import { cursorOf as eventCursor } from "../protocol/cursor.ts";
import type { Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { Run } from "../protocol/run.ts";
import { checkScope } from "../protocol/scopes.ts";
import { readEvents } from "./event-routes.ts";
import { ConversationPath, hidden, keyed, runPath } from "./paths.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NONE, userRoute, type Answered, type EdgeServices, type Route, type UserInput } from "./route.ts";
import { askCommand, commandHeaders, runCommand, type CommandCall } from "./run-command.ts";
import { answerStream, cursorOf } from "./sse.ts";

export const START_ROUTE: Route = userRoute({
  method: "POST",
  path: "/v1/conversations/:id/runs",
  summary: "Start a run. One click, one key, one run.",
  command: "start_run",
  scope: SCOPES.conversationsWrite,
  params: ConversationPath,
  query: NONE,
  body: StartRun,
  bodyUse: "required",
  bodyExample: EXAMPLES.startRun,
  key: "required",
  types: ["application/json", "text/event-stream"],
  answers: {
    200: {
      description: "The run's stream, until it waits for somebody or has ended; Location names the run.",
      schema: null,
      types: ["text/event-stream"],
      location: true,
    },
    202: {
      description: "The run, registered; Location names it.",
      schema: Run,
      example: EXAMPLES.startedRun,
      location: true,
    },
  },
  problems: [
    ...keyed,
    ...hidden,
    "run_active",
    "queue_full",
    "handed_over",
    "conversation_full",
    "tenant_concurrency",
    "budget_exhausted",
    "cursor_invalid",
    "too_many_sockets",
  ],
  handle: (input, edge) => {
    const { context, params, body, key, type } = input;
    const command = { type: "start_run", body } as const;
    const call = { context, conversationId: params.id, command, key, location: runPath };
    return type === "text/event-stream" ? startStream(edge, input, call) : runCommand(edge, call);
  },
});

async function startStream(
  edge: EdgeServices,
  { request, context }: UserInput<unknown, unknown, unknown>,
  call: CommandCall,
): Promise<Answered> {
  // What would keep it from being watched is said before there is anything to watch.
  const given = cursorOf(request);
  if (!given.ok) return given;
  const unread = checkScope(context, SCOPES.conversationsRead);
  if (unread) return { ok: false, rejection: unread };
  const answered = await askCommand(edge, call);
  if (!answered.ok) return answered;
  const { body: run, since } = answered.value;
  if (run === null) throw new TypeError("a start is answered with its run");
  const { conversationId } = call;
  const after = given.value ?? since;
  const from: Result<string | undefined> =
    after === undefined ? await beginningOf(edge, call, run.id) : { ok: true, value: after };
  if (!from.ok) return from;
  return answerStream(edge, {
    request,
    context,
    conversationId,
    after: from.value,
    filter: { runId: run.id, untilInterrupted: true },
    headers: commandHeaders(call, answered.value),
  });
}

/** The cursor before the run's first event, of a run that an earlier request started. */
async function beginningOf(
  edge: EdgeServices,
  { context, conversationId }: CommandCall,
  runId: string,
): Promise<Result<string | undefined>> {
  const page = await readEvents(edge, context, conversationId, { runId, limit: 1 });
  if (!page.ok) return page;
  const [first] = page.value.data;
  if (first === undefined) throw new TypeError("a run that was started has events");
  const generation = page.value.nextCursor?.split(".", 1)[0];
  if (generation === undefined) throw new TypeError("a page that is full says where it ends");
  return { ok: true, value: eventCursor(generation, first.seq - 1) };
}
