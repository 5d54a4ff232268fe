/** Views of ended runs, kept as a cache beside the log: a run that ended long ago is answered without folding anew. */
import { isTerminal, type Event } from "../protocol/events.ts";
import type { Run } from "../protocol/run.ts";
import { evolve } from "../run/evolve.ts";
import type { State } from "../run/state.ts";
import { mayHaveActed, runView } from "../run/views.ts";

/** The views that these events made or changed, newest last. */
export function endedViews(before: State, events: readonly Event[], stored: (runId: string) => Run | null): Run[] {
  if (!events.some(touches)) return [];
  const views = new Map<string, Run>();
  let state = before;
  for (const event of events) {
    state = evolve(state, event);
    const { runId } = event;
    if (runId === undefined || !touches(event)) continue;
    if (state.latest?.id === runId) views.set(runId, runView(state, state.latest));
    else if (event.type === "tool_call.resolved") {
      const view = views.get(runId) ?? stored(runId);
      if (view) views.set(runId, resolved(view, event.data.toolCallId, event.data.state));
    }
  }
  return [...views.values()];
}

const touches = (event: Event): boolean => isTerminal(event.type) || event.type === "tool_call.resolved";

function resolved(view: Run, toolCallId: string, state: Run["sideEffects"][number]["state"]): Run {
  return {
    ...view,
    pending: view.pending.filter(({ id }) => id !== toolCallId),
    sideEffects: view.sideEffects
      .map((one) => (one.toolCallId === toolCallId ? { ...one, state } : one))
      .filter((one) => mayHaveActed(one.state)),
  };
}
