import { describe, expect, test } from "vitest";
import type { Command } from "../../src/protocol/commands.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { CONVERSATION, DIGEST, done, planned, said, user, World } from "./world.ts";

const RUN = `${CONVERSATION}.r1`;
const CALL = `${RUN}.t1`;
const approve = { toolCallId: CALL, argsDigest: DIGEST, decision: "approve" } as const;
const resume: Extract<Command, { type: "resume" }> = { type: "resume", runId: RUN, body: { decisions: [approve] } };

async function proposed(): Promise<World> {
  const world = new World(nodeJournal());
  await world.create();
  await world.start("pay");
  await world.answer(planned());
  return world;
}

describe("a run", () => {
  test("is registered before the model is asked, and ends with its answer", async () => {
    const world = new World(nodeJournal());
    await world.create();
    const started = await world.send({ type: "start_run", body: { input: { text: "hello" } } }, { key: "k" });
    expect(started.ok && started.value.status).toBe(202);
    expect(world.modelCalls).toHaveLength(0);
    await world.clock.advance(0);
    await world.answer(said("hi"));
    const run = world.actor.reads.run(user("alice"), RUN);
    expect(run.ok && run.value.status).toBe("completed");
    expect(world.errors).toEqual([]);
  });

  test("whose model has answered aborts nothing", async () => {
    const world = await proposed();
    expect(world.lastModelCall().io.signal.aborted).toBe(false);
    await world.send(resume);
    await world.clock.advance(0);
    const [call] = world.toolCalls;
    call?.answer(done(CALL));
    await world.clock.advance(0);
    expect(call?.io.signal.aborted).toBe(false);
  });

  test("publishes exactly what the journal holds, densely numbered", async () => {
    const world = await proposed();
    const stored = world.journal.events({ after: 0, limit: 1_000, maxBytes: 1 << 20 }).map(({ event }) => event);
    expect(world.frames).toEqual(stored);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, i) => i + 1));
  });

  test("streams previews with offsets, and leaves no row for them but checkpoints", async () => {
    const world = new World(nodeJournal());
    await world.create();
    await world.start("story");
    const { io } = world.lastModelCall();
    io.onText("Once ", 0);
    io.onText("upon", 0);
    expect(world.deltas.map(({ offset, text }) => [offset, text])).toEqual([
      [0, "Once "],
      [5, "upon"],
    ]);
    expect(world.journal.checkpoint()).toBeNull();
    await world.clock.advance(1_100);
    io.onText(" a time", 0);
    expect(world.journal.checkpoint()?.text).toBe("Once upon a time");
  });
});

describe("idempotency", () => {
  test("gives 50 equal starts at once one run and one model request", async () => {
    const world = new World(nodeJournal());
    await world.create();
    const start = () => world.send({ type: "start_run", body: { input: { text: "x" } } }, { key: "same" });
    const answers = await Promise.all(Array.from({ length: 50 }, start));
    await world.clock.advance(0);
    const ids = answers.map((answer) =>
      answer.ok && answer.value.body && "id" in answer.value.body ? answer.value.body.id : "",
    );
    expect(new Set(ids)).toEqual(new Set([RUN]));
    expect(answers.filter((answer) => answer.ok && answer.value.replayed)).toHaveLength(49);
    expect(world.modelCalls).toHaveLength(1);
  });

  test("refuses the key of another request, and of another person, and writes nothing", async () => {
    const world = new World(nodeJournal());
    await world.create();
    await world.start("x", "same");
    const seq = world.actor.state.seq;
    const other = await world.send({ type: "start_run", body: { input: { text: "y" } } }, { key: "same" });
    expect(other.ok === false && other.rejection.code).toBe("idempotency_key_reused");
    expect(world.actor.state.seq).toBe(seq);
  });

  test("keeps no receipt of a refusal", async () => {
    const world = await proposed();
    const body = { decisions: [{ ...approve, argsDigest: "x".repeat(43) }] };
    const refused = await world.send({ ...resume, body }, { key: "k" });
    expect(refused.ok).toBe(false);
    expect(world.journal.receipt("k")).toBeNull();
    expect(world.claims.has("k")).toBe(false);
  });

  test("refuses a key that another conversation of the tenant has used, and decides nothing", async () => {
    const world = new World(nodeJournal());
    await world.create();
    world.claims.set("taken", "another conversation");
    const { seq } = world.actor.state;
    const answer = await world.start("x", "taken");
    expect(answer.ok === false && answer.rejection.code).toBe("idempotency_key_reused");
    expect(world.actor.state.seq).toBe(seq);
  });

  test("finds its own claim after a crash between claim and commit, and starts the one run", async () => {
    const world = new World(nodeJournal());
    await world.create();
    const lost = new World(nodeJournal());
    await lost.create();
    await lost.start("x", "k");
    world.claims.set("k", lost.claims.get("k") ?? "");
    expect((await world.start("x", "k")).ok).toBe(true);
    expect(world.modelCalls).toHaveLength(1);
  });
});

