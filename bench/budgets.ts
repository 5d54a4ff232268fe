/** What the figures may be: ratios to the floor of the same run, or bounds of our own figure where there is no floor. */

export interface Budget {
  readonly workload: string;
  /** As people read it. */
  readonly metric: string;
  /** The samples' name. */
  readonly samples: string;
  /** Of the samples; the median where nothing is said. */
  readonly unit: "ms" | "µs" | "bytes" | "count" | "MB";
  /** null: told, not bounded. */
  readonly budget: number | null;
  /** `ratio`: ours to the floor's. `value`: ours alone. */
  readonly of: "ratio" | "value";
}

const ratio = (
  workload: string,
  metric: string,
  samples: string,
  unit: Budget["unit"],
  budget: number | null,
): Budget => ({ workload, metric, samples, unit, budget, of: "ratio" });

export const BUDGETS: readonly Budget[] = [
  ratio("W1", "durable acknowledgement of a keyed start", "W1 ack", "ms", 2),
  ratio("W1", "the same over HTTP, token checked", "W1h answer", "ms", 2),
  ratio("W1", "CPU of a short turn", "W1 cpu", "ms", null),
  ratio("W2", "the model's first words → client", "W2 first", "ms", 1.5),
  ratio("W2", "every delta → client, one each 5 ms", "W2 lag", "ms", null),
  ratio("W3", "2,000 deltas", "W3 2000 total", "ms", 2),
  ratio("W3", "2,000 deltas, CPU of each", "W3 2000 cpu", "µs", 2.5),
  ratio("W3", "2,000 deltas, bytes of each", "W3 2000 bytes", "bytes", 3),
  ratio("W3", "20,000 deltas", "W3 20000 total", "ms", 2),
  ratio("W3", "20,000 deltas, CPU of each", "W3 20000 cpu", "µs", 2.5),
  ratio("W3", "20,000 deltas, bytes of each", "W3 20000 bytes", "bytes", 3),
  ratio("W4", "50 watchers × 500 deltas, the last to have all", "W4 all", "ms", 1.7),
  { workload: "W4", metric: "deltas dropped", samples: "W4 dropped", unit: "count", budget: 0, of: "value" },
  ratio("W5", "200 conversations at once, p99", "W5 p99", "ms", 1.7),
  ratio("W5", "200 conversations at once, CPU", "W5 cpu", "ms", 2.5),
  ratio("W5", "memory meanwhile", "W5 resident", "MB", null),
  ratio("W6", "turn with 1,000 prior turns, CPU", "W6 1000 cpu", "ms", 2),
  ratio("W6", "turn with 1,000 prior turns, model asked", "W6 1000 asked", "ms", null),
  ratio("W7", "catching up after 2,000 deltas", "W7 caught up", "ms", 2),
  ratio("W8", "confirm → tool called", "W8 called", "ms", 2),
  ratio("W8", "confirm → run ended", "W8 done", "ms", null),
  ratio("W9", "cancel → provider sees the abort", "W9 aborted", "ms", 1.5),
  ratio("W9", "cancel → run ended", "W9 ended", "ms", null),
  ratio("W10", "first message after a crash", "W10 ack", "ms", 2),
];
