/** X4, X5: every durable frame is the log's event byte for byte, and every connection goes on where it said it was. */
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import { seenEvent, type Sight } from "../../src/protocol/redaction.ts";
import type { Connection, Observation } from "../observation.ts";
import type { Plan } from "../plan.ts";

type Wrong = (law: string, says: string) => void;

export function checkWatching(seen: Observation, plan: Plan, wrong: Wrong): void {
  const away = absences(seen);
  for (const connection of seen.connections) {
    checkConnection(seen, connection, plan, (seq) => isAway(away, connection.user, seq), wrong);
  }
}

/** From which event to which other somebody had no place any more. */
type Absences = ReadonlyMap<string, { readonly from: number; to: number }[]>;

function absences({ log }: Observation): Absences {
  const away = new Map<string, { from: number; to: number }[]>();
  for (const event of log) {
    if (event.type === "participant.removed") {
      const { userId } = event.data;
      away.set(userId, [...(away.get(userId) ?? []), { from: event.seq, to: Infinity }]);
    }
    if (event.type !== "participant.added") continue;
    const last = away.get(event.data.userId)?.at(-1);
    if (last) last.to = event.seq;
  }
  return away;
}

const isAway = (away: Absences, user: string, seq: number): boolean =>
  (away.get(user) ?? []).some(({ from, to }) => seq >= from && seq < to);

function checkConnection(
  seen: Observation,
  connection: Connection,
  plan: Plan,
  isGone: (seq: number) => boolean,
  wrong: Wrong,
): void {
  const { user, after, frames } = connection;
  /** The last event that this connection has, or has a snapshot of; null: nothing yet. */
  let at: number | null = null;
  let deltas: { readonly id: string; text: string } | null = null;
  const durable = (json: string, seq: number) => {
    checkEvent(seen, user, json, seq, wrong);
    if (at !== null && seq !== at + 1) wrong("X5", `${user} got event ${seq} after ${at}`);
    at = seq;
  };
  frames.forEach(({ text, frame }, n) => {
    if (n === 0 && frame.type !== "welcome") wrong("X5", `${user} was not welcomed`);
    switch (frame.type) {
      case "welcome": {
        const head = seqOf(frame["headCursor"]);
        if (!after) at = head;
        else if (after.generation === "gen00001" && after.seq <= head) at = after.seq;
        break;
      }
      case "reset": {
        const head = seqOf(frame["headCursor"]);
        const reason = String(frame["reason"]);
        if (!isCalledFor(reason, after, head, plan)) wrong("X5", `${user} was reset (${reason}) without need`);
        at = head;
        break;
      }
      case "events": {
        const events = frame["events"] as { seq: number }[];
        for (const event of events) durable(JSON.stringify(event), event.seq);
        if (at !== seqOf(frame["cursor"])) wrong("X5", `${user}: a page ends at ${String(frame["cursor"])}, not ${at}`);
        break;
      }
      case "event": {
        if (isGone((frame["event"] as { seq: number }).seq)) wrong("X20", `${user} watches without a place`);
        const from = text.indexOf('"event":{') + 8;
        durable(text.slice(from, -1), (frame["event"] as { seq: number }).seq);
        if (at !== seqOf(frame["cursor"])) wrong("X5", `${user}: the cursor ${String(frame["cursor"])} of event ${at}`);
        break;
      }
      case "partial": {
        const id = `${String(frame["messageId"])}#${String(frame["attempt"])}`;
        deltas = { id, text: String(frame["text"]) };
        checkText(seen, id, deltas.text, wrong);
        break;
      }
      case "delta": {
        const id = `${String(frame["messageId"])}#${String(frame["attempt"])}`;
        const offset = Number(frame["offset"]);
        if (deltas?.id !== id) deltas = offset === 0 ? { id, text: "" } : null;
        if (!deltas) break;
        if (deltas.text.length !== offset && !plan.config.heavyFrames)
          wrong("X5", `${user}: a delta of ${id} at ${offset}, not ${deltas.text.length}`);
        if (deltas.text.length !== offset) {
          deltas = null;
          break;
        }
        deltas.text += String(frame["text"]);
        checkText(seen, id, deltas.text, wrong);
        break;
      }
      default:
        break;
    }
  });
}

const seqOf = (cursor: unknown): number => Number(String(cursor).split(".")[1]);

function isCalledFor(reason: string, after: Connection["after"], head: number, plan: Plan): boolean {
  if (!after) return false;
  if (reason === "other_generation") return after.generation !== "gen00001";
  if (reason === "ahead_of_head") return after.seq > head;
  const { catchUpEvents = 1_000, catchUpBytes = 1_048_576 } = plan.config.bounds;
  return head - after.seq > catchUpEvents || catchUpBytes < 1_048_576;
}

/** X4: byte for byte, as the reader may see it; of one's own run one sees the whole. */
function checkEvent(seen: Observation, user: string, json: string, seq: number, wrong: Wrong): void {
  const event = seen.log[seq - 1];
  if (!event) return wrong("X4", `${user} was shown event ${seq}, which is not in the log`);
  const starter = seen.log.find((one) => one.type === "run.queued" && one.runId === event.runId)?.by.id;
  const sight = user === "alice" || (event.runId !== undefined && starter === user) ? "whole" : SIGHTS[user];
  if (encodeEvent(seenEvent(event, sight ?? "details")).json === json) return;
  wrong("X4", `${user} was shown another event ${seq}: ${json.slice(0, 200)}`);
}

/** Of those who have a place of their own; the owner sees everything, everybody else what an editor does. */
const SIGHTS: Readonly<Record<string, Sight>> = { dave: "plain" };

/** Previews are of the text that the provider sent for that attempt. */
function checkText(seen: Observation, id: string, text: string, wrong: Wrong): void {
  const started = seen.log.find(
    (event) => event.type === "step.started" && `${event.data.messageId}#${event.data.attempt}` === id,
  );
  if (started?.type !== "step.started") return wrong("X4", `a preview of ${id}, which was never asked for`);
  const asked = seen.models.find(
    (one) => one.runId === started.runId && one.step === started.data.n && one.attempt === started.data.attempt,
  );
  if (asked && !asked.text.startsWith(text)) wrong("X4", `a preview of ${id} that nobody wrote`);
}
