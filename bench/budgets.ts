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
  /** `ratio`: ours to the floor's. `value`: ours alone. `growth`: ours to ours, see `against`. */
  readonly of: "ratio" | "value" | "growth";
  /** Our own samples that a growth is compared with. */
  readonly against?: string;
}

const ratio = (
  workload: string,
  metric: string,
  samples: string,
  unit: Budget["unit"],
  budget: number | null,
): Budget => ({ workload, metric, samples, unit, budget, of: "ratio" });

const growth = (
  metric: string,
  samples: string,
  against: string,
  budget: number,
  unit: Budget["unit"] = "ms",
): Budget => ({
  workload: "growth",
  metric,
  samples,
  against,
  unit,
  budget,
  of: "growth",
});

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
  ratio("W5", "200 conversations at once, CPU of the service", "W5 cpu", "ms", 2.5),
  {
    workload: "W5",
    metric: "the history's database",
    samples: "W5 cpu database",
    unit: "ms",
    budget: null,
    of: "value",
  },
  ratio("W5", "memory meanwhile", "W5 resident", "MB", null),
  ratio("W6", "turn with 1,000 prior turns, CPU", "W6 1000 cpu", "ms", 2),
  ratio("W6", "turn with 1,000 prior turns, model asked", "W6 1000 asked", "ms", null),
  ratio("W7", "catching up after 2,000 deltas", "W7 caught up", "ms", 2),
  ratio("W8", "confirm → tool called", "W8 called", "ms", 2),
  ratio("W8", "confirm → run ended", "W8 done", "ms", null),
  ratio("W9", "cancel → provider sees the abort", "W9 aborted", "ms", 1.5),
  ratio("W9", "cancel → run ended", "W9 ended", "ms", null),
  ratio("W10", "first message to a restarted actor", "W10 ack", "ms", 2),
  {
    workload: "rows",
    metric: "rows written, two confirmed calls and 15 s of text",
    samples: "rows long",
    unit: "count",
    budget: 60,
    of: "value",
  },
  { workload: "rows", metric: "commits of it", samples: "commits long", unit: "count", budget: null, of: "value" },
  {
    workload: "rows",
    metric: "rows written, short turn",
    samples: "rows short",
    unit: "count",
    budget: null,
    of: "value",
  },
  { workload: "rows", metric: "commits of it", samples: "commits short", unit: "count", budget: null, of: "value" },
  growth("bytes up of a turn, after 1,000 others against 10", "W6 1000 bytes up", "W6 10 bytes up", 1.1, "bytes"),
  growth("CPU of a turn, after 1,000 others against 10", "W6 1000 cpu", "W6 10 cpu", 3),
  growth("snapshot, 10,000 events against 7", "snapshot long", "snapshot short", 2),
  growth("a socket's greeting, 10,000 events against 7", "greeting long", "greeting short", 2),
  growth("list, 100,000 conversations against 100", "list many", "list few", 2),
  ratio("growth", "memory of a sleeping socket", "asleep resident", "MB", null),
  ratio("growth", "first message to a sleeping object", "woken ack", "ms", 2.5),
];
