/** Starting: a run is registered durably in this commit, and picked up by `advance` in the same one where it may be. */
import type { Command } from "../protocol/commands.ts";
import type { EventData } from "../protocol/events.ts";
import { runIdOf } from "../protocol/ids.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { stopOf } from "../protocol/stops.ts";
import { checkPermission, checkRunControl, checkVisible, NOT_FOUND } from "./authority.ts";
import { userBy, type Draft } from "./draft.ts";
import { endRun } from "./ending.ts";
import { halt } from "./halting.ts";
import type { Facts } from "./inputs.ts";
import { findRun, isUnresolved } from "./status.ts";
import type { RunState, State } from "./state.ts";
import { finished, starterOf } from "./targets.ts";
import { blockedBy } from "./views.ts";

type Of<T extends Command["type"]> = Extract<Command, { type: T }>;
type Queued = EventData<"run.queued">;

export function startRun(draft: Draft, command: Of<"start_run">, principal: Principal, facts: Facts): Rejection | null {
  const { state } = draft;
  const refused = checkPermission(state, principal, "start_runs") ?? checkRoom(state, facts);
  if (refused) return refused;
  const { active } = state;
  const whenBusy = command.body.whenBusy ?? "enqueue";
  if (whenBusy === "reject" && (active ?? state.queue[0])) return busy(state);
  if (whenBusy === "replace" && active) {
    const forbidden = checkRunControl(state, principal, active.principal.userId);
    if (forbidden) return forbidden;
  }
  const { input, metadata } = command.body;
  const position = whenBusy === "replace" ? 1 : state.queue.length + 1;
  queue(draft, principal, facts, {
    input: { text: input.text, ...(input.attachments ? { attachments: input.attachments } : {}) },
    metadata: metadata ?? {},
    position,
    continues: false,
  });
  if (whenBusy === "replace" && active && !active.halt) halt(draft, draft.run, "replaced", userBy(principal), null);
  return null;
}

/** A new run without a message of its own, which goes on from the last committed step. */
export function retryRun(draft: Draft, command: Of<"retry_run">, principal: Principal, facts: Facts): Rejection | null {
  const { state } = draft;
  const starter = starterOf(state, command.runId);
  const refused = checkVisible(state, principal) ?? (starter === null ? NOT_FOUND : null);
  if (refused) return refused;
  const forbidden = checkPermission(state, principal, "start_runs") ?? checkRunControl(state, principal, starter ?? "");
  if (forbidden) return forbidden;
  if (state.active ?? state.queue[0]) return busy(state);
  const { latest } = state;
  if (!latest || latest.id !== command.runId) return reject("run_finished", "Only the latest run can be retried.");
  if (latest.stop?.code === "final_answer") return finished(state, latest);
  if (latest.calls.some(isUnresolved)) {
    return reject("outcome_unknown", "First say what became of the calls whose outcome is unknown.");
  }
  const full = checkRoom(state, facts);
  if (full) return full;
  queue(draft, principal, facts, {
    input: latest.input,
    metadata: latest.metadata,
    position: 1,
    retryOf: latest.id,
    continues: latest.startedAt !== null,
  });
  return null;
}

export function editRun(draft: Draft, command: Of<"edit_run">, principal: Principal): Rejection | null {
  const run = queuedTarget(draft.state, command.runId, principal);
  if ("code" in run) return run;
  const { text, attachments } = command.body.input;
  const input = { text, ...(attachments ? { attachments } : {}) };
  draft.emit("run.input_edited", userBy(principal), { input }, run.id);
  return null;
}

export function dropRun(draft: Draft, command: Of<"drop_run">, principal: Principal): Rejection | null {
  const run = queuedTarget(draft.state, command.runId, principal);
  if ("code" in run) return run;
  const stop = stopOf("cancelled_by_user", "A person dropped the run from the queue.");
  endRun(draft, run, stop, userBy(principal));
  return null;
}

function queuedTarget(state: State, runId: string, principal: Principal): RunState | Rejection {
  const run = findRun(state, runId);
  const starter = starterOf(state, runId);
  const hidden = checkVisible(state, principal) ?? (starter === null ? NOT_FOUND : null);
  if (hidden) return hidden;
  const forbidden = checkRunControl(state, principal, starter ?? "");
  if (forbidden) return forbidden;
  if (!run || run.startedAt !== null || run.stop) return reject("run_started", "The run is not in the queue any more.");
  return run;
}

function checkRoom(state: State, { start }: Facts): Rejection | null {
  if (state.handover.state === "active") return reject("handed_over", "A person answers in this conversation now.");
  if (state.seq >= LIMITS.conversationEvents || start?.full)
    return reject("conversation_full", "Start a new conversation.");
  if (state.queue.length >= LIMITS.queuedRuns) {
    return reject("queue_full", `At most ${LIMITS.queuedRuns} runs wait.`, { retryAfterMs: 5_000 });
  }
  return start?.refused ?? null;
}

function busy(state: State): Rejection {
  const run = state.active ?? state.queue[0];
  const extensions = run ? { blockedBy: blockedBy(state, run) } : {};
  return reject("run_active", "Another run of this conversation is active or queued.", { extensions });
}

function queue(
  draft: Draft,
  principal: Principal,
  facts: Facts,
  run: Pick<Queued, "input" | "metadata" | "position" | "continues" | "retryOf">,
): void {
  const { state } = draft;
  if (!facts.start) throw new Error("start without its facts");
  const { agentDigest, limits, policy } = facts.start;
  draft.emit(
    "run.queued",
    userBy(principal),
    {
      ...run,
      principal,
      agentDigest,
      limits,
      policy,
      ...(state.active ? { blockedBy: blockedBy(state, state.active) } : {}),
    },
    runIdOf(state.identity?.conversationId ?? "", state.runCount + 1),
  );
}
