/** The first script that has something for what was said; else the model says what it knows. */
import type { Move, Turn } from "../turn.ts";
import { COMMON } from "./common.ts";
import { OPSPILOT, playOpspilot } from "./opspilot.ts";
import { PLANNER, playPlanner } from "./planner.ts";

export function chooseMove(turn: Turn): Move {
  const common = COMMON[turn.lang];
  const prompts = promptsOf(turn);
  const said = turn.said.trim();
  if (turn.handedBack) return { text: common.backAgain };
  if (common.story.test(said)) return { text: common.tale(), slow: true };
  const move = playPlanner({ ...turn, said }) ?? playOpspilot({ ...turn, said });
  if (move) return move;
  if (common.greeting.test(said)) return { text: common.welcome(prompts) };
  return { text: common.unknown(said, prompts) };
}

const STORY = { en: ["Tell me a long story"], zh: ["讲一个长故事"] } as const;

function promptsOf({ offered, lang }: Turn): readonly string[] {
  if (offered.has("list_plans")) return PLANNER[lang].prompts;
  return offered.has("list_services") ? OPSPILOT[lang].prompts : STORY[lang];
}
