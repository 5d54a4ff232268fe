/**
 * The core: `decide(state, input, now) → events, state, rejection?`. Pure, synchronous, total.
 *
 * Two calls make a turn: the actor first decides `time_passed`, then its input, and commits both in one transaction; so
 * what time did is kept even when the input is then refused. Replaying the stored causes through this function gives
 * the stored events again.
 */
import type { Event } from "../protocol/events.ts";
import type { Rejection } from "../protocol/problems.ts";
import { advance } from "./advance.ts";
import { Draft } from "./draft.ts";
import type { Input } from "./inputs.ts";
import { cancelRun, deactivate } from "./rule-cancel.ts";
import {
  createConversation,
  deleteConversation,
  putParticipant,
  removeParticipant,
  updateConversation,
} from "./rule-conversation.ts";
import { releaseHandover, sayAsOperator, takeOver } from "./rule-handover.ts";
import { budgetWarned, modelAnswered } from "./rule-model.ts";
import { pause, unpause } from "./rule-pause.ts";
import { resumeRun } from "./rule-resume.ts";
import { dropRun, editRun, retryRun, startRun } from "./rule-start.ts";
import { retryBudget, timePassed } from "./rule-time.ts";
import { toolAnswered } from "./rule-tool.ts";
import { woke } from "./rule-wake.ts";
import type { State } from "./state.ts";

export interface Decided {
  readonly state: State;
  readonly events: readonly Event[];
  readonly rejection: Rejection | null;
}

/**
 * @param now epoch ms; the only clock there is. An object that moved to a machine whose clock is behind would decide in
 * the past of its own log: time never goes back here.
 */
export function decide(state: State, input: Input, now: number): Decided {
  const draft = new Draft(state, Math.max(now, state.updatedAt));
  const rejection = apply(draft, input);
  // A refusal changes nothing, but for what it found out on the way (a confirmation whose tool is no longer the same).
  if (rejection && draft.events.length === 0) return { state, events: [], rejection };
  advance(draft);
  return { state: draft.state, events: draft.events, rejection };
}

function apply(draft: Draft, input: Input): Rejection | null {
  switch (input.type) {
    case "command":
      return command(draft, input);
    case "time_passed":
      timePassed(draft, input);
      return null;
    case "model_answered":
      modelAnswered(draft, input);
      return null;
    case "tool_answered":
      toolAnswered(draft, input);
      return null;
    case "woke":
      woke(draft, input);
      return null;
    case "deactivated":
      deactivate(draft, input.userId);
      return null;
    case "paused":
      pause(draft);
      return null;
    case "resumed":
      unpause(draft);
      return null;
    case "budget_changed":
      if (draft.state.active) retryBudget(draft);
      return null;
    case "budget_warned":
      budgetWarned(draft, input);
      return null;
  }
}

function command(draft: Draft, { command: asked, principal, facts }: Extract<Input, { type: "command" }>) {
  switch (asked.type) {
    case "create_conversation":
      return createConversation(draft, asked, principal, facts);
    case "update_conversation":
      return updateConversation(draft, asked, principal);
    case "delete_conversation":
      return deleteConversation(draft, principal);
    case "put_participant":
      return putParticipant(draft, asked, principal);
    case "remove_participant":
      return removeParticipant(draft, asked, principal);
    case "start_run":
      return startRun(draft, asked, principal, facts);
    case "edit_run":
      return editRun(draft, asked, principal);
    case "drop_run":
      return dropRun(draft, asked, principal);
    case "resume":
      return resumeRun(draft, asked, principal, facts);
    case "cancel_run":
      return cancelRun(draft, asked, principal);
    case "retry_run":
      return retryRun(draft, asked, principal, facts);
    case "take_over":
      return takeOver(draft, principal);
    case "say_as_operator":
      return sayAsOperator(draft, asked, principal);
    case "release_handover":
      return releaseHandover(draft, principal);
  }
}
