/**
 * X1–X21 (reliability-security §2.6, as its header amends them) from what was seen outside of a killed service. What the
 * simulation's checker reads of a log and its commands holds here as it is; the rest is judged by arrival.
 */
import { checkCommands } from "../../../sim/check/commands.ts";
import { checkLog } from "../../../sim/check/log.ts";
import type { Violation } from "../../../sim/observation.ts";
import type { SeedSeen, Wrong } from "../seen.ts";
import { checkAnswers } from "./answers.ts";
import { checkEffects, checkWindows, type Windows } from "./effects.ts";
import { checkHistory } from "./history.ts";
import { checkModels } from "./models.ts";
import { checkSecrets } from "./secrets.ts";
import { checkWatching } from "./watching.ts";

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly windows: Windows;
}

const MOST = 100;

export function check(seed: SeedSeen): Verdict {
  const violations: Violation[] = [];
  const wrong: Wrong = (law, says) => {
    if (violations.length < MOST) violations.push({ law, says });
  };
  const windows: Windows = { killed: 0, provedOrUnknown: 0 };
  for (const one of seed.conversations) {
    const here: Wrong = (law, says) => wrong(law, `${one.mark}: ${says}`);
    const story = checkLog(one.seen, here);
    checkCommands(one.seen, here);
    checkAnswers(one, here);
    checkHistory(one, here);
    checkWatching(one, here);
    checkEffects(one, story, here);
    checkModels(one, here);
    checkWindows(one, seed.kills, windows, here);
    for (const says of one.stuck) here("X16", says);
    for (const run of story.runs.values()) if (run.status !== "ended") here("X16", `${run.id} is still ${run.status}`);
  }
  checkSecrets(seed, wrong);
  return { violations, windows };
}
