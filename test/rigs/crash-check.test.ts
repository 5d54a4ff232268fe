/**
 * The checker of the killed service, fed with what two conversations really looked like from outside while their service
 * was killed eight times, and with the same seen wrongly: each law must notice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { check } from "../../rigs/crash/check/check.ts";
import type { ConversationSeen, SeedSeen } from "../../rigs/crash/seen.ts";
import type { Asked } from "../../sim/observation.ts";
import type { Event, EventOf, EventType } from "../../src/protocol/events.ts";

const RECORDED = gunzipSync(readFileSync(join(import.meta.dirname, "seen.json.gz"))).toString("utf8");

type Plain<T> = T extends (infer I)[] | readonly (infer I)[]
  ? Plain<I>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<T[K]> }
    : T;
type Wrongly = (seed: Plain<SeedSeen>) => void;

/** As the log's own text has it, after it was changed. */
function rewritten(one: Plain<ConversationSeen>): void {
  one.seen.logJson = one.seen.log.map((event) => JSON.stringify(event));
}

function found<T>(item: T | undefined, what: string): NonNullable<T> {
  if (item === undefined || item === null) throw new Error(`the recording has no ${what}`);
  return item;
}

const conversation = (seed: Plain<SeedSeen>, n: number) => found(seed.conversations[n], "such conversation");
const events = <T extends EventType>(one: Plain<ConversationSeen>, type: T) =>
  (one.seen.log as Event[]).filter((event): event is EventOf<T> => event.type === type) as Plain<EventOf<T>>[];
const eventOf = <T extends EventType>(one: Plain<ConversationSeen>, type: T) => found(events(one, type)[0], type);
const askedOf = (one: Plain<ConversationSeen>, type: Asked["command"]["type"]) =>
  found(
    one.seen.asked.find(
      ({ command, told }) => command.type === type && told.some(({ outcome }) => outcome.kind === "ok"),
    ),
    type,
  );
const callOf = (one: Plain<ConversationSeen>, tool: string, state: string) => {
  const finished = new Set(
    events(one, "tool_call.finished").flatMap(({ data }) => (data.state === state ? [data.toolCallId] : [])),
  );
  return found(
    events(one, "tool_call.proposed").find(({ data }) => data.tool === tool && finished.has(data.toolCallId)),
    `${tool} that ${state}`,
  ).data;
};
const requestOf = (one: Plain<ConversationSeen>, key: string) =>
  found(
    one.requests.find((request) => request.key === key),
    key,
  );
const liveFrames = (one: Plain<ConversationSeen>) =>
  found(
    one.connections.find(({ frames, user }) => user === one.approver && frames.filter(isLive).length > 2),
    "connection with live events",
  ).frames;
const isLive = (text: string) => text.startsWith('{"type":"event"');

