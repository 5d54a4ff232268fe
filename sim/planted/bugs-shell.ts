/** Planted around the core: the order of writing and doing, keys, waking, storage, watching, the history. */
import { bug, likelyIn, type PlantedBug } from "./bug.ts";

export const SHELL_BUGS: readonly PlantedBug[] = [
  // The order of writing, showing and doing.
  bug(
    "effects leave before their intent is durable",
    300,
    "actor/writer.ts",
    "    this.#deps.journal.commit({",
    "    const late = this.#deps.journal.commit.bind(this.#deps.journal);\n    ((commit: Parameters<typeof late>[0]) => void Promise.resolve().then(() => late(commit)).catch(() => undefined))({",
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
        find: "decided.events);\n    this.#deps.committed(encoded, decided.state);",
        replace: "decided.events);",
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
    "    this.#lost.set(key, effect);\n    log",
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
    "if (!wanted.has(key) && !flight.settled) flight.controller.abort();",
    "if (!wanted.has(key) && !flight.settled && flight.effect.kind === 'tool') flight.controller.abort();",
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
    "      const checkpoint = this.#ports.journal.checkpoint();",
    "      if (state.seq > 0) return this.#reminders.armAnew(state);\n      const checkpoint = this.#ports.journal.checkpoint();",
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
    "if (standing !== null && standing <= this.#clock.now()) this.alarmFired();",
    "void standing;",
  ),
  bug(
    "the alarm is not set again",
    1_000,
    "actor/reminders.ts",
    "if (standing !== null && standing <= earliest) return;",
    "if (standing !== null) return;",
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
  likelyIn(
    "history",
    bug(
      "the history is marked before it has answered",
      3_000,
      "history/batch-writer.ts",
      "    const landed = statements && (await this.#try(statements));",
      "    this.#mark(events.at(-1)?.seq ?? 0);\n    const landed = statements && (await this.#try(statements));",
    ),
  ),
  likelyIn(
    "history",
    bug(
      "the history is written twice",
      2_000,
      "history/statement.ts",
      "g.generation = ?3 AND (g.seq = ?4 - 1 OR EXISTS (",
      "g.generation = ?3 AND (g.seq <> ?4 - 1 OR g.seq = ?4 - 1 OR EXISTS (",
    ),
  ),
  {
    name: "one refusal makes a hole, which is known afterwards",
    within: 20_000,
    likely: "history",
    changes: [
      {
        file: "history/batch-writer.ts",
        find: "    const refusals = before >= REFUSALS ? before : before + 1;\n    if (refusals !== before) journal.park(seq, reason);\n",
        replace: "    const refusals = REFUSALS;\n    void before;\n",
      },
      {
        file: "history/batch-writer.ts",
        find: "    this.#onHole(seq, refusals);\n",
        replace: "    journal.park(seq, reason);\n    this.#onHole(seq, refusals);\n",
      },
    ],
  },
  likelyIn(
    "history",
    bug(
      "what comes after a hole has the last word on it",
      20_000,
      "history/fill.ts",
      "      before: [forget(FORGET_CALL, ...call), forget(FORGET_CONFIRMATION, ...call)],\n",
      "",
    ),
  ),
  likelyIn(
    "history",
    bug(
      "a failed drain is not tried again",
      2_000,
      "actor/reminders.ts",
      "    if (this.#outbox() === at) return;\n    this.#outboxAt = at;\n    this.#journal.setTimers({ outbox: at });",
      "    void at;\n    this.#outboxAt = null;\n    this.#journal.setTimers({ outbox: null });",
    ),
  ),
];
