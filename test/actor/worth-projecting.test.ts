/** What lists and the inbox show is brought to the history soon, also where no run is about to end. */
import { beforeEach, describe, expect, test } from "vitest";
import { DURATIONS } from "../../src/protocol/limits.ts";
import { SCOPES } from "../../src/protocol/roles.ts";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { planned, said, user, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = new World(nodeJournal(nodeDatabase()));
  await world.create();
});

/** @returns whether the history was told of all that is in the log */
async function told(): Promise<boolean> {
  await world.clock.advance(DURATIONS.projectionMs);
  return world.drainedTo.at(-1) === world.actor.state.seq;
}

describe("while a run waits for a person", () => {
  beforeEach(async () => {
    await world.start("transfer");
    await world.answer(planned());
    await told();
  });

  test("what waits for a decision is brought over", async () => {
    expect(await told()).toBe(true);
  });

  test("a run that is queued behind it is brought over, and each edit of it", async () => {
    await world.start("next");
    expect(await told()).toBe(true);
    const runId = world.actor.state.queue[0]?.id ?? "";
    await world.send({ type: "edit_run", runId, body: { input: { text: "another" } } });
    expect(await told()).toBe(true);
  });

  test("one that is dropped from the queue is, too", async () => {
    await world.start("next");
    const runId = world.actor.state.queue[0]?.id ?? "";
    await world.send({ type: "drop_run", runId, body: {} });
    expect(await told()).toBe(true);
  });
});

test("a run that goes on at once is brought over with its end", async () => {
  expect(await told()).toBe(true);
  await world.start("quick");
  expect(await told()).toBe(false);
  await world.answer(said("done"));
  expect(await told()).toBe(true);
});

test("what an operator says is brought over", async () => {
  const scopes = ["conversations:read", "conversations:write", SCOPES.handoverOperate];
  const operator = { context: user("olga", { scopes }) };
  await world.send({ type: "put_participant", userId: "olga", body: { role: "viewer" } });
  await world.send({ type: "take_over", body: {} }, operator);
  expect(await told()).toBe(true);
  const answer = await world.send({ type: "say_as_operator", body: { text: "Hello" } }, operator);
  expect(answer).toMatchObject({ ok: true });
  expect(await told()).toBe(true);
});
