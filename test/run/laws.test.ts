/**
 * The laws over random histories: commands of everybody, answers of all kinds, crashes, jumps of time, outcomes that
 * come too late. `LAWS_RUNS` raises the number of histories, `LAWS_SEED` repeats one.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EVENT_DATA, type EventType } from "../../src/protocol/events.ts";
import { outstanding } from "../../src/run/outstanding.ts";
import { isUnresolved } from "../../src/run/status.ts";
import { Driver, type Setting } from "./driver.ts";
import * as kit from "./kit.ts";
import { moves } from "./moves.ts";
import { Player } from "./player.ts";

const RUNS = Number(process.env["LAWS_RUNS"] ?? 300);
const seed = process.env["LAWS_SEED"];
const OPTIONS = { numRuns: RUNS, ...(seed === undefined ? {} : { seed: Number(seed) }) };

/** Seconds on an idle machine; this is the bound of a busy one. */
const LONG = 60_000 + RUNS * 50;

const SETTINGS: readonly Setting[] = [
  {},
  { policy: { onLimit: "ask", modelRetries: 2 }, limits: { maxSteps: 3, maxToolErrors: 2 } },
  { policy: { handoverOnLimit: true, cancelGraceMs: 0 }, limits: { maxSteps: 4, maxRunMs: 30_000 } },
];
const setting = fc.constantFrom(...SETTINGS);

function played(history: Parameters<Player["play"]>[0][], of: Setting): Driver {
  const player = new Player(new Driver(of));
  for (const move of history) player.play(move);
  return player.driver;
}

/** People bring the conversation to rest: hand it back, say what became of things, answer, cancel what is left. */
function bringToRest(driver: Driver): void {
  if (driver.state.handover.state === "active")
    driver.release(driver.state.handover.operator === "olga" ? kit.olga : kit.alice);
  driver.input({ type: "resumed" });
  for (let turns = 0; driver.state.active; turns++) {
    if (turns > 100) throw new Error("the run does not end");
    driver.cancel(driver.state.active.n);
    driver.toDeadline();
  }
}

/** Not of runs, or not emitted by the core. */
const ELSEWHERE: readonly EventType[] = ["conversation.updated", "participant.removed", "participant.role_changed"];

test(
  "The random histories reach every event of a run, every terminal status and every way to become unknown",
  () => {
    const seen = new Set<string>();
    fc.sample(moves(50), { numRuns: 200, seed: 7 }).forEach((history, at) => {
      for (const event of played(history, SETTINGS[at % SETTINGS.length] ?? {}).log) {
        seen.add(event.type);
        if (event.type === "tool_call.became_unknown") seen.add(event.data.reason);
      }
    });
    const events = Object.keys(EVENT_DATA).filter((type) => !ELSEWHERE.some((one) => one === type));
    const wanted = [...events, "interrupted", "timeout", "ambiguous", "cancelled", "attempts_exhausted"];
    expect(wanted.filter((one) => !seen.has(one))).toEqual([]);
  },
  LONG,
);

describe("In every reachable state", () => {
  test(
    "the laws hold, the log folds to the state, and replay decides it again",
    () => {
      fc.assert(
        fc.property(moves(50), setting, (history, of) => played(history, of).finish()),
        OPTIONS,
      );
    },
    LONG,
  );

  test(
    "the conversation can be brought to rest, and then a new run is accepted and completes",
    () => {
      fc.assert(
        fc.property(moves(30), setting, (history, of) => {
          const driver = played(history, of);
          if (driver.state.deleted) return driver.start()?.code === "gone";
          bringToRest(driver);
          const refused = driver.start();
          if (refused) return false;
          driver.final();
          return driver.state.active === null && driver.state.latest?.stop?.code === "final_answer";
        }),
        { ...OPTIONS, numRuns: Math.ceil(RUNS / 2) },
      );
    },
    LONG,
  );

  test(
    "following the deadlines always moves on, until only people are waited for",
    () => {
      fc.assert(
        fc.property(moves(30), setting, (history, of) => {
          const driver = played(history, of);
          let instant = driver.now;
          let at = 0;
          for (let turns = 0; driver.toDeadline(); turns++) {
            if (turns > 500) throw new Error("deadlines without end");
            at = driver.now === instant ? at + 1 : 0;
            instant = driver.now;
            if (at > 10) throw new Error("deadlines at one instant");
          }
          const { active, handover, paused } = driver.state;
          if (outstanding(driver.state, driver.now).length > 0) return false;
          return !active || paused || active.calls.some(isUnresolved) || handover.state === "active";
        }),
        { ...OPTIONS, numRuns: Math.ceil(RUNS / 2) },
      );
    },
    LONG,
  );
});
