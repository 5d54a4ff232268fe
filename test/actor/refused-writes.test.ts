/** A database that does not take a write, once: whatever was sent is never sent again because of it. */
import { describe, expect, test } from "vitest";
import { nodeDatabase, nodeJournal } from "../storage/node-journal.ts";
import { CONVERSATION, done, planned, said, World } from "./world.ts";

const CALL = `${CONVERSATION}.r1.t1`;

async function acting() {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("pay");
  await world.answer(planned({ gate: null }));
  return { db, world };
}

const stateOf = (world: World) => world.actor.state.active?.calls[0]?.state;

test("a tool's outcome that cannot be written is an unknown one, and the tool is not called again", async () => {
  const { db, world } = await acting();
  db.failAt = 0;
  world.toolCalls[0]?.answer(done(CALL));
  await world.clock.advance(0);
  db.failAt = null;
  await world.clock.advance(40_000);
  expect(world.toolCalls).toHaveLength(1);
  expect(stateOf(world)).toBe("unknown");
});

test("where only the outcome itself is refused, the doubt about it is written at once", async () => {
  const { db, world } = await acting();
  const exec = db.exec.bind(db);
  let refused = 0;
  db.exec = (sql, ...params) => {
    if (params.some((one) => typeof one === "string" && one.includes("tool_execution_result")) && refused++ === 0) {
      throw new RangeError("too big");
    }
    return exec(sql, ...params);
  };
  world.toolCalls[0]?.answer(done(CALL));
  await world.clock.advance(0);
  expect([stateOf(world), world.toolCalls.length]).toEqual(["unknown", 1]);
});

test("a model's answer that cannot be written is a lost attempt: it is asked anew, as another attempt", async () => {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("hello");
  const exec = db.exec.bind(db);
  let refused = 0;
  db.exec = (sql, ...params) => {
    if (params.some((one) => one === "step.finished") && refused++ === 0) throw new RangeError("too big");
    return exec(sql, ...params);
  };
  await world.answer(said("hi"));
  expect(world.modelCalls.map(({ effect }) => effect.attempt)).toEqual([1, 2]);
  await world.answer(said("hi"));
  expect(world.actor.state.latest?.stop?.code).toBe("final_answer");
});

test("a life that cannot write that it woke has not woken: nothing that was out is sent as if it were new", async () => {
  const { db, world } = await acting();
  world.crash();
  const exec = db.exec.bind(db);
  let refused = 0;
  db.exec = (sql, ...params) => {
    if (params.some((one) => one === "tool_call.became_unknown") && refused++ === 0) throw new Error("disk full");
    return exec(sql, ...params);
  };
  world.actor.alarm();
  await world.clock.advance(0);
  expect(refused).toBeGreaterThan(0);
  expect(world.toolCalls).toHaveLength(0);
  world.actor.alarm();
  await world.clock.advance(0);
  expect(world.toolCalls).toHaveLength(0);
  expect(stateOf(world)).toBe("unknown");
});

describe("a database that takes no model's answer is not the model's fault", () => {
  test("however often it is asked anew", async () => {
    const db = nodeDatabase();
    const world = new World(nodeJournal(db));
    await world.create();
    await world.start("hello");
    const exec = db.exec.bind(db);
    db.exec = (sql, ...params) => {
      // Whatever says what the model said. That nothing was stored can still be written.
      if (params.some((one) => typeof one === "string" && one.includes("the answer")))
        throw new RangeError("disk full");
      return exec(sql, ...params);
    };
    for (let asked = 0; asked < 3; asked++) await world.answer(said("the answer"));
    expect(world.modelCalls).toHaveLength(3);
    expect(world.actor.state.latest?.stop).toMatchObject({ code: "internal", retryable: true });
  });

  test("nor when nothing at all can be written until the request's time is over", async () => {
    const { db, world } = await asking();
    db.failAt = 0;
    await world.answer(said("the answer"));
    await world.clock.advance(400_000);
    db.failAt = null;
    world.actor.alarm();
    await world.clock.advance(0);
    expect(world.modelCalls).toHaveLength(1);
    expect(world.actor.state.latest?.stop).toMatchObject({ code: "internal", retryable: true });
  });
});

async function asking() {
  const db = nodeDatabase();
  const world = new World(nodeJournal(db));
  await world.create();
  await world.start("hello");
  return { db, world };
}
