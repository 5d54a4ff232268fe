/** Cases S60, S62 and S63, by WebSocket: sockets through hibernation, cuts and cursors of every kind. */
import { describe, expect, test } from "vitest";
import type { LiveText } from "../../src/client/conversation-view.ts";
import type { ServerFrame } from "../../src/protocol/frames.ts";
import { agree } from "./harness/agreement.ts";
import { executed } from "./harness/calls.ts";
import { signIn } from "./harness/people.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";
import { upgrade, Watcher } from "./harness/watcher.ts";

const PROPOSE = { fixture: "common_propose_transfer" };
const SLOW = { fixture: "common_slow_text" };

describe("a socket outlives the object's memory", () => {
  test.concurrent("two sockets hear everything in order, through evictions, without connecting again", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
    const second = await talk.newWatcher().connect();
    await talk.evict();
    const { run, calls } = await talk.ask();
    await talk.evict();
    const frame = await second.command({
      type: "resume",
      runId: run.id,
      decisions: [{ toolCallId: calls[0]?.id, argsDigest: calls[0]?.argsDigest, decision: "approve" }],
    });
    expect(frame).toMatchObject({ type: "ack", result: { id: run.id } });
    await talk.ended(run);
    const { userId } = talk.person;
    expect(talk.of("confirmation.decided", run)).toMatchObject([{ by: { kind: "user", id: userId } }]);
    expect(await talk.bookings()).toMatchObject([{ caller: userId }]);
    await agree(talk);
    await second.until("the head", () => second.view.cursor === talk.watcher.view.cursor);
    expect(second.view.events).toEqual(talk.events);
    expect([talk.watcher.connections, second.connections, second.view.gaps, second.view.repeats]).toEqual([1, 1, 0, 0]);
  });

  test.concurrent("a frame is judged by who connected, also after an eviction", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
    const guest = await signIn();
    const place = `/v1/conversations/${talk.id}/participants/${guest.userId}`;
    await talk.person.ask("PUT", place, { body: { role: "viewer" } });
    const watching = await new Watcher(guest, talk.id, talk.beginning).connect();
    const { run, calls } = await talk.ask();
    await talk.evict();
    const decisions = [{ toolCallId: calls[0]?.id, argsDigest: calls[0]?.argsDigest, decision: "approve" }];
    const frames = [
      await watching.command({ type: "resume", runId: run.id, decisions }),
      await watching.command({ type: "cancel_run", runId: run.id }),
      await watching.command({ type: "start_run", idempotencyKey: crypto.randomUUID(), input: { text: "hi" } }),
    ];
    for (const frame of frames) expect(frame).toMatchObject({ type: "problem", problem: { status: 403 } });
    expect(await talk.person.client.run(run.id)).toMatchObject({ status: "interrupted", pending: calls });
    expect(executed(talk, run)).toEqual([]);
    // What a viewer is shown holds neither arguments nor results.
    expect(watching.heard.join("\n")).not.toContain("recipient_id");
    await talk.decide(run, calls[0], "reject");
    await talk.ended(run);
    await agree(talk);
  });

  test.concurrent("somebody who is no longer a participant hears no more", async () => {
    const talk = await Talk.open();
    const guest = await signIn();
    const place = `/v1/conversations/${talk.id}/participants/${guest.userId}`;
    await talk.person.ask("PUT", place, { body: { role: "editor" } });
    const watching = await new Watcher(guest, talk.id, talk.beginning).connect();
    await talk.evict();
    await talk.person.ask("DELETE", place);
    const { run } = await talk.play("in private");
    await watching.until("the end of it", () => watching.closed);
    expect(watching.closed?.code).toBe(3003);
    expect(watching.view.events.filter(({ runId }) => runId === run.id)).toEqual([]);
    expect((await upgrade(guest, talk.id, null)).status).toBe(404);
    await agree(talk);
  });
});

