/** Logs that nobody thought of: a seeded walk of inputs through the core, refusals included. */
import type { Command, Decision } from "../../src/protocol/commands.ts";
import type { ResolutionKind } from "../../src/protocol/tool-call.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";
import type { Facts, Input, ModelResult, ToolAnswer } from "../../src/run/inputs.ts";
import { outstanding, type Effect } from "../../src/run/outstanding.ts";
import { NO_USAGE } from "../../src/run/state.ts";
import { pendingCalls } from "../../src/run/status.ts";
import { ambiguous, person, Script, transfer } from "./script.ts";

/** Mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const PEOPLE = ["ann", "bob", "joe", "eve"].map((id) =>
  person(id, { scopes: ["confirmations:decide", "lab:transfer", "handover:operate"] }),
);

export function randomStory(seed: number, turns: number): Script {
  const random = randomOf(seed);
  const pick = <T>(...from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? (from[0] as T);
  const s = new Script({ n: seed });
  s.share("bob", pick("approver", "editor")).share("joe", "editor").share("eve", "viewer");
  const run = () => `${s.id}.r${1 + Math.floor(random() * Math.max(1, s.state.runCount))}`;
  const command = (asked: Command, facts: Facts = {}): Input => ({
    type: "command",
    command: asked,
    principal: random() < 0.5 ? (PEOPLE[0] ?? pick(...PEOPLE)) : pick(...PEOPLE),
    facts,
  });

  const start = (type: "start_run" | "retry_run"): Input => {
    const policy = {
      onLimit: pick("stop", "ask"),
      handoverOnLimit: random() < 0.3,
      modelRetries: pick(0, 1),
      cancelGraceMs: 10_000,
      backoffMs: 1_000,
    } as const;
    const facts = {
      start: { agentDigest: "a", limits: { ...RUN_LIMITS, maxSteps: pick(2, 25), maxToolErrors: 2 }, policy },
    };
    if (type === "retry_run") return command({ type, runId: run(), body: {} }, facts);
    const input = { text: pick("hello", "请重启服务", "two\nlines of   text", "x".repeat(200)) };
    return command({ type, body: { input, whenBusy: pick("enqueue", "enqueue", "replace") } }, facts);
  };

  const model = (effect: Effect): Input => {
    const usage = { ...NO_USAGE, inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, costMicroUsd: pick(4, null) };
    const effects = ["once", "idempotent", "probeable", "read"] as const;
    const calls = Array.from({ length: pick(1, 2, 3) }, () => {
      const kind = pick(...effects);
      const gate = { quorum: pick(1, 2), selfApproval: pick(true, false), expiresInMs: 600_000 };
      return transfer(Math.floor(random() * 9), {
        effect: kind,
        gate: kind === "read" || random() < 0.3 ? null : gate,
      });
    });
    const request = { digest: "d", model: "m", parameters: {} };
    const timing = { ms: pick(100, 900), firstByteMs: pick(7, null), requestBytes: pick(1_000, 5_000) };
    const answered = { kind: "answered", finishReason: "stop", usage, timing, request } as const;
    const results: readonly ModelResult[] = [
      { ...answered, verdict: "plan", text: { text: pick("", "好的 ok") }, calls },
      { ...answered, verdict: "plan", text: { text: "" }, calls },
      { ...answered, verdict: "final", text: { text: "done" }, calls: [] },
      { ...answered, verdict: "empty", text: { text: "" }, calls: [] },
      { ...answered, verdict: "truncated_calls", finishReason: "length", text: { text: "cut" }, calls },
      { kind: "no_budget", reason: "budget", retryAt: s.now + 60_000 },
      {
        kind: "failed",
        stop: { code: "model_error", detail: "x", retryable: true },
        text: { text: pick("", "half") },
        finishReason: null,
        usage,
      },
      {
        kind: "failed",
        stop: { code: "context_too_long", detail: "x", retryable: false },
        leavesOut: pick(0, 3),
        text: { text: "" },
        finishReason: null,
        usage,
      },
    ];
    return { ...named(effect), type: "model_answered", result: pick(...results) };
  };

  const tool = (effect: Effect): Input => {
    const payload = { ...s.payload(1), toolCallId: effect.id };
    const results: readonly ToolAnswer[] = [
      { kind: "ok", payload },
      { kind: "failed", payload: { ...payload, success: false }, proof: "definitive" },
      ambiguous(effect.id),
      { kind: "absent" },
    ];
    return { ...named(effect), type: "tool_answered", result: pick(...results) };
  };

  const answer = (): Input => {
    const waiting = [...(s.state.active ? pendingCalls(s.state.active) : []), ...(s.state.latest?.calls ?? [])];
    const call = pick(...waiting);
    if (!call) return start("start_run");
    const edit = {
      kind: "ready",
      args: { edited: true },
      argsDigest: `edited-${call.id}`,
      gate: call.gate ?? { quorum: 1, selfApproval: true, expiresInMs: 600_000 },
      changed: pick(true, false),
    } as const;
    const facts: Facts = {
      resume: {
        toolDigests: { [call.id]: pick("tool-1", "tool-1", "tool-2") },
        edits: { [call.id]: edit },
        results: {},
      },
    };
    const decision = pick<Decision["decision"]>("approve", "approve", "reject", "edit");
    const decisions = [
      {
        toolCallId: call.id,
        argsDigest: call.argsDigest,
        decision,
        ...(decision === "edit" ? { args: { edited: true } } : {}),
      },
    ];
    const outcome = pick<ResolutionKind>("happened", "did_not_happen", "give_up");
    const resolutions = [{ toolCallId: call.id, outcome, argsDigest: call.argsDigest }];
    const body = call.state === "unknown" ? { resolutions } : { decisions };
    return command({ type: "resume", runId: call.id.slice(0, call.id.lastIndexOf(".")), body }, facts);
  };

  const late = (): Input => {
    const call = pick(...(s.state.active?.calls ?? []), ...(s.state.latest?.calls ?? []));
    const result = { kind: "ok", payload: { ...s.payload(1), toolCallId: call?.id ?? "" } } as const;
    return { type: "tool_answered", effectId: call?.id ?? "", attempt: 1, incarnation: 0, result };
  };

  const granted = (): Input =>
    command(
      {
        type: "resume",
        runId: s.state.active?.id ?? run(),
        body: {
          continuations: [
            { limit: s.state.active?.continuation?.limit ?? "maxSteps", decision: pick("continue", "stop") },
          ],
        },
      },
      { resume: { toolDigests: {}, edits: {}, results: {} } },
    );

  const other = (): Input =>
    pick<Input>(
      { type: "woke" },
      late(),
      { type: "budget_changed" },
      { type: pick("budget_changed", "budget_changed", "paused") },
      { type: "budget_warned", percent: 80, scope: "tenant.tokensPerHour" },
      start("retry_run"),
      command({ type: "cancel_run", runId: run(), body: {} }),
      command({ type: "edit_run", runId: run(), body: { input: { text: "edited" } } }),
      command({ type: "drop_run", runId: run(), body: {} }),
      command({ type: "take_over", body: {} }),
      command({ type: "say_as_operator", body: { text: "a person speaks" } }),
      command({ type: "release_handover", body: {} }),
      command({ type: "put_participant", userId: pick("bob", "zoe", "kim"), body: { role: pick("viewer", "editor") } }),
      command({ type: "remove_participant", userId: pick("bob", "zoe", "kim"), body: {} }),
      command({ type: "update_conversation", body: { title: pick("One", "二"), archived: pick(true, false) } }),
      granted(),
    );

  for (let turn = 0; turn < turns; turn++) {
    // A pause is short: nothing goes on meanwhile.
    if (s.state.paused && random() < 0.4) s.offer({ type: "resumed" });
    if (s.state.active?.continuation && random() < 0.3) s.offer(granted());
    if (random() < 0.02) s.now += pick(30_000, 700_000, 90_000_000);
    const effect = pick(...outstanding(s.state, s.now));
    const dice = random();
    if (effect && dice < 0.45) s.offer(effect.kind === "model" ? model(effect) : tool(effect));
    else if (dice < 0.65) s.offer(answer());
    else if (dice < 0.8) s.offer(start("start_run"));
    else s.offer(other());
  }
  return s;
}

const named = ({ id, attempt, incarnation }: Effect) => ({ effectId: id, attempt, incarnation });
