/**
 * Every instant at which an object writes or hands over, in every state that a call can stand in, and the object dies
 * there: before the writes of its turn are durable, as soon as they are, or by being put out of memory. What comes after
 * is what would have come, or says honestly what it cannot know.
 *
 * Alarms are the platform's own. In every second case nobody speaks to the dead object before its alarm could.
 */
import { describe, expect, test } from "vitest";
import { orderedErrors } from "../worker/harness/life.ts";
import { DEATHS, POINTS, STANDINGS, type Arm } from "./points.ts";
import { isReachable, STORIES, type Story } from "./stories.ts";
import { Theatre, type Played } from "./theatre.ts";

/** An instant can be missed: the alarm may come a moment before the state, or after it. */
const TRIES = 4;
/** Of the cases of a story that share a conversation. */
const SHARE = 16;

const armsOf = ({ held }: Story): Arm[] =>
  POINTS.filter((point) => isReachable(point, held)).flatMap((point) =>
    DEATHS.map((death) => ({ point, standing: held, death })),
  );

const shares = Object.entries(STORIES).flatMap(([name, story]) => {
  const arms = armsOf(story);
  const parts = Math.ceil(arms.length / SHARE);
  return Array.from({ length: parts }, (_, part) => ({
    name,
    part: part + 1,
    parts,
    arms: arms.slice(Math.round((part * arms.length) / parts), Math.round(((part + 1) * arms.length) / parts)),
  }));
});

let woken = 0;

describe.concurrent("an object dies while a call", () => {
  test.for(shares)("$name ($part of $parts)", async ({ name, arms }) => {
    const story = STORIES[name];
    if (!story) throw new Error(`there is no story ${name}`);
    const theatre = await Theatre.open(story);
    for (const [n, arm] of arms.entries()) {
      const played = await untilHit(theatre, arm, n % 2 === 1);
      expect(played, say(arm)).toMatchObject({ hit: true });
      expect(honest(story, played), `${say(arm)}: ${played.call?.state}, done ${played.done} times`).toBe(true);
      if (played.wokenByAlarm) woken += 1;
    }
    await theatre.close();
  });
});

test("there is a story for every state, and the alarm alone has brought objects back", () => {
  expect(new Set(Object.values(STORIES).map(({ held }) => held))).toEqual(new Set(STANDINGS));
  expect(orderedErrors().length).toBeGreaterThan(0);
  expect(woken).toBeGreaterThan(0);
});

async function untilHit(theatre: Theatre, arm: Arm, silent: boolean): Promise<Played> {
  for (let tries = 1; ; tries++) {
    const played = await theatre.play(arm, silent);
    if (played.hit || tries === TRIES) return played;
  }
}

/** What the log says of the call against what the backend has done. */
function honest({ plan }: Story, { call, done }: Played): boolean {
  const repeatable = plan.includes("idempotent");
  if (done > 1 && !repeatable) return false;
  switch (call?.state) {
    case "succeeded":
      return done > 0;
    case "unknown":
      return true;
    default:
      return done === 0;
  }
}

const say = ({ point, standing, death }: Arm): string => `${point} × ${standing} × ${death}`;
