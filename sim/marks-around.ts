/** Marks of what was done to the object, of what was answered, and of what was shown on sockets. */
import { MARKS, type Mark } from "./marks.ts";
import type { Observation } from "./observation.ts";

const BLOWS: Readonly<Record<string, Mark>> = {
  before_handler: "died: before the handler",
  after_write: "died: while writing",
  before_commit: "died: before the commit",
  before_release: "died: before anything left",
  between_releases: "died: between two things that left",
  after_release: "died: after everything had left",
  crash: "died: while waiting",
  evict: "evicted with its sockets",
  zombie_turn: "an old life ran on beside the new one",
  write_refused: "a write was refused",
  alarm_late: "alarm: late",
  alarm_twice: "alarm: twice",
  alarm_early: "alarm: early",
  alarm_lost: "alarm: lost",
  history_before: "history: refused",
  history_after: "history: written and not answered",
  history_stall: "history: stalled",
  history_outage: "history: down for a minute",
  register_lost_before: "register: call lost",
  register_lost_after: "register: answer lost",
};
const DEATHS = [
  "before_handler",
  "after_write",
  "before_commit",
  "before_release",
  "between_releases",
  "after_release",
  "crash",
  "zombie",
];

export function ofBlows(seen: Observation, marks: Set<Mark>): void {
  for (const { kind } of seen.blows) {
    const mark = BLOWS[kind];
    if (mark) marks.add(mark);
  }
  const deaths = seen.blows.filter(({ kind }) => DEATHS.includes(kind));
  if (deaths.length > 1) marks.add("several deaths");
  if (seen.logged.some(({ event }) => event === "history_parked") && seen.parked === 0) {
    marks.add("history: one row refused, and filled in later");
  }
  const late = seen.tools.some(({ at, arrivedAt }) =>
    deaths.some((death) => at <= death.at && (arrivedAt ?? 0) > death.at),
  );
  if (late) marks.add("a request of an old life landed after its death");
}

const ANSWERS: readonly string[] = MARKS.filter((mark) => mark.startsWith("answer: "));

export function ofAnswers(seen: Observation, marks: Set<Mark>): void {
  for (const { told, user } of seen.asked) {
    for (const { outcome } of told) {
      if (outcome.kind === "ok" && outcome.replayed) marks.add("answer: replayed");
      if (outcome.kind !== "refused") continue;
      const mark = `answer: ${outcome.rejection.code}`;
      if (ANSWERS.includes(mark)) marks.add(mark as Mark);
      if (user === "mallory" && outcome.rejection.code === "not_found") marks.add("answer: not_found, to a stranger");
    }
  }
}

export function ofWatching(seen: Observation, marks: Set<Mark>): void {
  for (const { frames, closed } of seen.connections) {
    for (const { frame } of frames) {
      if (frame.type === "partial") marks.add("watching: a partial text");
      if (frame.type === "events") {
        marks.add((frame["events"] as unknown[]).length === 0 ? "watching: nothing missed" : "watching: caught up");
      }
      if (frame.type === "reset") {
        if (frame["reason"] === "too_far_behind") marks.add("watching: reset, too far behind");
        if (frame["reason"] === "ahead_of_head") marks.add("watching: reset, ahead of the head");
        if (frame["reason"] === "other_generation") marks.add("watching: reset, another generation");
      }
    }
    if (closed?.code === 1013) marks.add("watching: closed, too slow");
    if (closed?.code === 3003) marks.add("watching: closed, no longer a participant");
  }
}
