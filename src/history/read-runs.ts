/** Runs and their calls from the history, newest first, in the shapes that the actor gives (`views.ts`). */
import { conversationOf, numberOf, runIdOf } from "../protocol/ids.ts";
import { redactRun } from "../protocol/redaction.ts";
import { may, type Role } from "../protocol/roles.ts";
import type { Run } from "../protocol/run.ts";
import type { Stop } from "../protocol/stops.ts";
import { CALL_COLUMNS, callOf, hasActed, isPending, sideEffectOf } from "./call-row.ts";
import {
  judge,
  pageOf,
  type Known,
  type ListPage,
  type Read,
  type ReadScope,
  type TenantHistory,
} from "./read-outcome.ts";
import { flagIn, jsonIn, jsonOrNull, numberIn, numberOrNull, optional, textIn, textOrNull, type Row } from "./row.ts";
import { isoOf } from "../protocol/time.ts";
import { phaseIn, statusIn, WAITS_COLUMNS, waitsOf } from "./run-waits.ts";
import { prepared, type HistoryDatabase } from "./statement.ts";

export interface RunsQuery {
  readonly limit: number;
  /** Runs with a smaller number; absent: from the newest. */
  readonly before?: number;
}

export interface RunsPage extends ListPage<Run, number> {
  readonly asOfSeq: number;
  readonly generation: string;
}

const READER = `FROM participants p CROSS JOIN conversations c
    ON c.tenant_id = p.tenant_id AND c.conversation_id = p.conversation_id AND c.generation = p.generation`;
const MINE = "p.tenant_id = ?1 AND p.user_id = ?2 AND p.conversation_id = ?3";
const RUNS = `${READER} CROSS JOIN runs r
    ON r.tenant_id = c.tenant_id AND r.conversation_id = c.conversation_id AND r.generation = c.generation`;
const HEAD = `SELECT c.generation, c.seq, p.role ${READER} WHERE ${MINE}`;
const PLACE = `(SELECT count(*) FROM runs q WHERE q.tenant_id = r.tenant_id AND q.conversation_id = r.conversation_id
    AND q.generation = r.generation AND q.queue_key <= r.queue_key)`;
const PAGE = `SELECT r.*, ${WAITS_COLUMNS}, c.agent, ${PLACE} AS position ${RUNS}
  WHERE ${MINE} AND r.run_n < ?4 ORDER BY r.run_n DESC LIMIT ?5`;
const ACTIVE = `SELECT r.run_n, ${WAITS_COLUMNS} ${RUNS} WHERE ${MINE} AND r.run_n = c.active_run_n`;
const CALLS = `SELECT ${CALL_COLUMNS} ${READER} CROSS JOIN tool_calls t
    ON t.tenant_id = c.tenant_id AND t.conversation_id = c.conversation_id AND t.generation = c.generation
  WHERE ${MINE} AND t.run_n < ?4 AND t.run_n >= ?5 AND t.args_digest IS NOT NULL ORDER BY t.run_n, t.call_n`;

export async function readRuns(
  { tenantId, db }: TenantHistory,
  { userId }: ReadScope,
  conversationId: string,
  { limit, before = Number.MAX_SAFE_INTEGER }: RunsQuery,
  known?: Known,
): Promise<Read<RunsPage>> {
  const mine = [tenantId, userId, conversationId];
  const [head, rows, active] = await all(db, [
    [HEAD, ...mine],
    [PAGE, ...mine, before, limit + 1],
    [ACTIVE, ...mine],
  ]);
  const row = head?.[0];
  const stands = row ? { generation: textIn(row, "generation"), seq: numberIn(row, "seq") } : null;
  const kind = judge(stands, known);
  if (!row || !stands || kind !== "found") return { kind: kind === "found" ? "lost" : kind };
  const { data, next } = pageOf(rows ?? [], limit, (last) => numberIn(last, "run_n"));
  const oldest = data.at(-1);
  const [calls] = oldest ? await all(db, [[CALLS, ...mine, before, numberIn(oldest, "run_n")]]) : [];
  const role = textIn(row, "role") as Role;
  const views = data
    .map((run) => runOf(conversationId, run, calls ?? [], active?.[0] ?? null))
    .map((run) => (may(role, "read_details") || run.by.id === userId ? run : redactRun(run)));
  return { kind, value: { data: views, next, asOfSeq: stands.seq, generation: stands.generation } };
}

