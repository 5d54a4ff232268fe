/** What is told of a run that ended long ago is what was told of it while it was the latest. */
import { expect, test } from "vitest";
import { nodeJournal } from "../storage/node-journal.ts";
import { CONVERSATION, DIGEST, planned, said, World } from "./world.ts";

const RUN = `${CONVERSATION}.r1`;
const CALL = `${RUN}.t1`;

/** A run that was cancelled while its call was out; then another one, so that it is held reduced. */
async function inDoubt(reduced: boolean): Promise<World> {
  const world = new World(nodeJournal());
  await world.create();
  await world.start("pay");
  await world.answer(planned({ gate: null }));
  await world.send({ type: "cancel_run", runId: RUN, body: {} });
  await world.clock.advance(10_000);
  if (!reduced) return world;
  await world.start("hello");
  await world.answer(said("hi"));
  return world;
}

test.each([
  ["did_not_happen", []],
  ["happened", [{ toolCallId: CALL, state: "succeeded" }]],
  ["give_up", [{ toolCallId: CALL, state: "unknown" }]],
] as const)(
  "a doubtful act that is resolved as %s is told the same, whichever run is the latest",
  async (outcome, acts) => {
    for (const reduced of [false, true]) {
      const world = await inDoubt(reduced);
      expect(world.journal.endedRun(RUN)?.sideEffects).toMatchObject([{ toolCallId: CALL, state: "unknown" }]);
      const digest = outcome === "did_not_happen" ? { argsDigest: DIGEST } : {};
      const resolutions = [{ toolCallId: CALL, outcome, ...digest }];
      expect(await world.send({ type: "resume", runId: RUN, body: { resolutions } })).toMatchObject({ ok: true });
      const view = world.journal.endedRun(RUN);
      expect(view?.pending).toEqual([]);
      expect(view?.sideEffects).toHaveLength(acts.length);
      expect(view?.sideEffects).toMatchObject(acts);
    }
  },
);
