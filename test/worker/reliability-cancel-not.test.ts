/** Cases S51, S53 and S54: what is no cancel, what comes too late, and what a crash cuts short. */
import { describe, expect, test } from "vitest";
import { agree } from "./harness/agreement.ts";
import { crash, untilAsked } from "./harness/life.ts";
import { askedOf } from "./harness/sockets-to.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const SLOW_TEXT = { fixture: "common_slow_text" };

describe("what is no cancel, and what comes too late", () => {
  test.concurrent("a watcher that goes away, with or without a word, cancels nothing", async () => {
    const talk = await Talk.open({ answers: [SLOW_TEXT] });
    const run = await talk.start();
    await talk.watcher.until("a word", () => talk.watcher.frames.some(({ type }) => type === "delta"));
    talk.watcher.cut();
    const path = `/v1/conversations/${talk.id}/events`;
    const stream = await talk.person.call("GET", path, { headers: { accept: "text/event-stream" } });
    const reader = stream.body?.getReader();
    await reader?.read();
    await reader?.cancel("gone");
    await talk.watcher.connect();
    expect((await talk.ended(run)).type).toBe("run.completed");
    expect(talk.of("run.cancel_requested", run)).toEqual([]);
    expect((await askedOf(talk)).map(({ endedBy }) => endedBy)).toEqual(["server"]);
    await agree(talk);
  });

  test.concurrent("a run that has ended is not cancelled, and the answer has it", async () => {
    const talk = await Talk.open({ answers: [COMMON_TEXT] });
    const { run } = await talk.play();
    const late = await talk.person.ask("POST", `/v1/runs/${run.id}/cancel`, { body: {} });
    expect(late).toMatchObject({ status: 409, body: { code: "run_finished", run: { id: run.id } } });
    await talk.play("another");
    await talk.evict();
    const later = await talk.person.ask("POST", `/v1/runs/${run.id}/cancel`, { body: {} });
    expect(later).toMatchObject({ status: 409, body: { code: "run_finished", run: { id: run.id } } });
    await agree(talk);
  });

  test.concurrent("a cancel that a crash cuts short has happened: the next life ends the run", async () => {
    const talk = await Talk.open({ answers: [{ hang: true }] });
    const run = await talk.start();
    await untilAsked(talk, 1);
    await talk.person.client.cancel(run.id);
    await crash(talk);
    await talk.watcher.connect();
    expect((await talk.ended(run)).type).toBe("run.cancelled");
    await agree(talk);
    expect(await talk.requests()).toHaveLength(2);
  });

  test.concurrent("starting and cancelling twenty times: each is paid for, and the next start works", async () => {
    const talk = await Talk.open({ otherwise: SLOW_TEXT });
    for (let n = 0; n < 20; n++) {
      const from = talk.watcher.frames.length;
      const run = await talk.start(`run ${n}`);
      await talk.watcher.until("a word", () =>
        talk.watcher.frames.slice(from).some((frame) => frame.type === "delta" && frame.text !== ""),
      );
      await talk.person.client.cancel(run.id);
      const end = await talk.ended(run);
      expect(end.type).toBe("run.cancelled");
      expect(end.data.usage.inputTokens).toBeGreaterThan(0);
      expect(end.data.usage.outputTokens).toBeGreaterThan(0);
    }
    await agree(talk);
  });
});
