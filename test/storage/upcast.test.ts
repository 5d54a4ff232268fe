import { describe, expect, test } from "vitest";
import { NewerEventError, upcast, UPCASTS, type Upcast } from "../../src/storage/upcast.ts";
import { storedEvent } from "../../src/storage/stored-event.ts";
import { EVENT_VERSION } from "../../src/protocol/version.ts";
import { CONVERSATION } from "./talk.ts";

const history: Upcast[] = [
  { "conversation.updated": (data) => ({ ...(data as object), second: true }) },
  { "conversation.deleted": () => ({ third: true }) },
  { "conversation.updated": (data) => ({ ...(data as object), fourth: true }) },
];
const known = { upcasts: history, current: 4 };

describe("an event of an older version", () => {
  test("goes through every later change of its type, and of no other", () => {
    expect(upcast("conversation.updated", 1, { title: "t" }, known)).toEqual({
      title: "t",
      second: true,
      fourth: true,
    });
    expect(upcast("conversation.updated", 2, { title: "t" }, known)).toEqual({ title: "t", fourth: true });
    expect(upcast("conversation.updated", 4, { title: "t" }, known)).toEqual({ title: "t" });
    expect(upcast("handover.requested", 1, { reason: "r" }, known)).toEqual({ reason: "r" });
  });

  test("of a newer release is refused instead of guessed", () => {
    expect(() => upcast("conversation.updated", 5, {}, known)).toThrow(NewerEventError);
  });

  test("has one change listed for each version but the first", () => {
    expect(UPCASTS).toHaveLength(EVENT_VERSION - 1);
  });
});

test("a row that this release cannot read is an error, not a wrong event", () => {
  const row = {
    seq: 1,
    v: 1,
    type: "conversation.deleted",
    at: 0,
    run_n: null,
    by_kind: "system",
    by_id: null,
    codec: "json",
    data: "{}",
  };
  expect(storedEvent(row, CONVERSATION).json).toBe(
    '{"seq":1,"v":1,"type":"conversation.deleted","at":"1970-01-01T00:00:00.000Z","by":{"kind":"system"},"data":{}}',
  );
  expect(() => storedEvent({ ...row, codec: "zstd" }, CONVERSATION)).toThrow("zstd");
  expect(() => storedEvent({ ...row, type: "nobody.knows" }, CONVERSATION)).toThrow();
  expect(() => storedEvent({ ...row, v: EVENT_VERSION + 1 }, CONVERSATION)).toThrow(NewerEventError);
  expect(() => storedEvent({ ...row, at: "soon" }, CONVERSATION)).toThrow("column at");
});
