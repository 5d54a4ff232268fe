/** What is remembered of a call and of a run while their story is told. */
import type { EffectClass } from "../../src/protocol/tool-call.ts";

export interface CallStory {
  readonly id: string;
  readonly runId: string;
  readonly tool: string;
  readonly effect: EffectClass;
  readonly key: string;
  readonly gated: boolean;
  quorum: number;
  selfApproval: boolean;
  argsDigest: string;
  expiresAt: number | null;
  state: string;
  attempt: number;
  mode: string;
  /** By person, of the arguments that the call has now. */
  approvals: { readonly by: string; readonly seq: number }[];
  rejected: boolean;
  /** How often a person said that it did not happen, while the run lived. */
  freshly: number;
  resolved: string | null;
  openedAt: number;
}

export interface RunStory {
  readonly id: string;
  readonly by: string;
  readonly queuedSeq: number;
  readonly head: boolean;
  startedSeq: number;
  endedSeq: number;
  status: "queued" | "active" | "ended";
  stop: string;
  halted: boolean;
  deadlineAt: number | null;
  asking: { step: number; attempt: number } | null;
  steps: Set<number>;
  readonly finished: Map<number, number>;
  /** By step, how often it was lost. */
  readonly interruptions: Map<number, number>;
}
