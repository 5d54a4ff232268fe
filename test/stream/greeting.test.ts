import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServerFrame } from "../../src/protocol/frames.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Role } from "../../src/protocol/roles.ts";
import { greet, type Joining } from "../../src/stream/greeting.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { call, CONVERSATION, Talk } from "../storage/talk.ts";

function long(chats: number): Talk {
  const talk = new Talk(nodeJournal());
  talk.create();
  for (let n = 0; n < chats; n++) talk.chat(n);
  return talk;
}

function join(talk: Talk, position: Joining["position"], more: Partial<Joining> = {}) {
  const role: Role = "owner";
  const frames = greet({
    state: talk.state,
    role,
    userId: "alice",
    position,
    now: talk.now,
    events: (query) => talk.journal.events(query),
    inProgress: null,
    ...more,
  });
  return frames.map((text) => {
    const frame = ServerFrame.parse(JSON.parse(text));
    return { ...frame, text };
  });
}
const at = (seq: number, generation = "abcd1234") => ({ generation, seq });

describe("the first frame", () => {
  test("is the snapshot, with the head and the time; without a cursor nothing of the past follows", () => {
    const talk = long(1);
    const frames = join(talk, null);
    expect(frames).toMatchObject([
      {
        type: "welcome",
        protocol: "holdpoint.v1",
        headCursor: `abcd1234.${talk.state.seq}`,
        conversation: { id: CONVERSATION, role: "owner", headCursor: `abcd1234.${talk.state.seq}` },
      },
    ]);
  });

  test("tells a viewer that something waits, and not what", () => {
    const talk = long(0);
    talk.say("pay");
    talk.answer({ text: "" }, [call({ iban: "secret-iban" })]);
    const whole = join(talk, at(0));
    expect(whole[0]?.text).toContain("secret-iban");
    const viewer = join(talk, at(0), { role: "viewer", userId: "vic" });
    expect(viewer[0]).toMatchObject({ conversation: { needsConfirmation: true } });
    expect(viewer.map(({ text }) => text).join("")).not.toContain("secret-iban");
    expect(viewer).toHaveLength(whole.length);
  });
});

describe("catching up", () => {
  test("from any cursor gives exactly what came after it, as the log has it", () => {
    const talk = long(6);
    const all = talk.journal.events({ after: 0, limit: 10_000, maxBytes: 1 << 24 }).map(({ json }) => json);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: talk.state.seq }), (seq) => {
        const pages = join(talk, at(seq)).slice(1);
        expect(pages.every(({ type }) => type === "events")).toBe(true);
        const joined = pages.map(({ text }) => text.slice(text.indexOf("[") + 1, text.lastIndexOf("]")));
        expect(joined.filter((page) => page !== "").join(",")).toBe(all.slice(seq).join(","));
        expect(pages.at(-1)).toMatchObject({ cursor: `abcd1234.${talk.state.seq}` });
      }),
      { numRuns: 40 },
    );
  });

  test("at the head answers an empty page: nothing was missed", () => {
    const talk = long(1);
    expect(join(talk, at(talk.state.seq)).slice(1)).toMatchObject([{ type: "events", events: [] }]);
  });

  test("comes in pages that a client can parse one by one, each with its own cursor", () => {
    const talk = long(1);
    for (let n = 0; n < 30; n++) talk.say("x".repeat(16_000), {});
    const pages = join(talk, at(0)).slice(1);
    expect(pages.length).toBeGreaterThan(1);
    let last = 0;
    for (const page of pages) {
      if (page.type !== "events") throw new Error("not a page");
      expect(page.text.length).toBeLessThan(300_000);
      expect(page.events[0]?.seq).toBe(last + 1);
      last = page.events.at(-1)?.seq ?? 0;
      expect(page.cursor).toBe(`abcd1234.${last}`);
    }
    expect(last).toBe(talk.state.seq);
  });

  test("beyond the bound of events, or of bytes, is a reset and no page", () => {
    const many = long(200);
    expect(many.state.seq).toBeGreaterThan(LIMITS.catchUpEvents);
    expect(join(many, at(0)).slice(1)).toMatchObject([
      { type: "reset", reason: "too_far_behind", headCursor: `abcd1234.${many.state.seq}` },
    ]);
    expect(join(many, at(many.state.seq - LIMITS.catchUpEvents)).at(-1)).toMatchObject({ type: "events" });
    const heavy = long(0);
    for (let n = 0; n < 40; n++) {
      heavy.say("go on");
      heavy.answer({ text: "x".repeat(32_000) });
    }
    expect(heavy.state.seq).toBeLessThan(LIMITS.catchUpEvents);
    expect(join(heavy, at(0)).slice(1)).toMatchObject([{ type: "reset", reason: "too_far_behind" }]);
  });

  test("from ahead of the head, or from another generation, is a reset with its reason", () => {
    const talk = long(1);
    expect(join(talk, at(talk.state.seq + 1)).slice(1)).toMatchObject([{ type: "reset", reason: "ahead_of_head" }]);
    expect(join(talk, at(1, "zzzz9999")).slice(1)).toMatchObject([{ type: "reset", reason: "other_generation" }]);
  });
});

describe("a message in progress", () => {
  const streaming = () => {
    const talk = long(1);
    talk.say("tell me");
    const step = talk.state.active?.step;
    return { talk, progress: { messageId: step?.messageId ?? "", attempt: 1, part: 0, text: "so far" } };
  };

  test("comes last, as a partial", () => {
    const { talk, progress } = streaming();
    const frames = join(talk, at(talk.state.seq), { inProgress: progress });
    expect(frames.map(({ type }) => type)).toEqual(["welcome", "events", "partial"]);
    expect(frames.at(-1)?.text).toBe(JSON.stringify({ type: "partial", ...progress }));
    expect(join(talk, null, { inProgress: progress }).map(({ type }) => type)).toEqual(["welcome", "partial"]);
  });

  test("that is over is not shown from a checkpoint that is left of it", () => {
    const { talk, progress } = streaming();
    expect(join(talk, null, { inProgress: { ...progress, attempt: 2 } })).toHaveLength(1);
    talk.answer({ text: "so far and on" });
    expect(join(talk, null, { inProgress: progress })).toHaveLength(1);
  });
});
