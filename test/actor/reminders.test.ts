import { expect, test } from "vitest";
import { Reminders } from "../../src/actor/reminders.ts";
import { EMPTY } from "../../src/run/state.ts";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { CONVERSATION, planned, VirtualClock, World } from "./world.ts";

const SETTINGS = { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000 };

test("an alarm that starts a drain does not come again before the drain may be presumed lost", async () => {
  const db = nodeDatabase();
  const journal = nodeJournal(db);
  await new World(journal).create();
  const clock = new VirtualClock();
  const reminders = new Reminders(journal, clock, SETTINGS);
  journal.setTimers({ outbox: clock.now() });
  journal.alarmFired();
  db.alarms.length = 0;
  expect(reminders.outboxDue()).toBe(true);
  reminders.outboxStarted();
  reminders.arm(EMPTY);
  expect(db.alarms).toEqual([clock.now() + SETTINGS.outboxMs]);
  reminders.outboxDrained(null);
  expect(journal.timers()).toEqual({});
});

/** A world whose alarm has just fired, while rows of this statement are refused. */
async function firedWhile(refused: RegExp) {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("hello");
  const exec = db.exec.bind(db);
  db.exec = (sql, ...params) => {
    if (refused.test(sql)) throw new Error("disk full");
    return exec(sql, ...params);
  };
  await world.clock.advance(31_000);
  db.alarms.length = 0;
  world.actor.alarm();
  return { db, world, mend: () => void (db.exec = exec) };
}

test("an alarm that fired stands no more, also where that cannot be written", async () => {
  const { db, world } = await firedWhile(/^DELETE FROM meta/);
  expect(world.errors.map(({ event }) => event)).toContain("alarm_duty_failed");
  expect(db.alarms.length).toBeGreaterThan(0);
  expect(Math.min(...db.alarms)).toBeGreaterThanOrEqual(world.clock.now());
});

test("where no row about the alarm can be written it comes all the same, and what is due is done", async () => {
  const { db, world, mend } = await firedWhile(/\bmeta\b.*(VALUES|WHERE)/s);
  expect(db.alarms.length).toBeGreaterThan(0);
  mend();
  await world.clock.advance(60_000);
  world.actor.alarm();
  expect(Math.min(...db.alarms.slice(-1))).toBeGreaterThan(world.clock.now() - 1);
  expect(world.errors.map(({ event }) => event)).toContain("alarm_duty_failed");
});

test("a stop whose grace ends before the watchdog sets no alarm of its own", async () => {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("hello");
  await world.answer(planned({ gate: null }));
  const [standing] = db.alarms.slice(-1);
  await world.send({ type: "cancel_run", runId: `${CONVERSATION}.r1`, body: {} });
  expect(db.alarms.slice(-1)).toEqual([standing]);
  // The call does not answer: memory ends the grace to the millisecond.
  await world.clock.advance(10_000);
  expect(world.frames.at(-1)?.type).toBe("run.cancelled");
});
