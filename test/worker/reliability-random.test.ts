/** Whatever people, model, backend and platform do, in whatever order: the laws hold, and the next run completes. */
import * as fc from "fast-check";
import { test } from "vitest";
import { settleAndCheck } from "./harness/random-laws.ts";
import { beginning, commands, type Known } from "./harness/random-talk.ts";
import { Talk } from "./harness/talk.ts";

test.concurrent.for([1, 2, 3, 4, 5])("six random stories (%d)", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(beginning, commands, async (first, story) => {
      const talk = await Talk.open({ otherwise: { text: "That is all." }, limits: { maxFirstByteMs: 2_500 } });
      const known: Known = { sent: [], runs: 0 };
      await first.op(talk, known);
      await fc.asyncModelRun(() => ({ model: known, real: talk }), story);
      await settleAndCheck(talk);
      talk.watcher.cut();
    }),
    { numRuns: 6, interruptAfterTimeLimit: 40_000, endOnFailure: true },
  );
});
