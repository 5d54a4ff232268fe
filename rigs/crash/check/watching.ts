/**
 * X4, X5: every durable frame is the log's event byte for byte, as its reader may see it (the approver without keys, the
 * viewer redacted), and every connection goes on where it said it was. A preview is the beginning of what the provider sent.
 */
import { encodeEvent } from "../../../src/protocol/encoded-event.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { seenEvent, type Sight } from "../../../src/protocol/redaction.ts";
import { lastWords } from "../script.ts";
import type { Connection, ConversationSeen, Wrong } from "../seen.ts";

type Frame = { readonly type: string; readonly [member: string]: unknown };

export function checkWatching(one: ConversationSeen, wrong: Wrong): void {
  const { logJson, log } = one.seen;
  const seenAs = (sight: Sight) => log.map((event) => encodeEvent(seenEvent(event, sight)).json);
  const [details, plain] = [seenAs("details"), seenAs("plain")];
  for (const connection of one.connections) {
    const { user } = connection;
    const shown = user === one.viewer ? plain : user === one.approver ? details : logJson;
    checkConnection(one, connection, shown, wrong);
  }
  for (const { user, events, gaps, repeats } of one.followed) {
    if (gaps > 0 || repeats > 0) wrong("X5", `the client of ${user} met ${gaps} gaps and ${repeats} repeats`);
    if (events.length !== log.length) wrong("X5", `the client of ${user} has ${events.length} of ${log.length} events`);
    const other = events.findIndex((json, n) => json !== logJson[n]);
    if (other >= 0)
      wrong("X4", `the client of ${user} has another event ${other + 1}: ${events[other]?.slice(0, 200)}`);
  }
}

function checkConnection(
  one: ConversationSeen,
  { user, after, frames }: Connection,
  shown: readonly string[],
  wrong: Wrong,
): void {
  let at = after;
  const live = new Map<string, string>();
  const durable = (seq: number, json: string) => {
    if (at !== null && seq !== at + 1) wrong("X5", `${user} got event ${seq} after ${at}`);
    if (json !== shown[seq - 1]) wrong("X4", `${user} was shown another event ${seq}: ${json.slice(0, 200)}`);
    at = seq;
  };
  frames.forEach((text, n) => {
    const frame = JSON.parse(text) as Frame;
    if (n === 0 && frame.type !== "welcome") wrong("X5", `${user} was not welcomed`);
    switch (frame.type) {
      case "welcome": {
        const head = seqOf(frame["headCursor"]);
        if (head > shown.length) wrong("X4", `${user} was told of ${head} events, and there are ${shown.length}`);
        if (after === null) at = head;
        return;
      }
      case "reset": {
        const head = seqOf(frame["headCursor"]);
        const far =
          head - (at ?? 0) > LIMITS.catchUpEvents || bytesBetween(shown, at ?? 0, head) > LIMITS.catchUpBytes * 0.9;
        if (frame["reason"] !== "too_far_behind" || !far)
          wrong("X5", `${user} was reset (${String(frame["reason"])}) without need`);
        at = head;
        return;
      }
      case "events":
        for (const event of frame["events"] as { seq: number }[]) durable(event.seq, JSON.stringify(event));
        if (frame["cursor"] !== `${one.generation}.${at}`)
          wrong("X5", `${user}: a page ends at ${String(frame["cursor"])}, not ${at}`);
        return;
      case "event":
        durable((frame["event"] as { seq: number }).seq, text.slice(text.indexOf('"event":{') + 8, -1));
        if (frame["cursor"] !== `${one.generation}.${at}`)
          wrong("X5", `${user}: the cursor ${String(frame["cursor"])} of event ${at}`);
        return;
      case "partial":
        live.set(idOf(frame), String(frame["text"]));
        checkPreview(one, user, idOf(frame), live.get(idOf(frame)) ?? "", wrong);
        return;
      case "delta": {
        const id = idOf(frame);
        const known = live.get(id) ?? (frame["offset"] === 0 ? "" : null);
        if (known === null) return;
        if (known.length !== frame["offset"])
          wrong("X5", `${user}: a delta of ${id} at ${String(frame["offset"])}, not ${known.length}`);
        live.set(id, known + String(frame["text"]));
        checkPreview(one, user, id, live.get(id) ?? "", wrong);
        return;
      }
      default:
        return;
    }
  });
}

const idOf = (frame: Frame): string => `${String(frame["messageId"])}#${String(frame["attempt"])}`;
const seqOf = (cursor: unknown): number => Number(String(cursor).split(".")[1]);

function bytesBetween(shown: readonly string[], from: number, to: number): number {
  return shown.slice(from, to).reduce((sum, json) => sum + json.length, 0);
}

function checkPreview({ seen: { log } }: ConversationSeen, user: string, id: string, text: string, wrong: Wrong): void {
  const asked = log.find(
    (event) => event.type === "step.started" && `${event.data.messageId}#${event.data.attempt}` === id,
  );
  if (!asked) return wrong("X4", `${user}: a preview of ${id}, which was never asked for`);
  const queued = log.find(({ type, runId }) => type === "run.queued" && runId === asked.runId);
  const name = queued?.type === "run.queued" ? (queued.data.input.text.split(" ")[0] ?? "") : "";
  if (!lastWords(name).startsWith(text))
    wrong("X4", `${user}: a preview of ${id} that nobody wrote: ${text.slice(0, 80)}`);
}
