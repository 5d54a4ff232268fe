import { expect, test } from "vitest";
import { nodeJournal } from "../storage/node-journal.ts";
import { CONVERSATION, planned, user, World } from "./world.ts";

const CANARY = "canary-in-arguments";

/** alice's run waits for a yes; vera watches. */
async function waiting() {
  const world = new World(nodeJournal());
  await world.create();
  await world.send({ type: "put_participant", userId: "vera", body: { role: "viewer" } });
  await world.start("pay them");
  await world.answer(planned({ args: { iban: CANARY } }));
  return world;
}

test("a viewer who operates is answered as a viewer: what the run would do stays away", async () => {
  const world = await waiting();
  const vera = { ...user("vera"), scopes: ["handover:operate"] };
  for (const type of ["take_over", "release_handover"] as const) {
    const answer = await world.send({ type, body: {} }, { context: vera });
    expect([type, answer.ok]).toEqual([type, true]);
    expect(JSON.stringify(answer)).toContain('"needsConfirmation":true');
    expect(JSON.stringify(answer)).not.toContain(CANARY);
  }
  const mine = await world.send({ type: "update_conversation", body: { title: "a title" } });
  expect(JSON.stringify(mine)).toContain(CANARY);
});

test("an answer is told when it is committed, and before the watchers hear of anything", async () => {
  const world = new World(nodeJournal());
  await world.create();
  const told: unknown[] = [];
  const request = {
    conversationId: CONVERSATION,
    command: { type: "start_run", body: { input: { text: "hello" } } } as const,
    idempotencyKey: "key-1",
  };
  const answer = await world.actor.command(user("alice"), request, (told_) =>
    told.push({ answer: told_, committed: world.journal.receipt("key-1") !== null, heard: world.frames.length }),
  );
  expect(told).toEqual([{ answer: answer.ok && answer.value, committed: true, heard: 1 }]);
  expect(world.frames.length).toBeGreaterThan(1);
});

test("what is refused or replayed is told by its answer alone", async () => {
  const world = new World(nodeJournal());
  await world.create();
  await world.start("hello", "key-1");
  const told: unknown[] = [];
  const send = (text: string) =>
    world.actor.command(
      user("alice"),
      {
        conversationId: CONVERSATION,
        command: { type: "start_run", body: { input: { text } } },
        idempotencyKey: "key-1",
      },
      (answer) => told.push(answer),
    );
  expect(await send("hello")).toMatchObject({ ok: true, value: { replayed: true } });
  expect(await send("another")).toMatchObject({ ok: false });
  expect(told).toEqual([]);
});
