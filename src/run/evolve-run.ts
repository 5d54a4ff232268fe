/** The fold of one run. */
import type { Event, EventOf } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import type { RunLimits, Usage } from "../protocol/run.ts";
import type { StopCode } from "../protocol/stops.ts";
import { epochOf } from "../protocol/time.ts";
import { evolveCall, proposedCall } from "./evolve-call.ts";
import { failed, worked } from "./failing.ts";
import { NO_USAGE, type CallState, type RunState, type StepState } from "./state.ts";

export function queuedRun(event: EventOf<"run.queued">, at: number): RunState {
  const { input, principal, agentDigest, limits, policy, metadata, retryOf, continues } = event.data;
  const id = event.runId ?? "";
  return {
    n: numberOf(id),
    id,
    principal,
    input: { text: input.text, ...(input.attachments ? { attachments: input.attachments } : {}) },
    limits: limits as RunLimits,
    granted: limits as RunLimits,
    policy,
    agentDigest,
    metadata,
    retryOf: retryOf ?? null,
    continues,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    stop: null,
    deadlineAt: null,
    runningMs: 0,
    runningSince: null,
    interrupted: false,
    steps: 0,
    step: null,
    calls: [],
    callCount: 0,
    usage: NO_USAGE,
    toolErrors: 0,
    failures: [],
    streaks: [],
    worked: [],
    truncations: 0,
    halt: null,
    continuation: null,
    budget: null,
  };
}

export function evolveRun(run: RunState, event: Event, at: number): RunState {
  switch (event.type) {
    case "run.input_edited": {
      const { text, attachments } = event.data.input;
      return { ...run, input: { text, ...(attachments ? { attachments } : {}) } };
    }
    case "run.started":
      return { ...run, startedAt: at, runningSince: at, deadlineAt: epochOf(event.data.deadlineAt) };
    case "run.interrupted":
      return {
        ...run,
        interrupted: true,
        deadlineAt: null,
        runningMs: run.runningMs + (run.runningSince === null ? 0 : at - run.runningSince),
        runningSince: null,
      };
    case "run.resumed": {
      const { deadlineAt } = event.data;
      return {
        ...run,
        interrupted: false,
        runningSince: at,
        deadlineAt: deadlineAt === undefined ? null : epochOf(deadlineAt),
      };
    }
    case "run.cancel_requested": {
      const { code, reason, graceUntil } = event.data;
      return {
        ...run,
        halt: {
          code: code as StopCode,
          by: event.by,
          reason: reason ?? null,
          requestedAt: at,
          graceUntil: epochOf(graceUntil),
        },
        continuation: null,
        budget: null,
      };
    }
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return {
        ...run,
        finishedAt: at,
        stop: event.data.stop,
        step: null,
        deadlineAt: null,
        runningSince: null,
        continuation: null,
        budget: null,
      };
    case "step.started":
      return {
        ...run,
        steps: Math.max(run.steps, event.data.n),
        step: startedStep(run, event),
        calls: run.step?.n === event.data.n ? run.calls : run.calls.map(slim),
        budget: run.budget && { ...run.budget, waiting: false },
      };
    case "step.superseded":
      return {
        ...run,
        usage: event.data.usage ? addUsage(run.usage, event.data.usage) : run.usage,
        step: run.step && supersededStep(run.step, event.data.reason),
      };
    case "step.finished":
      return {
        ...run,
        usage: addUsage(run.usage, event.data.usage),
        truncations: run.truncations + (event.data.finishReason === "length" ? 1 : 0),
        step: run.step && { ...run.step, phase: "planned" },
        budget: null,
      };
    case "tool_call.proposed":
      return withCall(run, proposedCall(event));
    case "tool_call.refused": {
      const code = event.data.payload.error?.code ?? "";
      const named = { ...run, callCount: Math.max(run.callCount, numberOf(event.data.toolCallId)) };
      // The model's failure, not the tools': it is counted as a truncation, whatever the number of calls it cut.
      return code === "output_truncated" ? named : failed(named, event.data, code);
    }
    case "confirmation.requested":
    case "confirmation.decided":
    case "confirmation.expired":
    case "tool_call.started":
    case "tool_call.became_unknown":
    case "tool_call.resolved":
    case "tool_call.late_result":
      return onCall(run, event, at);
    case "tool_call.finished": {
      const call = run.calls.find(({ id }) => id === event.data.toolCallId);
      const after = onCall(run, event, at);
      if (!call || event.data.state === "cancelled") return after;
      return event.data.state === "failed"
        ? failed(after, call, event.data.payload.error?.code ?? "")
        : worked(after, call);
    }
    case "limit.tripped": {
      const { ask, expiresAt, limit, figure, bound, code } = event.data;
      if (!ask || expiresAt === undefined) return run;
      return {
        ...run,
        continuation: {
          limit: limit as keyof RunLimits,
          figure,
          bound,
          code: code as StopCode,
          expiresAt: epochOf(expiresAt),
        },
      };
    }
    case "limit.continued": {
      const limit = event.data.limit as keyof RunLimits;
      const limits = event.data.decision === "continue" ? { ...run.limits, [limit]: event.data.bound } : run.limits;
      return { ...run, limits, continuation: null };
    }
    case "budget.awaited": {
      const { expiresAt, retryAt } = event.data;
      const retry = retryAt === undefined ? null : epochOf(retryAt);
      return { ...run, budget: { expiresAt: epochOf(expiresAt), retryAt: retry, waiting: true } };
    }
    default:
      return run;
  }
}

