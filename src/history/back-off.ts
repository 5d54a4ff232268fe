/** How long to wait before the next try: 1 s at first, twice as long each time, 5 min at most, never in step. */
const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/**
 * @param failures how many tries in a row have failed, at least 1
 * @param random of [0, 1): objects that failed together come back apart
 */
export function backOffMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 30));
  return Math.round(Math.max(FIRST_MS, full / 2 + (full / 2) * random));
}
