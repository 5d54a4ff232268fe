/** A request that was too long, with the transcript that is really kept. */
import { expect, test } from "vitest";
import { ModelTranscript } from "../../src/effects/transcript.ts";
import { stopOf } from "../../src/protocol/stops.ts";
import { NO_USAGE } from "../../src/run/state.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { said, World } from "./world.ts";

const TOO_LONG = {
  kind: "failed",
  stop: stopOf("context_too_long", "Too long."),
  text: { text: "" },
  finishReason: null,
  usage: NO_USAGE,
} as const;

test("what the model is no longer told is said once, before the run ends, and is left out after a crash too", async () => {
  const world = new World(nodeJournal(), { transcript: () => new ModelTranscript() });
  await world.create();
  await world.start("one");
  await world.answer(said("heard one"));
  await world.start("x".repeat(10_000), "long");
  await world.answer(TOO_LONG);
  const ends = world.frames.map(({ type }) => type).filter((type) => /^context|^run\.(completed|failed)/.test(type));
  expect(ends).toEqual(["run.completed", "context.trimmed", "run.failed"]);
  const trimmed = world.frames.find(({ type }) => type === "context.trimmed");
  expect(trimmed?.data).toEqual({ messages: 1, reason: "context_too_long" });
  await world.start("two");
  const told = world.lastModelCall().io.transcript.messages();
  expect(told).not.toContain("xxx");
  world.crash();
  world.actor.alarm();
  await world.clock.advance(0);
  expect(world.lastModelCall().io.transcript.messages()).toBe(told);
});