describe("a confirmation", () => {
  test("is executed once when it is approved many times at once", async () => {
    const world = await proposed();
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send(resume)));
    await world.clock.advance(0);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(world.toolCalls).toHaveLength(1);
  });

  test("survives a crash, and is then decided", async () => {
    const world = await proposed();
    world.crash();
    const snapshot = world.actor.reads.snapshot(user("alice"));
    expect(snapshot.ok && snapshot.value.needsConfirmation).toBe(true);
    expect((await world.send(resume)).ok).toBe(true);
    await world.clock.advance(0);
    world.toolCalls[0]?.answer(done(CALL));
    await world.clock.advance(0);
    await world.answer(said("paid"));
    expect(world.actor.state.latest?.stop?.code).toBe("final_answer");
  });

  test("expires at its time although no alarm ever fired", async () => {
    const world = await proposed();
    await world.clock.advance(3_600_001);
    const late = await world.send(resume);
    expect(late.ok === false && late.rejection.code).toBe("confirmation_expired");
    expect(world.toolCalls).toHaveLength(0);
  });
});

describe("a crash", () => {
  test("while the model answers asks it again, and keeps nothing of the first attempt", async () => {
    const world = new World(nodeJournal());
    await world.create();
    await world.start("x");
    const before = world.lastModelCall();
    world.crash();
    world.actor.alarm();
    await world.clock.advance(0);
    expect(world.lastModelCall().effect.attempt).toBe(2);
    before.answer(said("too late"));
    await world.answer(said("in time"));
    const messages = world.actor.reads.messages(user("alice"), { after: 0, limit: 50, order: "asc" });
    expect(messages.ok && messages.value.data.map(({ parts }) => parts[0])).toEqual([
      { type: "text", text: "x" },
      { type: "text", text: "in time" },
    ]);
  });

  test("after a once tool was called leaves its outcome unknown and calls it no second time", async () => {
    const world = await proposed();
    await world.send(resume);
    await world.clock.advance(0);
    expect(world.toolCalls).toHaveLength(1);
    world.crash();
    world.actor.alarm();
    await world.clock.advance(60_000);
    expect(world.toolCalls).toHaveLength(0);
    const run = world.actor.reads.run(user("alice"), RUN);
    expect(run.ok && [run.value.status, run.value.phase]).toEqual(["interrupted", "awaiting_resolution"]);
  });

  test("never repeats an input: the stored log folds to the state in memory", async () => {
    const world = await proposed();
    const before = world.actor.state;
    world.crash();
    expect(world.actor.state).toEqual(before);
  });
});

describe("cancelling", () => {
  test("aborts the model at once and ends the run", async () => {
    const world = new World(nodeJournal());
    await world.create();
    await world.start("x");
    const { io } = world.lastModelCall();
    await world.send({ type: "cancel_run", runId: RUN, body: {} });
    expect(io.signal.aborted).toBe(true);
    await world.clock.advance(0);
    expect(world.actor.state.latest?.stop?.code).toBe("cancelled_by_user");
  });

  test("ends after the grace although the tool ignores the abort, and lists what may have happened", async () => {
    const world = await proposed();
    await world.send(resume);
    await world.clock.advance(0);
    await world.send({ type: "cancel_run", runId: RUN, body: {} });
    expect(world.actor.state.active?.halt).not.toBeNull();
    await world.clock.advance(10_000);
    const run = world.actor.reads.run(user("alice"), RUN);
    expect(run.ok && run.value.sideEffects.map(({ state }) => state)).toEqual(["unknown"]);
  });
});

describe("an actor that nobody initialised", () => {
  test("answers 404 and writes nothing", async () => {
    const world = new World(nodeJournal());
    const answer = await world.start("x");
    expect(answer.ok === false && answer.rejection.code).toBe("not_found");
    expect(world.journal.open()).toBeNull();
    expect(world.journal.alarmAt()).toBeNull();
  });
});
