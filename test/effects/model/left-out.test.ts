/** How many messages a refusal as too long leaves out, beside what is then told. */
import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../../../src/run/state.ts";
import { stopOf } from "../../../src/protocol/stops.ts";
import { read, ready, Story } from "./story.ts";

const tooLong = (story: Story): void =>
  story.model({
    kind: "failed",
    stop: stopOf("context_too_long", "Too long."),
    text: { text: "" },
    finishReason: null,
    usage: NO_USAGE,
    leavesOut: story.leavesOut,
  });

const talked = (...texts: readonly string[]): Story => {
  const story = new Story();
  for (const text of texts) {
    story.start(text);
    story.says(`heard ${text.slice(0, 5)}`);
  }
  return story;
};
const trims = (story: Story) => story.events.filter(({ type }) => type === "context.trimmed").map(({ data }) => data);
const told = (messages: number) => ({ messages, reason: "context_too_long" });

describe("The log says how many messages are no longer told", () => {
  test("the turn that does not fit: its message", () => {
    const story = talked("one", "two");
    story.start("x".repeat(10_000));
    tooLong(story);
    expect(trims(story)).toEqual([told(1)]);
    expect(story.cold()).toBe(story.json);
  });

  test("a turn with calls: its message, the model's and each result", () => {
    const story = talked("one");
    story.start("pay");
    story.plans([ready({ args: { note: "x".repeat(5_000) } }), read()]);
    story.works({ order: "A" });
    story.decideOn(story.state.active?.calls[0], "approve");
    story.works({ booked: true });
    tooLong(story);
    expect(trims(story)).toEqual([told(4)]);
    expect(story.cold()).toBe(story.json);
  });

  test("the oldest turns; and a sentence of ours that is left out later does not count", () => {
    const story = talked("a".repeat(2_000), "b".repeat(2_000), "c".repeat(2_000), "d".repeat(2_000));
    const before = story.messages().length;
    story.start("and now?");
    tooLong(story);
    // All but the beginning's sentence and the turns that are kept.
    const kept = story.messages().length - 1;
    expect(trims(story)).toEqual([told(before + 1 - kept)]);
    story.retry();
    tooLong(story);
    const all = trims(story).reduce((sum, data) => sum + ("messages" in data ? data.messages : 0), 0);
    expect(all).toBe(before + 1 - (story.messages().length - 1));
    expect(story.cold()).toBe(story.json);
  });

  test("nothing is said where nothing is left out any more", () => {
    const story = new Story();
    story.start("x".repeat(1_000));
    tooLong(story);
    story.retry();
    const before = story.json;
    tooLong(story);
    expect(trims(story)).toEqual([told(1)]);
    expect(story.json).toBe(before);
  });
});
