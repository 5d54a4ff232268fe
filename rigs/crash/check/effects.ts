/**
 * X6, X7, X8, X11: every request that came to the backend against the log, and what became of each call against what the
 * backend really did.
 */
import type { CallStory, Story } from "../../../sim/check/story.ts";
import type { Event, EventOf } from "../../../src/protocol/events.ts";
import { groupBy } from "../../common/figures.ts";
import type { BackendRequest, ConversationSeen, Kill, Wrong } from "../seen.ts";

export interface Windows {
  killed: number;
  provedOrUnknown: number;
}

/** The clocks of two processes on one machine, and a clock that stands still between events. */
const CLOCK_MS = 2;

export function checkEffects(one: ConversationSeen, story: Story, wrong: Wrong): void {
  const { log } = one.seen;
  const sent = groupBy(one.requests, ({ key }) => key);
  for (const call of story.calls.values()) {
    const requests = sent.get(call.key) ?? [];
    for (const mode of ["execute", "probe"] as const) checkIntents(call, requests, log, mode, wrong);
    checkContent(call, requests, one, story, wrong);
    checkCount(call, requests, one, wrong);
    checkTruth(call, requests, one, wrong);
  }
}

/** X7: each request had an intent of its own, committed before it came. */
function checkIntents(
  { id }: CallStory,
  requests: readonly BackendRequest[],
  log: readonly Event[],
  mode: BackendRequest["mode"],
  wrong: Wrong,
): void {
  const arrived = requests.filter((request) => request.mode === mode).map(({ at }) => at);
  const intended = log.flatMap((event) =>
    event.type === "tool_call.started" && event.data.toolCallId === id && event.data.mode === mode
      ? [Date.parse(event.at)]
      : [],
  );
  if (!eachHasItsOwn(arrived, intended)) {
    wrong("X7", `${id} came (${mode}) at ${arrived.join()} with intents at ${intended.join()}`);
  }
}

/** Whether every arrival can be given an intent that is not younger than it, and nobody else's. */
export function eachHasItsOwn(arrived: readonly number[], intended: readonly number[]): boolean {
  const intents = intended.toSorted((a, b) => a - b);
  return arrived.toSorted((a, b) => a - b).every((at, n) => (intents[n] ?? Infinity) <= at + CLOCK_MS);
}

/** X7, X8: with these very arguments, for this very person, after a yes that was needed. */
function checkContent(
  call: CallStory,
  requests: readonly BackendRequest[],
  { seen: { log } }: ConversationSeen,
  story: Story,
  wrong: Wrong,
): void {
  const executed = requests.filter(({ mode }) => mode === "execute");
  const [first] = executed;
  if (!first) return;
  const args = argsOf(call.id, log);
  const starter = story.runs.get(call.runId)?.by;
  for (const { body, caller } of executed) {
    const { recipient_id, amount_cents, note } = body as Record<string, unknown>;
    const same =
      call.tool === "book_note"
        ? recipient_id === "notes" && amount_cents === 1 && note === args["text"]
        : recipient_id === args["recipient_id"] && amount_cents === args["amount_cents"];
    if (!same)
      wrong("X7", `${call.id} came with other arguments: ${JSON.stringify(body)}, not ${JSON.stringify(args)}`);
    if (caller !== starter) wrong("X20", `${call.id} came for ${caller}, and is ${starter}'s`);
  }
  if (!call.gated) return;
  const yes = log.find(
    (event) =>
      event.type === "confirmation.decided" &&
      event.data.toolCallId === call.id &&
      event.data.closed &&
      event.data.decision !== "reject",
  );
  if (!yes || Date.parse(yes.at) > first.at + CLOCK_MS) wrong("X8", `${call.id} came without a yes`);
}

