/** X1, X16, X17: when the faults are over everything comes to an end, and a new message is answered. */
import type { Observation } from "../observation.ts";
import type { Plan } from "../plan.ts";
import type { Story } from "./story.ts";

type Wrong = (law: string, says: string) => void;

export function checkRest(seen: Observation, story: Story, plan: Plan, wrong: Wrong): void {
  const { log } = seen;
  if (log.length === 0) return wrong("X16", "nothing ever happened");
  const last = log.at(-1);
  const lastRun = [...story.runs.values()].at(-1);
  if (!story.deleted && (lastRun?.status !== "ended" || lastRun.stop !== "final_answer")) {
    wrong(
      "X16",
      `the last message was not answered: ${lastRun?.status ?? "never queued"} ${lastRun?.stop ?? ""} (${last?.type})`,
    );
  }
  for (const run of story.runs.values()) {
    if (run.status !== "ended") wrong("X16", `${run.id} is still ${run.status}`);
  }
  for (const { event, level, detail } of seen.logged) {
    if (level === "threw" && !isExpected(detail)) wrong("throws", `${event}: ${detail.slice(0, 400)}`);
    if (level === "error" && !EXPECTED.includes(event) && !isExpected(detail))
      wrong("throws", `${event}: ${detail.slice(0, 400)}`);
  }
  checkPunctual(seen, plan, wrong);
}

/** Logged because of what the schedule did to it. */
const EXPECTED = ["registry_unavailable", "history_parked", "outbox_failed", "history_drain_failed"];
const isExpected = (detail: string): boolean => detail.startsWith("WriteRefused") || detail.startsWith("Killed");

/** X17: an object that was left alone does what is due when it is due. */
function checkPunctual(seen: Observation, plan: Plan, wrong: Wrong): void {
  const alarms = plan.faults.some(({ kind }) => kind === "alarm" || kind === "write_refused");
  const deaths = seen.blows.filter(({ kind }) => kind !== "end").map(({ at }) => at);
  const due = new Map<string, number>();
  for (const event of seen.log) {
    if (event.type === "confirmation.requested") due.set(event.data.toolCallId, Date.parse(event.data.expiresAt));
    if (event.type !== "confirmation.expired" || event.data.reason !== "undecided") continue;
    const at = Date.parse(event.at);
    const wanted = due.get(event.data.toolCallId) ?? at;
    const disturbed = deaths.some((death) => death > wanted - 1_000 && death <= at);
    if (at - wanted > 1_000 && !alarms && !disturbed)
      wrong("X17", `${event.data.toolCallId} expired ${at - wanted} ms late`);
  }
}
