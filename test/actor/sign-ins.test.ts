import { expect, test } from "vitest";
import { Reminders } from "../../src/actor/reminders.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { Talk } from "../storage/talk.ts";
import { VirtualClock } from "./world.ts";

test("the alarm stands at the end of the earliest sign-in of those who watch, and at nothing when nobody does", () => {
  const journal = nodeJournal();
  const talk = new Talk(journal);
  talk.create();
  const clock = new VirtualClock();
  const settings = { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 2_000 };
  let end: number | null = null;
  const reminders = new Reminders(journal, clock, settings, { nextEnd: () => end, endDue: () => undefined });
  reminders.arm(talk.state);
  expect(journal.alarmAt()).toBeNull();
  end = clock.now() + 60_000;
  reminders.arm(talk.state);
  expect(journal.alarmAt()).toBe(end);
  // A later one is found when this one fires.
  end += 60_000;
  reminders.arm(talk.state);
  expect(journal.alarmAt()).toBe(end - 60_000);
  end = clock.now() - 1;
  journal.alarmFired();
  reminders.arm(talk.state);
  expect(journal.alarmAt()).toBe(clock.now());
});
