/**
 * A new life of the actor found unfinished work: nothing that was in flight can come back. The model is asked anew (its
 * step was not committed), a call that was out follows its effect class, and a stop that was settling settles now.
 */
import type { Draft } from "./draft.ts";
import type { Input } from "./inputs.ts";
import { ownResult } from "./results.ts";
import { interrupt, lostBy } from "./rule-model.ts";
import { settle } from "./rule-time.ts";
import { mayHaveHappened } from "./rule-tool.ts";
import type { CallState, RunState } from "./state.ts";

export function woke(draft: Draft, { partial, usage }: Extract<Input, { type: "woke" }>): void {
  const run = draft.state.active;
  if (!run) return;
  draft.incarnation += 1;
  if (run.halt) return settle(draft, partial, usage);
  for (const call of run.calls) if (wasOut(draft, call)) lost(draft, run, call);
  if (run.step?.phase === "asking") interrupt(draft, run, run.step, lostBy(run.step, partial, usage));
}

/** A repeat that was still waiting out its back-off had not been sent by the life that died. */
const wasOut = (draft: Draft, call: CallState): boolean =>
  call.state === "executing" && (call.notBefore === null || call.notBefore <= draft.now);

function lost(draft: Draft, run: RunState, call: CallState): void {
  const payload = ownResult(run, call, "timeout");
  mayHaveHappened(draft, run, call, { reason: "interrupted", payload, repeatable: true });
}