export async function readRun(
  history: TenantHistory,
  scope: ReadScope,
  runId: string,
  known?: Known,
): Promise<Read<Run>> {
  const read = await readRuns(history, scope, conversationOf(runId), { limit: 1, before: numberOf(runId) + 1 }, known);
  if (read.kind !== "found") return read;
  const run = read.value.data.find(({ id }) => id === runId);
  if (run) return { kind: "found", value: run };
  return { kind: known && known.headSeq > read.value.asOfSeq ? "not_yet" : "never_written" };
}

async function all(
  db: HistoryDatabase,
  statements: readonly (readonly [string, ...(string | number)[]])[],
): Promise<Row[][]> {
  const results = await db.batch(statements.map(([sql, ...params]) => prepared(db, { sql, params })));
  return results.map(({ results: rows }) => rows);
}

function runOf(conversationId: string, row: Row, calls: readonly Row[], active: Row | null): Run {
  const n = numberIn(row, "run_n");
  const retryOf = numberOrNull(row, "retry_of_n");
  const mine = calls.filter((call) => call["run_n"] === n);
  const queued = statusIn(row) === "queued";
  const time = (column: string) => {
    const at = numberOrNull(row, column);
    return at === null ? null : isoOf(at);
  };
  const metadata = jsonIn<Record<string, string>>(row, "metadata_json");
  const activePhase = active && phaseIn(active);
  return {
    id: runIdOf(conversationId, n),
    conversationId,
    agent: textIn(row, "agent"),
    agentDigest: textIn(row, "agent_digest"),
    status: statusIn(row),
    ...optional("phase", phaseIn(row)),
    waitsFor: waitsOf(row),
    needsConfirmation: flagIn(row, "awaiting"),
    ...optional("position", queued ? numberIn(row, "position") : null),
    ...optional(
      "blockedBy",
      queued && active
        ? { runId: runIdOf(conversationId, numberIn(active, "run_n")), ...optional("phase", activePhase) }
        : null,
    ),
    ...optional("cancelRequestedAt", time("cancel_requested_at")),
    ...optional("stop", jsonOrNull<Stop>(row, "stop_json")),
    input: jsonIn<Run["input"]>(row, "input_json"),
    ...optional("metadata", Object.keys(metadata).length > 0 ? metadata : null),
    by: { kind: "user", id: textIn(row, "started_by") },
    createdAt: isoOf(numberIn(row, "created_at")),
    ...optional("startedAt", time("started_at")),
    ...optional("finishedAt", time("finished_at")),
    ...optional("deadlineAt", time("deadline_at")),
    steps: numberIn(row, "steps"),
    usage: usageOf(row),
    pending: mine.filter(isPending).map(callOf),
    sideEffects: mine.filter(hasActed).map(sideEffectOf),
    ...optional("retryOf", retryOf === null ? null : runIdOf(conversationId, retryOf)),
  };
}

function usageOf(row: Row): Run["usage"] {
  const some = (column: string) => numberIn(row, column) || null;
  return {
    inputTokens: numberIn(row, "input_tokens"),
    outputTokens: numberIn(row, "output_tokens"),
    ...optional("cachedInputTokens", some("cached_input_tokens")),
    ...optional("reasoningTokens", some("reasoning_tokens")),
    costMicroUsd: numberOrNull(row, "cost_micro_usd"),
    estimated: flagIn(row, "usage_estimated"),
    model: textOrNull(row, "model"),
  };
}
