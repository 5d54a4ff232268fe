/**
 * X1, X8, X9: what a person was told against the log, where a command leaves no mark of its own; and nothing was decided
 * that nobody asked for.
 */
import type { Asked } from "../../../sim/observation.ts";
import type { Event } from "../../../src/protocol/events.ts";
import type { ConversationSeen, Wrong } from "../seen.ts";

export function checkAnswers({ seen }: ConversationSeen, wrong: Wrong): void {
  for (const asked of seen.asked) {
    if (asked.answeredAt === null) wrong("X16", `${asked.id} (${asked.command.type}) was never answered`);
    const ok = asked.told.find(({ outcome }) => outcome.kind === "ok");
    if (ok?.outcome.kind === "ok") checkKept(asked, JSON.parse(ok.outcome.body) as { id: string }, seen.log, wrong);
  }
  checkAskedFor(seen.asked, seen.log, wrong);
}

/** X1 for commands whose mark is not their own text. */
function checkKept({ id, command, user }: Asked, answer: { id: string }, log: readonly Event[], wrong: Wrong): void {
  const lost = (what: string) => wrong("X1", `${id} (${command.type}) was acknowledged, and ${what}`);
  switch (command.type) {
    case "start_run":
    case "retry_run": {
      const queued = log.filter(({ type, runId }) => type === "run.queued" && runId === answer.id);
      if (queued.length !== 1) lost(`${answer.id} was queued ${queued.length} times`);
      return;
    }
    case "cancel_run": {
      const end = log.find(({ type, runId }) => ENDS.includes(type) && runId === command.runId);
      if (end?.type !== "run.cancelled") lost(`${command.runId} ended ${end?.type ?? "never"}`);
      return;
    }
    case "resume":
      for (const { toolCallId, decision, reason } of command.body.decisions ?? []) {
        const found = log.some(
          (event) =>
            event.type === "confirmation.decided" &&
            event.data.toolCallId === toolCallId &&
            event.data.decision === decision &&
            event.data.reason === reason &&
            event.data.by.id === user,
        );
        if (!found) lost(`${toolCallId} has no such decision`);
      }
      for (const { toolCallId, outcome } of command.body.resolutions ?? []) {
        const found = log.some(
          (event) =>
            event.type === "tool_call.resolved" &&
            event.data.toolCallId === toolCallId &&
            event.data.outcome === outcome &&
            event.data.by.id === user,
        );
        if (!found) lost(`${toolCallId} has no such resolution`);
      }
      return;
    default:
      return;
  }
}

/** X8: every yes, no and "it happened" was said by that person, before. */
function checkAskedFor(asked: readonly Asked[], log: readonly Event[], wrong: Wrong): void {
  const said = new Map<string, number>();
  const note = (name: string, at: number) => said.set(name, Math.min(at, said.get(name) ?? Infinity));
  for (const { user, command, invokedAt } of asked) {
    if (command.type !== "resume") continue;
    for (const { toolCallId, decision } of command.body.decisions ?? [])
      note(`${user} ${decision} ${toolCallId}`, invokedAt);
    for (const { toolCallId, outcome } of command.body.resolutions ?? [])
      note(`${user} ${outcome} ${toolCallId}`, invokedAt);
  }
  for (const event of log) {
    const what =
      event.type === "confirmation.decided"
        ? event.data.decision
        : event.type === "tool_call.resolved"
          ? event.data.outcome
          : null;
    if (what === null || !("toolCallId" in event.data) || !("by" in event.data)) continue;
    const name = `${event.data.by.id} ${what} ${event.data.toolCallId}`;
    const at = said.get(name);
    if (at === undefined) wrong("X8", `nobody asked for event ${event.seq}: ${name}`);
    else if (Date.parse(event.at) < Math.floor(at) - 1)
      wrong("X8", `event ${event.seq} (${name}) came before it was asked for`);
  }
}

const ENDS: readonly string[] = ["run.completed", "run.failed", "run.cancelled"];
