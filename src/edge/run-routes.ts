/** Runs: start, look, edit or drop while queued, answer, stop, try again. */
import { CancelRun, EditRun, ResumeRun, RetryRun, type Command } from "../protocol/commands.ts";
import { conversationOf } from "../protocol/ids.ts";
import type { RequestContext } from "../protocol/principal.ts";
import { SCOPES } from "../protocol/roles.ts";
import { Run } from "../protocol/run.ts";
import { callActor } from "./call-actor.ts";
import { hidden, keyed, RunPath, runPath } from "./paths.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, userRoute, type EdgeServices, type Route } from "./route.ts";
import { runCommand } from "./run-command.ts";
import { START_ROUTE } from "./start-route.ts";

const write = SCOPES.conversationsWrite;

const THE_RUN = { description: "The run.", schema: Run, example: EXAMPLES.run } as const;

export const RUN_ROUTES: readonly Route[] = [
  START_ROUTE,
  userRoute({
    method: "GET",
    path: "/v1/runs/:id",
    summary: "A run's state.",
    scope: SCOPES.conversationsRead,
    params: RunPath,
    query: NONE,
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: { 200: THE_RUN },
    problems: ["not_found", "gone"],
    handle: async ({ context, params: { id } }, edge) => {
      const asked = { context, conversationId: conversationOf(id), repeatable: true };
      const run = await callActor(edge, { ...asked, ask: (actor) => actor.run(context, id) });
      return run.ok ? ok(200, run.value) : run;
    },
  }),
  userRoute({
    method: "PATCH",
    path: "/v1/runs/:id",
    summary: "Change the input of a run that is still queued.",
    command: "edit_run",
    scope: write,
    params: RunPath,
    query: NONE,
    body: EditRun,
    bodyUse: "required",
    bodyExample: EXAMPLES.editRun,
    key: "none",
    answers: { 200: THE_RUN },
    problems: [...hidden, "run_started"],
    handle: ({ context, params: { id }, body }, edge) =>
      command(edge, context, id, { type: "edit_run", runId: id, body }),
  }),
  userRoute({
    method: "DELETE",
    path: "/v1/runs/:id",
    summary: "Drop a run that is still queued.",
    command: "drop_run",
    scope: write,
    params: RunPath,
    query: NONE,
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: { 202: { ...THE_RUN, description: "The run, cancelled.", example: EXAMPLES.endedRun } },
    problems: [...hidden, "run_started"],
    handle: ({ context, params: { id } }, edge) =>
      command(edge, context, id, { type: "drop_run", runId: id, body: {} }),
  }),
  userRoute({
    method: "POST",
    path: "/v1/runs/:id/resume",
    summary: "Answer what the run waits for: all of the request, or nothing of it.",
    command: "resume",
    // Each call asks for its own scopes, in the actor.
    scope: null,
    params: RunPath,
    query: NONE,
    body: ResumeRun,
    bodyUse: "required",
    bodyExample: EXAMPLES.resume,
    key: "accepted",
    answers: { 202: THE_RUN },
    problems: [
      ...keyed,
      ...hidden,
      "scope_missing",
      "approval_not_allowed",
      "self_approval_forbidden",
      "already_decided",
      "confirmation_expired",
      "confirmation_stale",
      "digest_mismatch",
      "not_interrupted",
      "run_finished",
    ],
    handle: ({ context, params: { id }, body, key }, edge) =>
      command(edge, context, id, { type: "resume", runId: id, body }, key),
  }),
  userRoute({
    method: "POST",
    path: "/v1/runs/:id/cancel",
    summary: "Stop the run. Accepted at once; done when the run says cancelled.",
    command: "cancel_run",
    scope: write,
    params: RunPath,
    query: NONE,
    body: CancelRun,
    bodyUse: "optional",
    bodyExample: EXAMPLES.cancelRun,
    key: "accepted",
    answers: { 202: THE_RUN },
    problems: [...keyed, ...hidden, "run_finished"],
    handle: ({ context, params: { id }, body, key }, edge) =>
      command(edge, context, id, { type: "cancel_run", runId: id, body }, key),
  }),
  userRoute({
    method: "POST",
    path: "/v1/runs/:id/retry",
    summary: "A new run that goes on where the latest one failed or was cancelled.",
    command: "retry_run",
    scope: write,
    params: RunPath,
    query: NONE,
    body: RetryRun,
    bodyUse: "optional",
    bodyExample: EXAMPLES.nothing,
    key: "accepted",
    answers: { 202: { ...THE_RUN, description: "The new run; Location names it.", location: true } },
    problems: [
      ...keyed,
      ...hidden,
      "outcome_unknown",
      "run_active",
      "run_finished",
      "handed_over",
      "queue_full",
      "conversation_full",
      "tenant_concurrency",
      "budget_exhausted",
    ],
    handle: ({ context, params: { id }, key }, edge) =>
      runCommand(edge, {
        context,
        conversationId: conversationOf(id),
        command: { type: "retry_run", runId: id, body: {} },
        key,
        location: runPath,
      }),
  }),
];

const command = (edge: EdgeServices, context: RequestContext, runId: string, command: Command, key?: string) =>
  runCommand(edge, { context, conversationId: conversationOf(runId), command, key });
