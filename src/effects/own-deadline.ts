/**
 * When an effect ends itself: a moment before its deadline. At the deadline the core ends it, whatever happens here, and
 * then knows nothing of it: not the text that was shown, not what it cost, not that nothing was sent.
 */
const MOMENT_MS = 250;

/** @param limitMs how long the effect may take in all; of a short one only a part is the moment */
export const ownDeadline = (deadlineAt: number, limitMs: number): number =>
  deadlineAt - Math.min(MOMENT_MS, Math.round(limitMs / 10));