describe("cuts lose nothing and double nothing", () => {
  /**
   * Cut after each event and each delta that it hears, and connected again from where it was: after a delta only when
   * the uncut one has heard more, so that something was missed.
   */
  class CutWatcher extends Watcher {
    readonly uncut: Watcher;
    cuts = { event: 0, delta: 0 };
    /** The longest text that it had before a cut, and must have again after it. */
    readonly previews: { readonly messageId: string; readonly attempt: number; readonly text: string }[] = [];

    constructor(talk: Talk) {
      super(talk.person, talk.id, talk.beginning);
      this.uncut = talk.watcher;
    }

    async #comeBack(missing: LiveText | null): Promise<void> {
      const { uncut } = this;
      const isFurther = ({ messageId, text }: LiveText) =>
        (uncut.view.live?.text ?? "").length > text.length ||
        uncut.view.events.some((event) => event.type === "message.completed" && event.data.message.id === messageId);
      if (missing) await uncut.until("more of the text", () => isFurther(missing));
      await this.connect();
    }

    override onFrame = (frame: ServerFrame) => {
      if (this.view.live) this.previews.push({ ...this.view.live });
      const events = frame.type === "events" ? frame.events.length : Number(frame.type === "event");
      if (events === 0 && frame.type !== "delta") return;
      this.cuts[frame.type === "delta" ? "delta" : "event"]++;
      this.cut();
      void this.#comeBack(frame.type === "delta" ? this.view.live : null);
    };
  }

  test.concurrent("two clients, cut at every event and at every delta, end as the one that was not cut", async () => {
    const talk = await Talk.open({ answers: [PROPOSE, SLOW, SLOW] });
    const cut = [new CutWatcher(talk), new CutWatcher(talk)];
    await Promise.all(cut.map((watcher) => watcher.connect()));
    const { run, calls } = await talk.ask();
    await talk.decide(run, calls[0], "approve");
    await talk.ended(run);
    await talk.play("tell it again");
    await Promise.all(
      cut.map((watcher) => watcher.until("the head", () => watcher.view.cursor === talk.watcher.view.cursor)),
    );
    const texts = new Map(
      talk
        .of("message.completed")
        .map(({ data: { message } }) => [
          message.id,
          message.parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
        ]),
    );
    for (const watcher of cut) {
      expect(watcher.view.events).toEqual(talk.events);
      expect(watcher.view).toMatchObject({ gaps: 0, repeats: 0, live: null });
      expect(watcher.cuts.event).toBeGreaterThan(5);
      expect(watcher.cuts.delta).toBeGreaterThan(5);
      // Every preview on the way was a beginning of the text that was kept, and cuts did not leave it behind.
      expect(watcher.previews.some(({ text }) => text.includes("w50"))).toBe(true);
      for (const { messageId, text } of watcher.previews) expect(texts.get(messageId)?.startsWith(text)).toBe(true);
      watcher.onFrame = () => undefined;
    }
    await agree(talk);
  });

  test.concurrent("a watcher that joins in the middle of a text is shown it whole", async () => {
    const talk = await Talk.open({ answers: [SLOW] });
    const run = await talk.start();
    await talk.watcher.until("ten words", () => talk.watcher.view.live?.text.includes("w10"));
    const late = await talk.newWatcher().connect();
    const shown = await late.until("the text so far", () => late.view.live?.text);
    expect(shown).toMatch(/^w00 w01 .*w10/);
    await talk.ended(run);
    await late.until("the head", () => late.view.cursor === talk.watcher.view.cursor);
    expect(late.view.events).toEqual(talk.events);
    await agree(talk);
  });

  test.concurrent("a socket that is cut cancels nothing", async () => {
    const talk = await Talk.open({ answers: [SLOW] });
    const run = await talk.start();
    await talk.watcher.until("a word", () => talk.watcher.view.live);
    talk.watcher.cut();
    await talk.watcher.connect();
    expect(await talk.ended(run)).toMatchObject({ type: "run.completed" });
    expect(talk.of("run.cancel_requested")).toEqual([]);
    await agree(talk);
  });
});

describe("a cursor is believed only where it can be", () => {
  test.concurrent("a malformed one is refused at the door", async () => {
    const talk = await Talk.open();
    const malformed = [
      "abc",
      "",
      "1",
      "-1",
      `${talk.generation}.-1`,
      `${talk.generation}.1.5`,
      `${talk.generation}.01`,
    ];
    for (const after of [
      ...malformed,
      `${talk.generation}.`,
      "ABCDEFGH.1",
      `${talk.generation}.9999999999999999`,
      "💥.1",
    ]) {
      const response = await upgrade(talk.person, talk.id, after);
      expect([after, response.status, response.webSocket]).toEqual([after, 422, null]);
      expect(await response.json()).toMatchObject({ code: "cursor_invalid" });
    }
    await agree(talk);
  });

  test.concurrent("of the future, or of another conversation: a reset that says so, and then what happens", async () => {
    const talk = await Talk.open();
    const other = await Talk.open();
    await talk.play();
    for (const [cursor, reason] of [
      [`${talk.generation}.1000000000`, "ahead_of_head"],
      [`${other.generation}.1`, "other_generation"],
      ["abcdefgh.0", "other_generation"],
    ] as const) {
      const watcher = await new Watcher(talk.person, talk.id, cursor).connect();
      const reset = await watcher.until("a reset", () => watcher.frames.find(({ type }) => type === "reset"));
      const head = `${talk.generation}.${talk.events.length}`;
      expect(reset).toMatchObject({ reason, headCursor: head, snapshot: { id: talk.id, headCursor: head } });
      const before = talk.events.length;
      await talk.play("and now?");
      await watcher.until("the head", () => watcher.view.cursor === talk.watcher.view.cursor);
      expect(watcher.view.events).toEqual(talk.events.slice(before));
    }
    await agree(talk);
    await agree(other);
  });

  test.concurrent("of the head: nothing was missed, and it says so; without one: from now on", async () => {
    const talk = await Talk.open();
    await talk.play();
    const head = `${talk.generation}.${talk.events.length}`;
    const from = await new Watcher(talk.person, talk.id, head).connect();
    const now = await new Watcher(talk.person, talk.id, null).connect();
    expect(await from.until("events", () => from.frames.find(({ type }) => type === "events"))).toEqual({
      type: "events",
      events: [],
      cursor: head,
    });
    const before = talk.events.length;
    await talk.play();
    for (const watcher of [from, now]) {
      await watcher.until("the head", () => watcher.view.cursor === talk.watcher.view.cursor);
      expect(watcher.view.events).toEqual(talk.events.slice(before));
    }
    expect(now.frames.map(({ type }) => type)).not.toContain("events");
    await agree(talk);
  });
});
