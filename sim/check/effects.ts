/**
 * X6, X7, X8, X11, X12, X19: every request that left for a tool or for the model against the log as it was durable then;
 * and what became of each call against what the backend really did.
 */
import { ModelTranscript } from "../../src/effects/transcript.ts";
import type { ModelRequest, Observation, ToolRequest } from "../observation.ts";
import type { Story } from "./story.ts";
import type { CallStory } from "./story-parts.ts";

type Wrong = (law: string, says: string) => void;

export function checkEffects(seen: Observation, story: Story, wrong: Wrong): void {
  const sent = new Set<string>();
  for (const request of seen.tools) {
    const name = `${request.toolCallId}#${request.attempt}`;
    if (!request.zombie || request.effect === "once") {
      if (sent.has(name)) wrong("X6", `${name} was sent twice`);
      sent.add(name);
    }
    checkIntent(seen, request, wrong);
    checkApproval(seen, story.calls.get(request.toolCallId), request, wrong);
  }
  const byCall = new Map<string, ToolRequest[]>();
  for (const one of seen.tools) byCall.set(one.toolCallId, [...(byCall.get(one.toolCallId) ?? []), one]);
  for (const call of story.calls.values()) checkTruth(seen, call, byCall.get(call.id) ?? [], wrong);
  const asked = new Set<string>();
  for (const request of seen.models) {
    const name = `${request.runId}.s${request.step}#${request.attempt}`;
    // What it asks for costs, and changes nothing: its answer has no place to go.
    if (request.zombie) continue;
    if (asked.has(name)) wrong("X19", `${name} was asked twice`);
    asked.add(name);
    checkAsked(seen, request, wrong);
  }
  checkTranscripts(seen, wrong);
  checkOutcomes(seen, byCall, wrong);
  checkClosed(seen, wrong);
}

/** I5: an outcome is of the attempt that it names; what the tool said to another attempt is none. */
function checkOutcomes(seen: Observation, byCall: ReadonlyMap<string, readonly ToolRequest[]>, wrong: Wrong): void {
  for (const event of seen.log) {
    if (event.type !== "tool_call.finished" || event.data.state === "cancelled") continue;
    const { toolCallId, attempt, payload, state } = event.data;
    const code = payload.error?.code;
    if (code !== undefined && code !== "TOOL_REFUSES") continue;
    const request = byCall.get(toolCallId)?.find((one) => one.attempt === attempt);
    const kind = state === "succeeded" ? "ok" : "failed";
    if (request?.answer?.kind !== kind)
      wrong("X11", `${toolCallId}#${attempt} ${state}, and its tool said ${request?.answer?.kind ?? "nothing"}`);
  }
}

/** X12: a stop closes the request to the model within a second, where the object lives on. */
function checkClosed(seen: Observation, wrong: Wrong): void {
  for (const event of seen.log) {
    if (event.type !== "run.cancel_requested") continue;
    const at = Date.parse(event.at);
    const died = seen.blows.some((blow) => blow.at >= at && blow.at <= at + 1_000);
    if (died) continue;
    const open = seen.models.find(
      (one) => one.runId === event.runId && !one.zombie && one.at <= at && (one.closedAt ?? Infinity) > at + 1_000,
    );
    const lives = open && !seen.blows.some((blow) => blow.at >= open.at && blow.at <= at && blow.kind === "restart");
    if (open && lives) wrong("X12", `${open.runId}.s${open.step} was still open a second after the stop`);
  }
}

const upTo = (seen: Observation, head: number) => seen.log.slice(0, head);

/** X7: the intent was durable, with these arguments, this key, this attempt, by this life. */
function checkIntent(seen: Observation, request: ToolRequest, wrong: Wrong): void {
  const { toolCallId, attempt, head } = request;
  const intent = upTo(seen, head).find(
    (event) =>
      event.type === "tool_call.started" && event.data.toolCallId === toolCallId && event.data.attempt === attempt,
  );
  const name = `${toolCallId}#${attempt}`;
  if (intent?.type !== "tool_call.started") return wrong("X7", `${name} left (${head}) before its intent was durable`);
  const { argsDigest, idempotencyKey, mode, incarnation } = intent.data;
  if (argsDigest !== request.argsDigest) wrong("X7", `${name} left with other arguments`);
  if (idempotencyKey !== request.key) wrong("X7", `${name} left with another key`);
  if (mode !== request.mode) wrong("X7", `${name} left as ${request.mode}`);
  // A repeat that waited out its back-off is sent by the life that is there by then.
  if (incarnation > request.incarnation)
    wrong("X7", `${name} left for life ${request.incarnation}, meant for ${incarnation}`);
  if (request.zombie) return;
  const over = upTo(seen, head).find(
    (event) =>
      event.seq > intent.seq &&
      event.runId === runOf(toolCallId) &&
      (event.type === "run.cancel_requested" || event.type === "run.cancelled"),
  );
  if (over) wrong("X12", `${name} left after the stop of its run`);
}

const runOf = (toolCallId: string) => toolCallId.slice(0, toolCallId.lastIndexOf("."));

