/** Percentiles by nearest rank, rounded to a tenth; null where there is nothing. */
export function percentile(values: readonly number[], p: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];
  return value === undefined ? null : Math.round(value * 10) / 10;
}

/** In the order of their first members. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Milliseconds since the epoch with a fraction: comparable between the processes of one machine. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A promise that is resolved from outside. */
export class Signal {
  readonly promise: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => (this.#resolve = resolve));
  }

  resolve(): void {
    this.#resolve();
  }
}