const WRONG: readonly [law: string, what: string, wrongly: Wrongly][] = [
  [
    "X1",
    "an acknowledged start is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "run.queued").data.input.text = "#31-0-999 -";
      rewritten(one);
    },
  ],
  [
    "X1",
    "an acknowledged decision is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "confirmation.decided").data.reason = "another";
      rewritten(one);
    },
  ],
  [
    "X1",
    "an acknowledged cancel did not cancel",
    (seed) => {
      const one = conversation(seed, 0);
      const { command } = askedOf(one, "cancel_run");
      if (command.type === "cancel_run") command.runId = found(eventOf(one, "run.completed").runId, "run");
    },
  ],
  [
    "X1",
    "an acknowledged resolution is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "tool_call.resolved").data.outcome = "did_not_happen";
      rewritten(one);
    },
  ],
  [
    "X1",
    "the run that was answered was never queued",
    (seed) => {
      const [told] = askedOf(conversation(seed, 1), "start_run").told.filter(({ outcome }) => outcome.kind === "ok");
      if (told?.outcome.kind === "ok") told.outcome.body = told.outcome.body.replace(/\.r\d+"/, '.r99"');
    },
  ],
  [
    "X2",
    "one key gets two answers",
    (seed) => {
      const asked = askedOf(conversation(seed, 0), "start_run");
      const [told] = asked.told;
      asked.told.push({
        ...found(told, "answer"),
        outcome: { kind: "ok", status: 202, body: '{"id":"x"}', replayed: true },
      });
    },
  ],
  [
    "X2",
    "a command happened twice",
    (seed) => {
      const one = conversation(seed, 1);
      const [first, second] = events(one, "run.queued");
      found(second, "second run").data.input.text = found(first, "first run").data.input.text;
      rewritten(one);
    },
  ],
  [
    "X3",
    "the log has a gap",
    (seed) => {
      const one = conversation(seed, 0);
      one.seen.log.splice(20, 1);
      rewritten(one);
    },
  ],
  [
    "X3",
    "time goes back",
    (seed) => {
      const one = conversation(seed, 0);
      found(one.seen.log[40], "event").at = "2020-01-01T00:00:00.000Z";
      rewritten(one);
    },
  ],
  [
    "X4",
    "a watcher was shown other bytes",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      const at = frames.findIndex(isLive);
      frames[at] = found(frames[at], "frame").replace('"v":1', '"v":1,"more":true');
    },
  ],
  [
    "X4",
    "a watcher saw what is not durable",
    (seed) => {
      const one = conversation(seed, 0);
      one.seen.log.length -= 5;
      rewritten(one);
    },
  ],
  [
    "X4",
    "a viewer was shown the whole",
    (seed) => {
      const one = conversation(seed, 0);
      const shown = found(
        one.connections.find(({ user }) => user === one.approver),
        "approver's connection",
      );
      shown.user = one.viewer;
    },
  ],
  [
    "X4",
    "a preview of what nobody wrote",
    (seed) => {
      const one = conversation(seed, 0);
      const { messageId, attempt } = eventOf(one, "step.started").data;
      const delta = { type: "delta", messageId, attempt, part: 0, offset: 0, text: "something else" };
      found(one.connections[0], "connection").frames.push(JSON.stringify(delta));
    },
  ],
  [
    "X5",
    "an event did not come",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      frames.splice(frames.findIndex(isLive) + 1, 1);
    },
  ],
  [
    "X5",
    "an event came twice",
    (seed) => {
      const frames = liveFrames(conversation(seed, 0));
      const at = frames.findIndex(isLive);
      frames.splice(at, 0, found(frames[at], "frame"));
    },
  ],
  [
    "X5",
    "the client met a gap",
    (seed) => {
      found(conversation(seed, 1).followed[0], "client").gaps = 1;
    },
  ],
  [
    "X5",
    "the client has less than the log",
    (seed) => {
      found(conversation(seed, 1).followed[0], "client").events.pop();
    },
  ],
  [
    "X5",
    "a watcher was reset without need",
    (seed) => {
      const one = conversation(seed, 0);
      const reset = { type: "reset", reason: "too_far_behind", headCursor: `${one.generation}.3`, snapshot: {} };
      found(one.connections[0], "connection").frames.splice(1, 0, JSON.stringify(reset));
    },
  ],
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
  [
    "X13",
    "a run ends twice",
    (seed) => {
      const one = conversation(seed, 0);
      const at = one.seen.log.findIndex(({ type }) => type === "run.completed");
      one.seen.log.splice(at, 0, structuredClone(found(one.seen.log[at], "end")));
      rewritten(one);
    },
  ],
  [
    "X14",
    "a run starts while another is active",
    (seed) => {
      const one = conversation(seed, 0);
      const ends = one.seen.log.findIndex(({ type }) => type === "run.cancelled");
      one.seen.log.splice(ends, 1);
      rewritten(one);
    },
  ],
  [
    "X15",
    "what was answered before is later in the log",
    (seed) => {
      const one = conversation(seed, 1);
      const starts = one.seen.asked.filter(
        ({ command, told }) => command.type === "start_run" && told.some(({ outcome }) => outcome.kind === "ok"),
      );
      const [early, late] = [found(starts[0], "start"), found(starts.at(-1), "start")];
      for (const told of late.told) told.at = early.invokedAt - 1;
    },
  ],
  [
    "X16",
    "a run is stuck",
    (seed) => {
      conversation(seed, 0).stuck.push("r1 is still running");
    },
  ],
  [
    "X16",
    "a command is never answered",
    (seed) => {
      askedOf(conversation(seed, 0), "start_run").answeredAt = null;
    },
  ],
  [
    "X17",
    "a confirmation expires before its time",
    (seed) => {
      const one = conversation(seed, 0);
      const decided = eventOf(one, "confirmation.decided");
      const data = { toolCallId: decided.data.toolCallId, reason: "undecided", payload: decided.data.payload };
      Object.assign(decided, { type: "confirmation.expired", data });
      rewritten(one);
    },
  ],
  [
    "X18",
    "the history has another row",
    (seed) => {
      found(conversation(seed, 0).seen.rows["runs"]?.[0], "row")["status"] = "running";
    },
  ],
  [
    "X18",
    "the history lags for ever",
    (seed) => {
      found(conversation(seed, 0).seen.rows["conversations"]?.[0], "row")["seq"] = 3;
    },
  ],
  [
    "X18",
    "the history was ahead of the log",
    (seed) => {
      const { seen } = conversation(seed, 0);
      seen.history.push({ at: 0, head: seen.log.length, seq: seen.log.length + 1 });
    },
  ],
  [
    "X19",
    "a step was asked once too often",
    (seed) => {
      const one = conversation(seed, 1);
      one.models.push({ ...found(one.models[0], "request") }, { ...found(one.models[0], "request") });
      one.models.push({ ...found(one.models[0], "request") }, { ...found(one.models[0], "request") });
    },
  ],
  [
    "X20",
    "a call was made for somebody else",
    (seed) => {
      const one = conversation(seed, 1);
      requestOf(one, callOf(one, "transfer_idempotent", "succeeded").idempotencyKey).caller = "bo-1";
    },
  ],
  [
    "X20",
    "something of another conversation is shown",
    (seed) => {
      const frames = found(conversation(seed, 0).connections[0], "connection").frames;
      frames.push('{"type":"problem","problem":{"detail":"#31-1-1 transfer"}}');
    },
  ],
  [
    "X21",
    "a secret is in the output",
    (seed) => {
      seed.serviceLog += `authorization: ${found(seed.secrets[0], "secret")}`;
    },
  ],
];

it("finds nothing wrong with what was really seen, and counts the calls that were cut", () => {
  const { violations, windows } = check(JSON.parse(RECORDED) as SeedSeen);
  expect(violations).toEqual([]);
  expect(windows).toEqual({ killed: 4, provedOrUnknown: 4 });
});

it.each(WRONG)("%s: notices that %s", (law, _what, wrongly) => {
  const seed = JSON.parse(RECORDED) as Plain<SeedSeen>;
  wrongly(seed);
  const laws = new Set(check(seed as SeedSeen).violations.map((violation) => violation.law));
  expect([...laws]).toContain(law);
});

it("has a planted violation for every law that it judges", () => {
  const laws = new Set(WRONG.map(([law]) => law));
  const judged = Array.from({ length: 21 }, (_, n) => `X${n + 1}`);
  expect(judged.filter((law) => !laws.has(law))).toEqual([]);
});
