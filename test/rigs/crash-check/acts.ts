/** X6 to X12: what the backend saw, against intents, yeses and what was said to have come of it. */
import { callOf, conversation, eventOf, events, found, requestOf, rewritten, type Wrong } from "./recording.ts";

export const WRONG_ACTS: readonly Wrong[] = [
  [
    "X6",
    "what acts once came twice",
    (seed) => {
      const one = conversation(seed, 0);
      one.requests.push({ ...requestOf(one, callOf(one, "book_note", "succeeded").idempotencyKey) });
    },
  ],
  [
    "X6",
    "what acts once was done twice",
    (seed) => {
      const one = conversation(seed, 0);
      one.effects[callOf(one, "book_note", "succeeded").idempotencyKey] = 2;
    },
  ],
  [
    "X7",
    "it came before its intent was durable",
    (seed) => {
      const one = conversation(seed, 0);
      requestOf(one, callOf(one, "book_note", "succeeded").idempotencyKey).at -= 60_000;
    },
  ],
  [
    "X7",
    "it came with other arguments",
    (seed) => {
      const one = conversation(seed, 1);
      const request = requestOf(one, callOf(one, "transfer_idempotent", "succeeded").idempotencyKey);
      request.body = { recipient_id: "somebody else", amount_cents: 500 };
    },
  ],
  [
    "X7",
    "something came that no log knows",
    (seed) => {
      seed.requests.push({ ...found(seed.requests[0], "request"), key: "nobody's" });
    },
  ],
  [
    "X8",
    "a yes that nobody gave",
    (seed) => {
      const one = conversation(seed, 1);
      one.seen.asked = one.seen.asked.filter(({ command }) => command.type !== "resume");
    },
  ],
  [
    "X8",
    "it came before the yes",
    (seed) => {
      const one = conversation(seed, 1);
      requestOf(one, callOf(one, "transfer_idempotent", "succeeded").idempotencyKey).at -= 60_000;
    },
  ],
  [
    "X9",
    "a call is decided twice",
    (seed) => {
      const one = conversation(seed, 1);
      const at = one.seen.log.findIndex(({ type }) => type === "confirmation.decided");
      one.seen.log.splice(at, 0, structuredClone(found(one.seen.log[at], "decision")));
      rewritten(one);
    },
  ],
  [
    "X10",
    "what waits is forgotten",
    (seed) => {
      const one = conversation(seed, 0);
      const snapshot = found(
        one.seen.snapshots.find(({ conversation: { pending } }) => pending.length > 0),
        "snapshot",
      );
      snapshot.conversation.pending = [];
    },
  ],
  [
    "X11",
    "what was cut is said to have succeeded",
    (seed) => {
      const one = conversation(seed, 0);
      requestOf(one, callOf(one, "book_note", "succeeded").idempotencyKey).answered = null;
    },
  ],
  [
    "X11",
    "what was done is said to have failed",
    (seed) => {
      const one = conversation(seed, 0);
      const { toolCallId } = callOf(one, "book_note", "succeeded");
      const end = events(one, "tool_call.finished").find(({ data }) => data.toolCallId === toolCallId);
      found(end, "end").data.state = "failed";
      rewritten(one);
    },
  ],
  [
    "X11",
    "a call that a kill cut is neither proved nor unknown",
    (seed) => {
      const key = callOf(conversation(seed, 0), "book_note", "succeeded").idempotencyKey;
      found(seed.kills[0], "kill").key = key;
    },
  ],
  [
    "X12",
    "something starts after the cancel",
    (seed) => {
      const one = conversation(seed, 0);
      const { seq, runId } = eventOf(one, "run.cancel_requested");
      const step = structuredClone(eventOf(one, "step.started"));
      one.seen.log.splice(seq, 0, { ...step, seq, ...(runId === undefined ? {} : { runId }) });
      rewritten(one);
    },
  ],
];