/** The arguments as they were last decided. */
function argsOf(id: string, log: readonly Event[]): Record<string, unknown> {
  let args: unknown = {};
  for (const event of log) {
    if (event.type === "tool_call.proposed" && event.data.toolCallId === id) args = event.data.args;
    if (event.type !== "confirmation.decided" || event.data.toolCallId !== id) continue;
    if (event.data.args !== undefined) args = event.data.args;
  }
  return args as Record<string, unknown>;
}

/** X6. People here say that something did not happen only where it did not, so a second booking is always one too many. */
function checkCount(call: CallStory, requests: readonly BackendRequest[], one: ConversationSeen, wrong: Wrong): void {
  const executed = requests.filter(({ mode }) => mode === "execute").length;
  const effects = one.effects[call.key] ?? 0;
  if (call.effect === "once" && executed > 1 + call.freshly) {
    wrong("X6", `${call.id} acts once, and came ${executed} times after ${call.freshly} words that it had not`);
  }
  const repeatable = call.effect === "idempotent" && !one.dedup;
  if (effects > 1 && !repeatable) wrong("X6", `${call.id} (${call.effect}) was done ${effects} times`);
}

/** X11: `failed`, `cancelled` and `succeeded` are only for proof. */
function checkTruth(call: CallStory, requests: readonly BackendRequest[], one: ConversationSeen, wrong: Wrong): void {
  if (call.effect === "read" || call.resolved !== null || call.freshly > 0) return;
  const effects = one.effects[call.key] ?? 0;
  const answered = requests.filter(({ answered }) => answered !== null);
  const denied = ["failed", "cancelled", "rejected", "expired"].includes(call.state);
  if (denied && effects > 0) wrong("X11", `${call.id} is ${call.state}, and was done`);
  if (denied && requests.length > 0 && !answered.some(({ answered }) => isRefusal(answered))) {
    wrong("X11", `${call.id} is ${call.state} without proof`);
  }
  if (call.state === "succeeded" && !answered.some(({ answered }) => isSuccess(answered))) {
    wrong("X11", `${call.id} succeeded, and nobody said so`);
  }
  if (call.state === "succeeded" && effects === 0) wrong("X11", `${call.id} succeeded, and was not done`);
}

const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;
const isRefusal = (status: number | null): boolean => status !== null && status >= 400 && status < 500;

/** X11: a call whose sender was killed between sending and recording is proved afterwards, or said to be unknown. */
export function checkWindows(one: ConversationSeen, kills: readonly Kill[], windows: Windows, wrong: Wrong): void {
  const { log } = one.seen;
  const proposed = log.filter((event) => event.type === "tool_call.proposed");
  for (const { key, at, kind } of kills) {
    const call = proposed.find(({ data }) => data.idempotencyKey === key);
    if (key === undefined || !call) continue;
    windows.killed += 1;
    const { toolCallId, effect } = call.data;
    const later = ({ at: time }: { readonly at: string }): boolean => Date.parse(time) >= at - CLOCK_MS;
    const cut = log.findLast(
      (event): event is EventOf<"tool_call.started"> =>
        event.type === "tool_call.started" &&
        event.data.toolCallId === toolCallId &&
        Date.parse(event.at) <= at + CLOCK_MS,
    );
    // Said before, it is said of this attempt: a stop that settled while the answer was on its way.
    const unknown = log.find(
      (event): event is EventOf<"tool_call.became_unknown"> =>
        event.type === "tool_call.became_unknown" &&
        event.data.toolCallId === toolCallId &&
        (later(event) || event.data.attempt === cut?.data.attempt),
    );
    const proof = one.requests.some((request) => request.key === key && request.at > at && request.answered !== null);
    const finished = log.some(
      (event) => event.type === "tool_call.finished" && event.data.toolCallId === toolCallId && later(event),
    );
    if (unknown || (finished && proof && effect !== "once")) windows.provedOrUnknown += 1;
    else wrong("X11", `${toolCallId} (${effect}) was cut by a kill (${kind}), and is neither proved nor unknown`);
  }
}