/** X8: a gated call was approved, by enough people, for these very arguments, before it left. */
function checkApproval(seen: Observation, call: CallStory | undefined, request: ToolRequest, wrong: Wrong): void {
  if (!call?.gated || request.mode === "probe") return;
  const yes = upTo(seen, request.head).filter(
    (event) =>
      (event.type === "confirmation.decided" || event.type === "tool_call.resolved") &&
      event.data.toolCallId === call.id,
  );
  const approved = yes.some(
    (event) =>
      event.type === "confirmation.decided" &&
      event.data.closed &&
      event.data.decision !== "reject" &&
      event.data.argsDigest === request.argsDigest,
  );
  if (!approved) wrong("X8", `${call.id} left without a yes to its arguments`);
  const no = upTo(seen, request.head).some(
    (event) =>
      (event.type === "confirmation.expired" && event.data.toolCallId === call.id) ||
      (event.type === "confirmation.decided" && event.data.toolCallId === call.id && event.data.decision === "reject"),
  );
  if (no) wrong("X8", `${call.id} left after a no`);
}

/** X6, X11: what the log says of a call against what was really sent and done. */
function checkTruth(seen: Observation, call: CallStory, sent: readonly ToolRequest[], wrong: Wrong): void {
  const executed = sent.filter(({ mode }) => mode === "execute");
  const applied = executed.filter((request) => request.applied).length;
  if (call.effect === "once" && executed.length > 1 + call.freshly) {
    wrong("X6", `${call.id} acts once, and was sent ${executed.length} times`);
  }
  if ((call.effect === "idempotent" || call.effect === "probeable") && applied > 1) {
    wrong("X6", `${call.id} was done ${applied} times`);
  }
  if (new Set(executed.map(({ key }) => key)).size > 1) wrong("X6", `${call.id} was sent with several keys`);
  if (call.effect === "read") return;
  const bySomebody = call.resolved !== null || call.freshly > 0;
  if (bySomebody) return;
  const { state } = call;
  const denied = ["failed", "cancelled", "rejected", "expired"].includes(state);
  if (denied && applied > 0) wrong("X11", `${call.id} is ${state}, and was done`);
  if (state === "failed" || state === "cancelled") checkProof(seen, call, sent, wrong);
  if (state === "succeeded" && !sent.some(({ answer }) => answer?.kind === "ok")) {
    wrong("X11", `${call.id} succeeded, and nobody said so`);
  }
}

/** `failed` is only for proof: a definitive answer, or nothing was ever sent; `cancelled` of a call that acts: never sent. */
function checkProof(seen: Observation, call: CallStory, sent: readonly ToolRequest[], wrong: Wrong): void {
  const end = seen.log.find((event) => event.type === "tool_call.finished" && event.data.toolCallId === call.id);
  if (!end || sent.length === 0) return;
  const said = sent.filter(({ answer }) => answer !== null);
  const proof = said.some(({ answer }) => answer?.kind === "failed" || answer?.kind === "absent");
  if (!proof) wrong("X11", `${call.id} is ${call.state} without proof`);
}

/** X12, X19: the step was being asked, by this attempt, and neither answered nor stopped. */
function checkAsked(seen: Observation, request: ModelRequest, wrong: Wrong): void {
  const { runId, step, attempt, head } = request;
  const name = `${runId}.s${step}#${attempt}`;
  let state: "unasked" | "asking" | "over" = "unasked";
  for (const event of upTo(seen, head)) {
    if (event.runId !== runId) continue;
    if (event.type === "step.started" && event.data.n === step && event.data.attempt === attempt) state = "asking";
    if (event.type === "step.finished" && event.data.n === step) state = "over";
    if (event.type === "step.superseded" && event.data.n === step && event.data.attempt === attempt) state = "over";
    if (ENDS.includes(event.type)) state = "over";
  }
  if (state === "unasked") wrong("X7", `${name} left (${head}) before it was durable`);
  if (state === "over") wrong("X19", `${name} left (${head}) after it was over`);
}

const ENDS: readonly string[] = ["run.cancel_requested", "run.completed", "run.failed", "run.cancelled"];

/** The model is told what a cold start would tell it from the log: nothing is lost or said twice by a long life. */
function checkTranscripts(seen: Observation, wrong: Wrong): void {
  const transcript = new ModelTranscript();
  const asked = new Map(
    seen.models.filter(({ zombie }) => !zombie).map((one) => [`${one.runId}.s${one.step}#${one.attempt}`, one]),
  );
  const big = seen.models.some(({ transcript: text }) => text.length > 20_000);
  if (big) return;
  for (const event of seen.log) {
    transcript.append(event, () => null);
    if (event.type !== "step.started") continue;
    const request = asked.get(`${event.runId}.s${event.data.n}#${event.data.attempt}`);
    if (request && request.transcript !== transcript.messages()) {
      wrong(
        "X10",
        `${event.runId}.s${event.data.n}#${event.data.attempt} was told something else than the log has: ${difference(request.transcript, transcript.messages())}`,
      );
    }
  }
}

function difference(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return `…${a.slice(Math.max(0, at - 20), at + 60)}… not …${b.slice(Math.max(0, at - 20), at + 60)}…`;
}
