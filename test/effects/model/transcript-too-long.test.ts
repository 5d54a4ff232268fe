import { describe, expect, test } from "vitest";
import { stopOf } from "../../../src/protocol/stops.ts";
import { read, ready, Story } from "./story.ts";
import { contents, failed } from "./told.ts";

describe("after the model has refused a request as too long", () => {
  const tooLong = { ...failed(""), stop: stopOf("context_too_long", "Too long.") };
  const talked = (...texts: readonly string[]) => {
    const story = new Story();
    for (const text of texts) {
      story.start(text);
      story.says(`heard ${text.slice(0, 5)}`);
    }
    return story;
  };
  const LEFT_OUT = "(A message is left out here: it was too long for you.)";
  const BEGINNING = "(The beginning of this conversation is left out: it is too long for you.)";

  test("a turn that is most of what is told is left out, and the next one is told after what was before", () => {
    const story = talked("one", "two");
    story.start("x".repeat(10_000));
    story.model(tooLong);
    expect(contents(story).at(-1)).toEqual(["user", LEFT_OUT]);
    story.start("three");
    expect(contents(story)).toEqual([
      ["user", "one"],
      ["assistant", "heard one"],
      ["user", "two"],
      ["assistant", "heard two"],
      ["user", LEFT_OUT],
      ["user", "three"],
    ]);
    expect(story.violations()).toEqual([]);
  });

  test("what was called in it is not forgotten", () => {
    const story = talked("one");
    story.start("pay");
    story.plans([ready({ args: { note: "x".repeat(5_000) } }), read()]);
    story.works({ order: "A" });
    story.decideOn(story.state.active?.calls[0], "approve");
    story.works({ booked: true });
    story.model(tooLong);
    expect(contents(story).at(-1)).toEqual([
      "user",
      "(A message is left out here: it was too long for you. What was called for it: transfer: done; lookup_order: done.)",
    ]);
    expect(story.violations()).toEqual([]);
  });

  test("a short turn after much is kept, and at least half of what was before goes, from the beginning", () => {
    const story = talked("a".repeat(2_000), "b".repeat(2_000), "c".repeat(2_000), "d".repeat(2_000));
    const before = story.json.length;
    story.start("and now?");
    story.model(tooLong);
    expect(story.json.length).toBeLessThan(before / 2);
    expect(contents(story)[0]).toEqual(["user", BEGINNING]);
    expect(contents(story).at(-1)).toEqual(["user", "and now?"]);
    story.retry();
    story.model(tooLong);
    story.retry();
    story.model(tooLong);
    story.start("again");
    expect(contents(story)).toEqual([
      ["user", BEGINNING],
      ["user", "and now?"],
      ["user", "again"],
    ]);
    expect(story.violations()).toEqual([]);
  });
});
