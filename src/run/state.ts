/**
 * What the fold of the log remembers. Plain data, read-only, serialisable as it is (the fold's snapshot row).
 * Times are epoch milliseconds here; events carry them as ISO text.
 *
 * Status is not in here: it is derived (`status.ts`), so it cannot disagree with what is really outstanding.
 */
import type { HandoverState } from "../protocol/conversation.ts";
import type { Gate, RunPolicy } from "../protocol/events.ts";
import type { By, Principal } from "../protocol/principal.ts";
import type { Role } from "../protocol/roles.ts";
import type { Metadata, RunInput, RunLimits, Usage } from "../protocol/run.ts";
import type { Stop, StopCode } from "../protocol/stops.ts";
import type { CallStateName, DecisionRecord, EffectClass, Preview, Resolution } from "../protocol/tool-call.ts";

/** Raised when the meaning of the fold changes: older snapshots are then thrown away and folded anew. */
export const FOLD_VERSION = 3;

export interface State {
  readonly foldVersion: typeof FOLD_VERSION;
  readonly seq: number;
  readonly identity: Identity | null;
  readonly title: string | null;
  readonly archived: boolean;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly participants: readonly Participant[];
  readonly incarnation: number;
  readonly runCount: number;
  readonly messageCount: number;
  readonly tokens: number;
  /** The tenant is paused: nothing of this conversation starts. */
  readonly paused: boolean;
  readonly handover: { readonly state: HandoverState; readonly operator: string | null };
  /** Head first. */
  readonly queue: readonly RunState[];
  readonly active: RunState | null;
  /** The run that ended last stays whole: retry, late results and resolutions may still name it. */
  readonly latest: RunState | null;
  readonly ended: readonly EndedRun[];
}

export interface Identity {
  readonly conversationId: string;
  readonly tenantId: string;
  readonly generation: string;
  readonly owner: string;
  readonly agent: string;
  readonly metadata: Metadata;
}

export interface Participant {
  readonly userId: string;
  readonly role: Role;
}

/** An ended run, reduced: enough to refuse what comes too late, and to resolve what is still unknown. */
export interface EndedRun {
  readonly n: number;
  readonly by: string;
  readonly stop: StopCode;
  readonly calls: number;
  readonly unknown: readonly CallState[];
}

export interface RunState {
  readonly n: number;
  readonly id: string;
  readonly principal: Principal;
  readonly input: RunInput;
  readonly limits: RunLimits;
  /** As granted at the start: what `continue` adds again. */
  readonly granted: RunLimits;
  readonly policy: RunPolicy;
  readonly agentDigest: string;
  readonly metadata: Metadata;
  readonly retryOf: string | null;
  readonly continues: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly stop: Stop | null;
  /** Exists while running only: the limit counts running time, not the hours that a person takes. */
  readonly deadlineAt: number | null;
  readonly runningMs: number;
  readonly runningSince: number | null;
  /** The last edge that the log tells: true after `run.interrupted`, false after `run.started` and `run.resumed`. */
  readonly interrupted: boolean;
  readonly steps: number;
  readonly step: StepState | null;
  readonly calls: readonly CallState[];
  readonly callCount: number;
  readonly usage: Usage;
  readonly toolErrors: number;
  /** By fingerprint and code. */
  readonly failures: readonly { readonly fingerprint: string; readonly count: number }[];
  readonly streaks: readonly Streak[];
  /** Fingerprints of calls that have succeeded. */
  readonly worked: readonly string[];
  readonly truncations: number;
  readonly halt: Halt | null;
  readonly continuation: TrippedLimit | null;
  readonly budget: BudgetWait | null;
}

/** `asking`: a model request is to be in flight. `planned`: answered. `paused`: to be asked anew when that is allowed. */
export interface StepState {
  readonly n: number;
  readonly attempt: number;
  readonly messageId: string;
  readonly phase: "asking" | "planned" | "paused";
  readonly deadlineAt: number;
  readonly supersessions: number;
  readonly emptyAnswers: number;
  readonly retries: number;
}

/** A stop that settles: wanted, not yet reached. */
export interface Halt {
  readonly code: StopCode;
  readonly by: By;
  readonly reason: string | null;
  readonly requestedAt: number;
  readonly graceUntil: number;
}

/** `waiting` false: asking again right now; the end of the wait stays where the first refusal put it. */
export interface BudgetWait {
  readonly expiresAt: number;
  readonly retryAt: number | null;
  readonly waiting: boolean;
}

export interface TrippedLimit {
  readonly limit: keyof RunLimits;
  readonly figure: number;
  readonly bound: number;
  readonly code: StopCode;
  readonly expiresAt: number;
}

/** A tool that fails with the same code, without progress since. */
export interface Streak {
  readonly tool: string;
  readonly code: string;
  /** The step that counted last: calls side by side are one attempt, however many they are. */
  readonly step: number;
  readonly steps: number;
  /** How often it failed again after another tool had been tried in between. */
  readonly returns: number;
  /** Another tool has been called since it counted last. */
  readonly between: boolean;
}

export interface CallState {
  readonly n: number;
  readonly id: string;
  readonly step: number;
  readonly tool: string;
  readonly title: string;
  readonly effect: EffectClass;
  readonly args: unknown;
  readonly argsDigest: string;
  readonly toolDigest: string;
  readonly expect: unknown;
  readonly gate: Gate | null;
  readonly preview: Preview | null;
  readonly idempotencyKey: string;
  readonly scope: string | null;
  readonly fingerprint: string;
  readonly timeoutMs: number;
  readonly dedupeWindowMs: number;
  readonly answersForKey: boolean;
  readonly reversible: boolean;
  readonly undo: string | null;
  readonly state: CallStateName;
  readonly attempt: number;
  readonly mode: "execute" | "probe" | null;
  readonly firstStartedAt: number | null;
  readonly deadlineAt: number | null;
  /** A repeat that waits out its back-off: nothing is in flight before this time. */
  readonly notBefore: number | null;
  /** An earlier attempt may have acted: from then on a refusal proves nothing about the call. */
  readonly ambiguous: boolean;
  readonly repeats: number;
  readonly expiresAt: number | null;
  readonly decisions: readonly DecisionRecord[];
  /** True when the confirmation takes no further decision. */
  readonly closed: boolean;
  readonly expiredUndecided: boolean;
  readonly resolution: Resolution | null;
  /** The last attempt of which a person said that it did not happen; 0: none. */
  readonly deniedAttempt: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, costMicroUsd: 0, estimated: false, model: null };

export const EMPTY: State = {
  foldVersion: FOLD_VERSION,
  seq: 0,
  identity: null,
  title: null,
  archived: false,
  deleted: false,
  createdAt: 0,
  updatedAt: 0,
  participants: [],
  incarnation: 0,
  runCount: 0,
  messageCount: 0,
  tokens: 0,
  paused: false,
  handover: { state: "none", operator: null },
  queue: [],
  active: null,
  latest: null,
  ended: [],
};
