import { expect, test } from "vitest";
import { nodeJournal } from "../storage/node-journal.ts";
import { planned, user, World } from "./world.ts";

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
