/** Microseconds on the machine's monotonic clock, which all its processes share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);