function onCall(run: RunState, event: Extract<Event, { data: { toolCallId: string } }>, at: number): RunState {
  return {
    ...run,
    calls: run.calls.map((call) => (call.id === event.data.toolCallId ? evolveCall(call, event, at) : call)),
  };
}

/** Of an earlier step's call the arguments are not needed again, unless somebody may still resolve it. */
const slim = (call: CallState): CallState =>
  call.state === "unknown" ? call : { ...call, args: null, expect: undefined, preview: null };

const withCall = (run: RunState, call: CallState): RunState => ({
  ...run,
  calls: [...run.calls, call],
  callCount: Math.max(run.callCount, call.n),
});

function startedStep(run: RunState, event: EventOf<"step.started">): StepState {
  const { n, attempt, messageId, deadlineAt } = event.data;
  const same = run.step?.n === n ? run.step : null;
  return {
    n,
    attempt,
    messageId,
    phase: "asking",
    deadlineAt: epochOf(deadlineAt),
    supersessions: same?.supersessions ?? 0,
    emptyAnswers: same?.emptyAnswers ?? 0,
    retries: same?.retries ?? 0,
  };
}

/** What hand-over or a missing budget took back counts as no attempt. */
function supersededStep(step: StepState, reason: EventOf<"step.superseded">["data"]["reason"]): StepState {
  const phase = "paused" as const;
  switch (reason) {
    case "interrupted":
      return { ...step, phase, supersessions: step.supersessions + 1 };
    case "empty_answer":
      return { ...step, phase, emptyAnswers: step.emptyAnswers + 1 };
    case "retry":
      return { ...step, phase, retries: step.retries + 1 };
    case "handover":
    case "budget":
      return { ...step, phase };
  }
}

export function addUsage(sum: Usage, more: Usage): Usage {
  const cached = (sum.cachedInputTokens ?? 0) + (more.cachedInputTokens ?? 0);
  const reasoning = (sum.reasoningTokens ?? 0) + (more.reasoningTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
    costMicroUsd: sum.costMicroUsd === null || more.costMicroUsd === null ? null : sum.costMicroUsd + more.costMicroUsd,
    estimated: sum.estimated || more.estimated,
    model: more.model ?? sum.model,
  };
}
