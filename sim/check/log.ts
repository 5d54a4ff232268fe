/** X3, X9, X10, X13, X14, X17: the log by itself, and every snapshot against the log up to its head. */
import { EVENT_DATA } from "../../src/protocol/events.ts";
import type { Observation, Snapshot } from "../observation.ts";
import { Story } from "./story.ts";

type Wrong = (law: string, says: string) => void;

export function checkLog(seen: Observation, wrong: Wrong): Story {
  const story = new Story(wrong);
  const at = new Map<number, Snapshot[]>();
  for (const snapshot of seen.snapshots) {
    const head = headOf(snapshot);
    at.set(head, [...(at.get(head) ?? []), snapshot]);
    if (head > seen.log.length) wrong("X4", `a snapshot of ${head} events, and there are ${seen.log.length}`);
  }
  let before = 0;
  let life = 0;
  let told = 0;
  seen.log.forEach((event, index) => {
    if (event.seq !== index + 1) wrong("X3", `event ${event.seq} stands at ${index + 1}`);
    const when = Date.parse(event.at);
    if (when < before) wrong("X3", `event ${event.seq} is older than the one before`);
    before = when;
    const data: object = event.data;
    const incarnation =
      "incarnation" in data && event.type !== "tool_call.late_result" ? Number(data.incarnation) : life;
    if (incarnation < life) wrong("X3", `event ${event.seq} is of life ${incarnation}, after ${life}`);
    life = incarnation;
    // Every schema is met often enough by a part of the schedules.
    const shape = seen.seed % 8 === 0 ? EVENT_DATA[event.type].safeParse(event.data) : { success: true };
    if (!shape.success) wrong("X3", `event ${event.seq} (${event.type}) has not its shape`);
    story.tell(event);
    for (const snapshot of at.get(event.seq) ?? []) checkSnapshot(story, snapshot, wrong);
    if (TOLD_SOON.includes(event.type)) told = event.seq;
    if (event.seq === seen.rested?.head) checkRested(story, seen.rested, told, wrong);
  });
  return story;
}

/** What the history learns soon; the rest goes along with it. */
const TOLD_SOON: readonly string[] = [
  "conversation.created",
  "conversation.updated",
  "participant.added",
  "participant.role_changed",
  "participant.removed",
  "run.interrupted",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "confirmation.decided",
  "tool_call.resolved",
  "handover.requested",
  "handover.accepted",
  "handover.released",
];

/** X16, X18: at rest the history has what it is to have, and an alarm stands for whatever is due. */
function checkRested(story: Story, rested: NonNullable<Observation["rested"]>, told: number, wrong: Wrong): void {
  const { history, alarmAt, at } = rested;
  if (history < told) wrong("X18", `at rest the history stands at ${history}, and should have ${told}`);
  if (story.active === null && story.queue.length > 0 && story.handover !== "active") {
    wrong("X16", `at rest ${story.queue[0]} is queued, and nothing is active`);
  }
  const due = Math.min(
    ...story
      .pending()
      .map(({ state, expiresAt }) => (state === "awaiting_confirmation" ? (expiresAt ?? Infinity) : Infinity)),
  );
  if (due !== Infinity && (alarmAt === null || alarmAt > due))
    wrong("X16", `at rest ${due - at} ms are left, and no alarm stands`);
}

const headOf = ({ conversation }: Snapshot): number => Number(conversation.headCursor.split(".")[1]);

/** X10: what is pending is what the log says, whatever happened to the object since. */
function checkSnapshot(story: Story, { conversation, user }: Snapshot, wrong: Wrong): void {
  const says = (what: string, theirs: unknown, ours: unknown) => {
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) {
      wrong(
        "X10",
        `the snapshot of ${story.seq} for ${user}: ${what} ${JSON.stringify(theirs)}, not ${JSON.stringify(ours)}`,
      );
    }
  };
  const pending = story.pending().toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const shown = conversation.pending.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  says(
    "pending",
    shown.map(({ id, state }) => [id, state]),
    pending.map(({ id, state }) => [id, state]),
  );
  if (story.places.get(user) !== "viewer") {
    says(
      "digests",
      shown.map(({ argsDigest }) => argsDigest),
      pending.map(({ argsDigest }) => argsDigest),
    );
  }
  says(
    "needsConfirmation",
    conversation.needsConfirmation,
    pending.some(({ state }) => state === "awaiting_confirmation"),
  );
  says("the active run", conversation.activeRun?.id ?? null, story.active);
  says(
    "the queue",
    conversation.queued.map(({ id }) => id),
    story.queue,
  );
  says("the hand-over", conversation.handover.state, story.handover);
  says(
    "the places",
    conversation.participants.map(({ userId, role }) => `${userId} ${role}`).toSorted(),
    [...story.places].map(([id, role]) => `${id} ${role}`).toSorted(),
  );
}
