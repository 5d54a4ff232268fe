/** A duty of the alarm that fails: the others are done, it comes again after a pause, and nothing is thrown at the platform. */
import { expect, test } from "vitest";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { GATE, planned, World } from "./world.ts";

/** A world whose log refuses events of this type while `refusing.now`. */
async function refusing(type: string) {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("pay");
  const refusal = { now: false };
  const exec = db.exec.bind(db);
  db.exec = (sql, ...params) => {
    if (refusal.now && params.some((one) => one === type)) throw new Error("disk full");
    return exec(sql, ...params);
  };
  return { db, world, refusal };
}

const failures = (world: World) => world.errors.map(({ event }) => event);

test("an alarm whose duty fails comes again after a pause, and then does what was due", async () => {
  const { db, world, refusal } = await refusing("confirmation.expired");
  await world.answer(planned());
  await world.clock.advance(GATE.expiresInMs);
  refusal.now = true;
  db.alarms.length = 0;
  world.actor.alarm();
  expect(failures(world)).toEqual(["alarm_duty_failed"]);
  expect(db.alarms).toEqual([world.clock.now() + 30_000]);
  refusal.now = false;
  world.actor.alarm();
  expect(world.actor.state.latest?.stop?.code).toBe("confirmation_expired");
});

test("a deadline that the waking object cannot write is left to the alarm", async () => {
  const { world, refusal } = await refusing("step.finished");
  refusal.now = true;
  await world.clock.advance(5 * 60_000);
  expect(failures(world)).toEqual(["alarm_duty_failed"]);
  expect(world.actor.state.active).not.toBeNull();
  refusal.now = false;
  world.actor.alarm();
  expect(world.actor.state.latest?.stop?.code).toBe("model_timeout");
});
