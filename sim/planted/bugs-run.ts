/** Planted in the core: what a doubt, a yes and an end are. */
import { bug, likelyIn, type PlantedBug } from "./bug.ts";

export const RUN_BUGS: readonly PlantedBug[] = [
  // Doubt.
  bug(
    "an ambiguous act has failed",
    500,
    "run/rule-tool.ts",
    'case "once":\n      return becomeUnknown(draft, run, call, reason, error);',
    'case "once":\n      return finish(draft, run, call, "failed", payload);',
  ),
  likelyIn(
    "doubt",
    bug(
      "a refusal after doubt is proof",
      3_000,
      "run/rule-tool.ts",
      'if (call.effect === "read" || !call.ambiguous || speaksForKey) return finish',
      "return finish",
    ),
  ),
  likelyIn(
    "doubt",
    bug(
      "an answer of an earlier attempt counts",
      2_000,
      "run/rule-tool.ts",
      'call?.state === "executing" && input.attempt === call.attempt && input.incarnation',
      'call?.state === "executing" && input.incarnation',
    ),
  ),
  likelyIn(
    "stop",
    bug(
      "what was out when the stop came was not done",
      1_000,
      "run/ending.ts",
      'const sent = call.state === "executing" || call.ambiguous;',
      "const sent = call.ambiguous;",
    ),
  ),
  likelyIn(
    "stop",
    bug(
      "a call is repeated while a stop settles",
      2_000,
      "run/rule-tool.ts",
      "if (run.halt) return settleCall(draft, run, call.id);",
      "",
    ),
  ),
  bug(
    "others act while one is in doubt",
    2_000,
    "run/advance.ts",
    "const acting = executing.some(isSideEffecting) || run.calls.some(isUnresolved);",
    "const acting = executing.some(isSideEffecting);",
  ),
  bug(
    "acts run side by side",
    1_000,
    "run/advance.ts",
    "return isSideEffecting(one) ? !acting : reads < PARALLEL_READS;",
    "return isSideEffecting(one) || reads < PARALLEL_READS;",
  ),
  likelyIn(
    "doubt",
    bug(
      "a retry passes over an unknown call",
      4_000,
      "run/rule-start.ts",
      "if (latest.calls.some(isUnresolved)) {",
      "if (latest.calls.some(isUnresolved) && latest.n < 0) {",
    ),
  ),
  // Confirmations.
  bug(
    "a yes to other arguments counts",
    2_000,
    "run/rule-decide.ts",
    "if (one.argsDigest !== call.argsDigest) {",
    "if (one.argsDigest === '') {",
  ),
  bug(
    "an expired question can be answered",
    3_000,
    "run/rule-time.ts",
    "if (isDue(draft, call.expiresAt) && isOpen(call)) expire",
    'if (isDue(draft, call.expiresAt) && isOpen(call) && call.state !== "awaiting_confirmation") expire',
  ),
  bug(
    "a yes does not expire",
    3_000,
    "run/rule-time.ts",
    'call.state === "awaiting_confirmation" || call.state === "approved"',
    'call.state === "awaiting_confirmation"',
  ),
  bug(
    "a quorum is one short",
    1_500,
    "run/rule-decide.ts",
    "gate.quorum - approvals(call).length - 1",
    "gate.quorum - approvals(call).length - 2",
  ),
  bug(
    "one person is a quorum",
    3_000,
    "run/rule-decide.ts",
    'one.decision === "approve" ? approvals(call).find(({ by }) => by.id === principal.userId) : undefined;',
    "principal.userId === '' ? approvals(call)[0] : undefined;",
  ),
  bug(
    "anybody may decide",
    3_000,
    "run/authority.ts",
    'if (starter === principal.userId || may(roleOf(state, principal), "decide")) return null;',
    "if (starter !== '') return null;",
  ),
  bug(
    "gated calls start while others are undecided",
    1_500,
    "run/advance.ts",
    "if (one.gate !== null && open) return false;",
    "void open;",
  ),
  // Runs and their order.
  bug("the queue is a stack", 1_500, "run/advance.ts", "const [run] = state.queue;", "const run = state.queue.at(-1);"),
  bug(
    "the end of a run loses the queue",
    500,
    "run/evolve.ts",
    "queue: state.queue.filter((queued) => queued !== run),",
    "queue: [],",
  ),
  bug(
    "a run ends twice",
    100,
    "run/ending.ts",
    "  const now = draft.state.active?.id === run.id ? draft.run : run;\n  draft.emit(\n    TERMINAL[STOPS[stop.code].status],",
    '  const now = draft.state.active?.id === run.id ? draft.run : run;\n  if (stop.code === "final_answer") draft.emit("run.completed", by, { stop, usage: now.usage, sideEffects: sideEffectsOf(now), needsConfirmation: false, steps: now.steps }, run.id);\n  draft.emit(\n    TERMINAL[STOPS[stop.code].status],',
  ),
  bug(
    "a run has no deadline",
    1_500,
    "run/rule-time.ts",
    "if (isDue(draft, run.deadlineAt)) return outlived(draft, partial);",
    "",
  ),
  bug(
    "the clock of a run goes on while it waits",
    3_000,
    "run/evolve-run.ts",
    "        interrupted: true,\n        deadlineAt: null,",
    "        interrupted: true,",
  ),
];
