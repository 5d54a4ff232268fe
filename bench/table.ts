/** Figures against their budgets, as rows for programs and as a table for people. */
import { BUDGETS, type Budget } from "./budgets.ts";
import { median } from "./measure/quantile.ts";
import type { Side } from "./measure/side.ts";

export interface Row {
  readonly workload: string;
  readonly metric: string;
  readonly unit: Budget["unit"];
  readonly ours: number;
  /** Of the floor, or of ours when it is small; null: there is nothing to compare with. */
  readonly floor: number | null;
  readonly ratio: number | null;
  readonly budget: number | null;
  readonly missed: boolean;
  /** What others need, and how many times ours: told, not bounded. */
  readonly peers?: Readonly<Record<string, { readonly value: number; readonly timesOurs: number }>>;
}

const PER_UNIT: Readonly<Record<Budget["unit"], number>> = { ms: 1_000, µs: 1, bytes: 1, count: 1, MB: 1 };

/** Three digits that mean something, whatever the size. */
const rounded = (value: number): number => Number(value.toPrecision(3));

/** @param slack factor of every budget that is a ratio, for the noise of a short run */
export function rowsOf(sides: readonly Side[], slack: number): Row[] {
  const samplesOf = (name: string, metric: string) => sides.find(({ peer }) => peer.name === name)?.of(metric) ?? [];
  return BUDGETS.flatMap(({ workload, metric, samples, unit, budget, of, against }) => {
    const mine = median(samplesOf("ours", samples));
    const theirs = median(against === undefined ? samplesOf("floor", samples) : samplesOf("ours", against));
    if (Number.isNaN(mine)) return [];
    const compared = of !== "value" && !Number.isNaN(theirs);
    const ratio = compared ? mine / theirs : null;
    const bound = budget === null ? null : of === "value" ? budget : budget * slack;
    const figure = of === "value" ? mine : ratio;
    const peers = sides.flatMap(({ peer: { name } }) => {
      const value = median(samplesOf(name, samples));
      if (of !== "ratio" || name === "ours" || name === "floor" || Number.isNaN(value)) return [];
      return [[name, { value: rounded(value / PER_UNIT[unit]), timesOurs: rounded(value / mine) }] as const];
    });
    return [
      {
        workload,
        metric,
        unit,
        ours: rounded(mine / PER_UNIT[unit]),
        floor: compared ? rounded(theirs / PER_UNIT[unit]) : null,
        ratio: ratio === null ? null : rounded(ratio),
        budget: bound,
        missed: bound !== null && figure !== null && figure > bound,
        ...(peers.length > 0 ? { peers: Object.fromEntries(peers) } : {}),
      },
    ];
  });
}

export function tableOf(rows: readonly Row[]): string {
  const others = [...new Set(rows.flatMap(({ peers = {} }) => Object.keys(peers)))];
  const cells = rows.map(({ workload, metric, unit, ours, floor, ratio, budget, missed, peers }) => [
    workload,
    metric,
    `${ours} ${unit}`,
    floor === null ? "" : `${floor} ${unit}`,
    ratio === null ? "" : `${ratio.toFixed(2)} ×`,
    budget === null ? "" : ratio === null ? `≤ ${budget}` : `≤ ${budget} ×`,
    missed ? "over" : "",
    ...others.map((name) => {
      const peer = peers?.[name];
      return peer ? `${peer.value} ${unit} (${peer.timesOurs} ×)` : "";
    }),
  ]);
  const table = [["", "", "ours", "floor", "ratio", "budget", "", ...others], ...cells];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  return table.map(line).join("\n");
}
