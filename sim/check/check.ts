/**
 * The invariants X1–X19 (reliability-security §2.6, as its header amends them), from what was seen outside. Each part
 * reads the observation; none reads the core's state.
 */
import type { Observation, Violation } from "../observation.ts";
import type { Plan } from "../plan.ts";
import { checkCommands } from "./commands.ts";
import { checkEffects } from "./effects.ts";
import { checkHistory } from "./history.ts";
import { checkLog } from "./log.ts";
import { checkRest } from "./rest.ts";
import { checkWatching } from "./watching.ts";

export function check(seen: Observation, plan: Plan): Violation[] {
  const violations: Violation[] = [];
  const wrong = (law: string, says: string) => {
    if (violations.length < 50) violations.push({ law, says });
  };
  const story = checkLog(seen, wrong);
  checkCommands(seen, wrong);
  checkEffects(seen, story, wrong);
  checkWatching(seen, plan, wrong);
  checkHistory(seen, wrong);
  checkRest(seen, story, plan, wrong);
  return violations;
}
