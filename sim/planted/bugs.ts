/** The bugs that the simulation must find: each is a small change of a source, as somebody could make it by mistake. */
export interface PlantedBug {
  readonly name: string;
  /** It is found within so many schedules. */
  readonly within: number;
  readonly changes: readonly Change[];
}

export interface Change {
  /** Below `src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const bug = (name: string, within: number, file: string, find: string, replace: string): PlantedBug => ({
  name,
  within,
  changes: [{ file, find, replace }],
});

export const BUGS: readonly PlantedBug[] = [
  // The order of writing, showing and doing.
  bug(
    "effects leave before their intent is durable",
    300,
    "actor/writer.ts",
    "    this.#deps.journal.commit({",
    "    const late = this.#deps.journal.commit.bind(this.#deps.journal);\n    ((commit: Parameters<typeof late>[0]) => void setImmediate(() => late(commit)))({",
  ),
  {
    name: "watchers are told before the commit",
    within: 3_000,
    changes: [
      {
        file: "actor/writer.ts",
        find: "    this.#deps.journal.commit({",
        replace: "    this.#deps.committed(encoded, decided.state);\n    this.#deps.journal.commit({",
      },
      {
        file: "actor/writer.ts",
        find: "    this.#deps.timersSet(timers);\n    this.#deps.committed(encoded, decided.state);",
        replace: "    this.#deps.timersSet(timers);",
      },
    ],
  },
  bug(
    "time is not asked before an input",
    3_000,
    "actor/writer.ts",
    "const passed = this.#decide(this.#state, this.#timePassed(), now, causes);",
    'const passed = input.type === "time_passed" ? this.#decide(this.#state, this.#timePassed(), now, causes) : { state: this.#state, events: [], rejection: null };',
  ),
  bug(
    "an outcome that cannot be written is asked for again",
    3_000,
    "actor/performer.ts",
    "    this.#lost.add(key);\n    log",
    "    if (key !== '') return;\n    log",
  ),
  bug(
    "what is in flight is started again",
    100,
    "actor/performer.ts",
    "if (!this.#inFlight.has(key) && !this.#lost.has(key)) this.#start(key, effect);",
    "if (!this.#lost.has(key)) this.#start(key, effect);",
  ),
  bug(
    "a stop does not abort",
    500,
    "actor/performer.ts",
    "if (!wanted.has(key)) flight.controller.abort();",
    "if (!wanted.has(key) && flight.effect.kind === 'tool') flight.controller.abort();",
  ),
  // Keys.
  bug("a receipt answers any request", 1_500, "actor/keys.ts", "receipt.digest !== digest", "receipt.digest === ''"),
  bug(
    "receipts are not kept",
    500,
    "storage/journal.ts",
    "if (commit.receipt) caches.putReceipt(this.#db, commit.receipt);",
    "",
  ),
  // Waking.
  bug(
    "a new life does not say that it woke",
    500,
    "actor/actor.ts",
    'this.#writer.turn({ input: { type: "woke", ...partial } });',
    "void partial;",
  ),
  bug(
    "a call that acts once is repeated after a death",
    1_000,
    "run/rule-tool.ts",
    'case "once":\n      return becomeUnknown(draft, run, call, reason, error);',
    'case "once":\n      if (reason !== "interrupted") return becomeUnknown(draft, run, call, reason, error);\n      return startAttempt(draft, run, call, "execute", wait);',
  ),
  bug(
    "a committed step is asked again after a death",
    1_000,
    "run/rule-wake.ts",
    'if (run.step?.phase === "asking") interrupt',
    "if (run.step) interrupt",
  ),
  bug(
    "a stop that was settling is forgotten by a death",
    4_000,
    "run/rule-wake.ts",
    "if (run.halt) return settle(draft, partial);",
    "",
  ),
  bug(
    "a lost step is asked anew for ever",
    4_000,
    "run/rule-model.ts",
    "if (step.supersessions < ATTEMPTS.modelSupersessions) return",
    "if (step.supersessions >= 0) return",
  ),
  bug(
    "an overdue alarm is trusted by a new life",
    3_000,
    "actor/reminders.ts",
    "if (standing !== null && standing <= this.#clock.now()) this.#journal.alarmFired();",
    "void standing;",
  ),
  bug(
    "the alarm is not set again",
    1_000,
    "actor/reminders.ts",
    "if (standing === null || standing > earliest) this.#journal.setAlarm(earliest);",
    "if (standing === null) this.#journal.setAlarm(earliest);",
  ),
  // Doubt.
  bug(
    "an ambiguous act has failed",
    500,
    "run/rule-tool.ts",
    'case "once":\n      return becomeUnknown(draft, run, call, reason, error);',
    'case "once":\n      return finish(draft, run, call, "failed", payload);',
  ),
  bug(
    "a refusal after doubt is proof",
    3_000,
    "run/rule-tool.ts",
    'if (call.effect === "read" || !call.ambiguous || speaksForKey) return finish',
    "return finish",
  ),
  bug(
    "an answer of an earlier attempt counts",
    2_000,
    "run/rule-tool.ts",
    'call?.state === "executing" && input.attempt === call.attempt && input.incarnation',
    'call?.state === "executing" && input.incarnation',
  ),
  bug(
    "what was out when the stop came was not done",
    1_000,
    "run/ending.ts",
    'const sent = call.state === "executing" || call.ambiguous;',
    "const sent = call.ambiguous;",
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
  bug(
    "a retry passes over an unknown call",
    4_000,
    "run/rule-start.ts",
    "if (latest.calls.some(isUnresolved)) {",
    "if (latest.calls.some(isUnresolved) && latest.n < 0) {",
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
  // What is kept.
  bug(
    "the snapshot forgets the queue",
    1_500,
    "storage/journal.ts",
    "caches.putSnapshot(this.#db, state);",
    "caches.putSnapshot(this.#db, { ...state, queue: [] });",
  ),
  bug(
    "the snapshot is of another moment",
    2_000,
    "storage/caches.ts",
    'db.exec(PUT_SNAPSHOT, state.seq, state.foldVersion, spill(db, "snapshot", JSON.stringify(state)));',
    'db.exec(PUT_SNAPSHOT, state.seq, state.foldVersion, spill(db, "snapshot", JSON.stringify({ ...state, latest: null, runCount: state.runCount - 1 })));',
  ),
  bug(
    "a cold start does not tell the model what was decided",
    4_000,
    "actor/transcript-events.ts",
    '  "confirmation.decided",\n',
    "",
  ),
  // Watching.
  bug(
    "a cursor is one too far",
    1_000,
    "stream/greeting.ts",
    "after: position.seq, limit",
    "after: position.seq + 1, limit",
  ),
  bug(
    "a place that was taken away is still watched from",
    4_000,
    "stream/audience.ts",
    '?? (isOperator(state, principal) ? "editor" : null)',
    '?? "editor"',
  ),
  bug(
    "viewers see everything",
    2_000,
    "protocol/redaction.ts",
    'may(role, "read_details") || starter === userId',
    'may(role, "read_messages") || starter === userId',
  ),
  // The history.
  bug(
    "the history is marked before it has answered",
    3_000,
    "history/drain.ts",
    "const reached = this.#reached(await writer.write(batch), batch, subject);",
    "this.#mark(batch.at(-1)?.seq ?? 0);\n      const reached = this.#reached(await writer.write(batch), batch, subject);",
  ),
  bug(
    "the history is written twice",
    2_000,
    "history/statement.ts",
    "g.generation = ?3 AND (g.seq = ?4 - 1 OR EXISTS (",
    "g.generation = ?3 AND (g.seq <> ?4 - 1 OR g.seq = ?4 - 1 OR EXISTS (",
  ),
  bug(
    "a failed drain is not tried again",
    2_000,
    "actor/reminders.ts",
    "    if (this.#outbox() === at) return;\n    this.#outboxAt = at;\n    this.#journal.setTimers({ outbox: at });",
    "    void at;\n    this.#outboxAt = null;\n    this.#journal.setTimers({ outbox: null });",
  ),
];
