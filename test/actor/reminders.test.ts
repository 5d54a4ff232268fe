import { expect, test } from "vitest";
import { Reminders } from "../../src/actor/reminders.ts";
import { EMPTY } from "../../src/run/state.ts";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { VirtualClock, World } from "./world.ts";

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
