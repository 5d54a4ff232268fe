/** The events of a run, as statements. Status follows the edges that the log tells; phase is worked out when read. */
import { defaultTitle } from "../run/evolve.ts";
import type { EventOf, Timing } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import type { RunStatus, Usage } from "../protocol/run.ts";
import { epochOf } from "../protocol/time.ts";
import { indexDefaultTitle } from "./project-search.ts";
import { guarded, GUARD, OF_CONVERSATION, type Statement, type Subject, type Value } from "./statement.ts";

const QUEUE = `INSERT INTO runs (tenant_id, conversation_id, generation, run_n, seq, agent_digest, status, queue_key,
    input_json, metadata_json, started_by, retry_of_n, created_at, cost_micro_usd)
  SELECT ?1, ?2, ?3, ?5, ?4, ?6, 'queued', ?7, ?8, ?9, ?10, ?11, ?12, 0 WHERE ${GUARD} ON CONFLICT DO NOTHING`;
const TITLE = `UPDATE conversations SET title = ?5 WHERE ${OF_CONVERSATION} AND title IS NULL AND ${GUARD}`;
const ACTIVATE = `UPDATE conversations SET active_run_n = ?5 WHERE ${OF_CONVERSATION} AND ${GUARD}`;
const DEACTIVATE = `UPDATE conversations SET active_run_n = NULL
  WHERE ${OF_CONVERSATION} AND active_run_n = ?5 AND ${GUARD}`;

/** Of the run ?5, unless a later event has written it already. */
const update = (set: string) => `UPDATE runs SET ${set}, seq = ?4
  WHERE ${OF_CONVERSATION} AND run_n = ?5 AND seq < ?4 AND ${GUARD}`;
const EDIT = update("input_json = ?6");
const START = update("status = 'running', queue_key = NULL, started_at = ?6, deadline_at = ?7");
const INTERRUPT = update("status = 'interrupted', deadline_at = NULL");
const RESUME = update("status = 'running', deadline_at = ?6");
const CANCEL = update("cancel_requested_at = ?6, awaits_continuation = 0, awaits_budget = 0");
const STEP = update("steps = max(steps, ?6), awaits_budget = 0");
const AWAIT_BUDGET = update("awaits_budget = 1");
const AWAIT_CONTINUATION = update("awaits_continuation = ?6");
const SPEND = update(`input_tokens = input_tokens + ?6, output_tokens = output_tokens + ?7,
  cached_input_tokens = cached_input_tokens + ?8, reasoning_tokens = reasoning_tokens + ?9,
  cost_micro_usd = cost_micro_usd + ?10, usage_estimated = max(usage_estimated, ?11), model = coalesce(?12, model),
  model_ms = model_ms + ?13, first_byte_ms = coalesce(first_byte_ms, ?14), request_bytes = max(request_bytes, ?15)`);
const END = update(`status = ?13, queue_key = NULL, finished_at = ?14, deadline_at = NULL, stop_json = ?15, steps = ?16,
  awaits_continuation = 0, awaits_budget = 0, input_tokens = ?6, output_tokens = ?7, cached_input_tokens = ?8,
  reasoning_tokens = ?9, cost_micro_usd = ?10, usage_estimated = ?11, model = ?12`);

export function queued(subject: Subject, { seq, at, runId = "", data }: EventOf<"run.queued">): Statement[] {
  const { input, principal, agentDigest, metadata, retryOf, position } = data;
  const title = defaultTitle(input.text);
  return [
    guarded(
      subject,
      seq,
      QUEUE,
      numberOf(runId),
      agentDigest,
      // To the head or to the tail, there is nothing in between: so a later head is smaller, a later tail greater.
      position === 1 ? -seq : seq,
      JSON.stringify(input),
      JSON.stringify(metadata),
      principal.userId,
      retryOf === undefined ? null : numberOf(retryOf),
      epochOf(at),
    ),
    ...indexDefaultTitle(subject, seq, title),
    guarded(subject, seq, TITLE, title),
  ];
}

export const edited = (subject: Subject, { seq, runId = "", data }: EventOf<"run.input_edited">): Statement[] => [
  guarded(subject, seq, EDIT, numberOf(runId), JSON.stringify(data.input)),
];

export function started(subject: Subject, { seq, at, runId = "", data }: EventOf<"run.started">): Statement[] {
  return [
    guarded(subject, seq, START, numberOf(runId), epochOf(at), epochOf(data.deadlineAt)),
    guarded(subject, seq, ACTIVATE, numberOf(runId)),
  ];
}

export const interrupted = (subject: Subject, { seq, runId = "" }: EventOf<"run.interrupted">): Statement[] => [
  guarded(subject, seq, INTERRUPT, numberOf(runId)),
];

export function resumed(subject: Subject, { seq, runId = "", data }: EventOf<"run.resumed">): Statement[] {
  const deadlineAt = data.deadlineAt === undefined ? null : epochOf(data.deadlineAt);
  return [guarded(subject, seq, RESUME, numberOf(runId), deadlineAt)];
}

export const cancelRequested = (
  subject: Subject,
  { seq, at, runId = "" }: EventOf<"run.cancel_requested">,
): Statement[] => [guarded(subject, seq, CANCEL, numberOf(runId), epochOf(at))];

export function ended(
  subject: Subject,
  { seq, at, runId = "", data }: EventOf<"run.completed" | "run.failed" | "run.cancelled">,
  status: RunStatus,
): Statement[] {
  const run = numberOf(runId);
  const end = [status, epochOf(at), JSON.stringify(data.stop), data.steps];
  return [guarded(subject, seq, END, run, ...figures(data.usage), ...end), guarded(subject, seq, DEACTIVATE, run)];
}

export const stepStarted = (subject: Subject, { seq, runId = "", data }: EventOf<"step.started">): Statement[] => [
  guarded(subject, seq, STEP, numberOf(runId), data.n),
];

export const spent = (
  subject: Subject,
  { seq, runId = "" }: EventOf<"step.finished" | "step.superseded">,
  usage: Usage,
  timing: Timing = NO_TIME,
): Statement[] => {
  const { ms, firstByteMs, requestBytes } = timing;
  return [guarded(subject, seq, SPEND, numberOf(runId), ...figures(usage), ms, firstByteMs, requestBytes)];
};

const NO_TIME: Timing = { ms: 0, firstByteMs: null, requestBytes: 0 };

export const awaitsBudget = (subject: Subject, { seq, runId = "" }: EventOf<"budget.awaited">): Statement[] => [
  guarded(subject, seq, AWAIT_BUDGET, numberOf(runId)),
];

export const awaitsContinuation = (
  subject: Subject,
  { seq, runId = "" }: EventOf<"limit.tripped" | "limit.continued">,
  awaits: boolean,
): Statement[] => [guarded(subject, seq, AWAIT_CONTINUATION, numberOf(runId), Number(awaits))];

const figures = (usage: Usage): Value[] => [
  usage.inputTokens,
  usage.outputTokens,
  usage.cachedInputTokens ?? 0,
  usage.reasoningTokens ?? 0,
  usage.costMicroUsd,
  Number(usage.estimated),
  usage.model,
];
