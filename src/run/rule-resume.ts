/**
 * Answering what a run waits for. All or none: one bad item refuses the whole request, and its pointer names it. The
 * order of the checks is fixed (protocol, *Confirmations*), so that the same mistake always gets the same code.
 */
import type { Command, Decision } from "../protocol/commands.ts";
import { runOf } from "../protocol/ids.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { checkAuthority, checkPlace, checkVisible, NOT_FOUND } from "./authority.ts";
import { SYSTEM, type Draft } from "./draft.ts";
import type { Facts } from "./inputs.ts";
import { ownResult } from "./results.ts";
import { applyContinuation, checkContinuation } from "./rule-continue.ts";
import { applyDecision, checkDecision } from "./rule-decide.ts";
import { applyResolution, checkResolution } from "./rule-resolve.ts";
import type { State } from "./state.ts";
import { missingTarget, starterOf, targetOf, type Target } from "./targets.ts";

type ResumeCommand = Extract<Command, { type: "resume" }>;

export function resumeRun(draft: Draft, command: ResumeCommand, principal: Principal, facts: Facts): Rejection | null {
  const { state } = draft;
  const hidden = checkVisible(state, principal);
  if (hidden) return hidden;
  if (starterOf(state, command.runId) === null) return NOT_FOUND;
  const resume = facts.resume ?? { toolDigests: {}, edits: {}, results: {} };
  const { decisions = [], resolutions = [], continuations = [] } = command.body;
  const twice = namedTwice(command);
  if (twice) return twice;
  const checks: (readonly [string, () => Rejection | null])[] = [
    ...decisions.map(
      (one, i) =>
        [
          `/decisions/${i}`,
          () =>
            onCall(state, command, one, principal, (target) => checkDecision(state, target, one, principal, resume)),
        ] as const,
    ),
    ...resolutions.map(
      (one, i) =>
        [
          `/resolutions/${i}`,
          () => onCall(state, command, one, principal, (target) => checkResolution(state, target, one, resume)),
        ] as const,
    ),
    ...continuations.map(
      (one, i) => [`/continuations/${i}`, () => checkContinuation(state, command.runId, one, principal)] as const,
    ),
  ];
  for (const [pointer, check] of checks) {
    const refused = check();
    if (refused) return expireStale(draft, command, decisions, refused, pointer);
  }
  for (const one of decisions) applyDecision(draft, one, principal, resume);
  for (const one of resolutions) applyResolution(draft, targetOf(draft.state, one.toolCallId), one, principal, resume);
  for (const one of continuations) applyContinuation(draft, one, principal);
  return null;
}

function onCall(
  state: State,
  command: ResumeCommand,
  one: { readonly toolCallId: string },
  principal: Principal,
  check: (target: Target) => Rejection | null,
): Rejection | null {
  if (runOf(one.toolCallId) !== command.runId) return NOT_FOUND;
  const target = targetOf(state, one.toolCallId);
  if (!target) {
    const missing = missingTarget(state, one.toolCallId);
    const misplaced = checkPlace(state, principal, starterOf(state, command.runId));
    return missing.code === NOT_FOUND.code ? missing : (misplaced ?? missing);
  }
  return checkAuthority(state, principal, target.run, target.call) ?? check(target);
}

/** A confirmation whose tool has changed since is expired by whoever tries to decide it. */
function expireStale(
  draft: Draft,
  command: ResumeCommand,
  decisions: readonly Decision[],
  refused: Rejection,
  pointer: string,
): Rejection {
  if (refused.code === "confirmation_stale") {
    const stale = decisions.find((_, i) => pointer === `/decisions/${i}`);
    const target = stale ? targetOf(draft.state, stale.toolCallId) : null;
    if (target?.whole) {
      const payload = ownResult(target.whole, target.call, "expired", { text: "call.stale" });
      const data = { toolCallId: target.call.id, reason: "stale", payload } as const;
      draft.emit("confirmation.expired", SYSTEM, data, command.runId);
    }
  }
  const errors = refused.errors ?? [{ pointer, detail: refused.detail }];
  return {
    ...refused,
    errors: errors.map((one) => ({
      ...one,
      pointer: one.pointer.startsWith(pointer) ? one.pointer : pointer + one.pointer,
    })),
  };
}

/** Two answers to one question would make the outcome a matter of order. */
function namedTwice({ body }: ResumeCommand): Rejection | null {
  const { decisions = [], resolutions = [], continuations = [] } = body;
  const named = [
    ...decisions.map(({ toolCallId }, i) => ({ name: toolCallId, pointer: `/decisions/${i}/toolCallId` })),
    ...resolutions.map(({ toolCallId }, i) => ({ name: toolCallId, pointer: `/resolutions/${i}/toolCallId` })),
    ...continuations.map(({ limit }, i) => ({ name: limit, pointer: `/continuations/${i}/limit` })),
  ];
  const again = named.find(({ name }, at) => named.findIndex((one) => one.name === name) !== at);
  if (!again) return null;
  const detail = `${again.name} is named twice.`;
  return reject("invalid_request", detail, { errors: [{ pointer: again.pointer, detail }] });
}
