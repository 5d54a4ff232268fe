/**
 * What may become of a call, one story for each state that it can stand in for a while. While it stands there another
 * message is sent, and a third is refused, so that everything that an object does is done in that state.
 */
import type { CallStateName } from "../../src/protocol/tool-call.ts";
import type { Fault } from "../support/backend-faults.ts";
import type { Point, Standing } from "./points.ts";

export interface Story {
  /** The calls of each step, as `rigs/crash/script.ts` reads them. */
  readonly plan: string;
  /** Number of the call that it is about. */
  readonly call: number;
  /** Where it stands while the other things are done. */
  readonly held: Standing;
  /** Of the backend, for that call's request, or for that of the call with the number `faulty`. */
  readonly fault?: Omit<Fault, "route" | "match">;
  readonly faulty?: number;
  /** Of the backend, for the reading call that is made beside it. */
  readonly readFault?: Omit<Fault, "route" | "match">;
  readonly confirmationTtlMs?: number;
  /** By number of the call; without one nobody decides. `later`: when the other things have been done. */
  readonly decisions: Readonly<Record<number, { readonly decision: "approve" | "reject"; readonly later?: true }>>;
  /** The run is cancelled when the call stands there. */
  readonly cancelledAt?: CallStateName;
}

/** Long enough for the other things, for the alarm and for the history. */
export const HELD_MS = 5_000;
/** Of a call that is out, and ends by itself if nobody dies. */
const OUT_MS = 8_000;
/** Longer than anything here takes. */
const NEVER_MS = 60_000;

export const STORIES: Readonly<Record<string, Story>> = {
  "is not made yet": {
    plan: "slow_lookup;transfer",
    call: 2,
    held: "none",
    decisions: { 2: { decision: "reject" } },
  },
  "waits for its turn": {
    plan: "book_note,book_note",
    call: 2,
    held: "proposed",
    fault: { mode: "delay", commitAt: 0, answerAt: OUT_MS },
    faulty: 1,
    decisions: {},
  },
  "was refused": { plan: "no_such_tool", call: 1, held: "refused", decisions: {} },
  "waits for a yes": {
    plan: "transfer,lookup_order",
    call: 1,
    held: "awaiting_confirmation",
    decisions: { 1: { decision: "approve", later: true } },
  },
  "has its yes, and waits for another call's": {
    plan: "transfer,transfer,lookup_order",
    call: 1,
    held: "approved",
    readFault: { mode: "timeout", ms: HELD_MS, times: 1 },
    decisions: { 1: { decision: "approve" }, 2: { decision: "reject", later: true } },
  },
  "is out": {
    plan: "transfer_idempotent",
    call: 1,
    held: "executing",
    fault: { mode: "delay", commitAt: 0, answerAt: OUT_MS, times: 1 },
    decisions: { 1: { decision: "approve" } },
  },
  "has succeeded": { plan: "transfer", call: 1, held: "succeeded", decisions: { 1: { decision: "approve" } } },
  "has failed": {
    plan: "transfer",
    call: 1,
    held: "failed",
    fault: { mode: "403" },
    decisions: { 1: { decision: "approve" } },
  },
  "was said no to": { plan: "transfer", call: 1, held: "rejected", decisions: { 1: { decision: "reject" } } },
  "was not answered in time": {
    plan: "transfer,transfer",
    call: 1,
    held: "expired",
    confirmationTtlMs: 600,
    decisions: { 2: { decision: "reject" } },
  },
  "is known to nobody": {
    plan: "transfer",
    call: 1,
    held: "unknown",
    fault: { mode: "commit_then_drop" },
    decisions: { 1: { decision: "approve" } },
  },
  "is cancelled": { plan: "transfer", call: 1, held: "cancelled", decisions: {}, cancelledAt: "awaiting_confirmation" },
  "is cancelled while it is out": {
    plan: "transfer",
    call: 1,
    held: "unknown",
    fault: { mode: "delay", commitAt: 0, answerAt: NEVER_MS },
    decisions: { 1: { decision: "approve" } },
    cancelledAt: "executing",
  },
};

/** While a call of a step has not ended, the model is not asked, so it says nothing. */
const OPEN: readonly Standing[] = ["proposed", "awaiting_confirmation", "approved", "executing"];
const OF_THE_MODEL = /^(model|checkpoint|preview_frame)\./;

export const isReachable = (point: Point, standing: Standing): boolean =>
  !(OPEN.includes(standing) && OF_THE_MODEL.test(point));
