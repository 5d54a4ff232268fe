/** Cases S43, S44, S47: one request, one key, one effect; whatever is lost on the way, and however often it is sent. */
import { describe, expect, test } from "vitest";
import type { Run } from "../../src/protocol/run.ts";
import { agree, eventsOverRest } from "./harness/agreement.ts";
import { codeIn, newKey, send, starting, startPath, unmarked } from "./harness/keyed.ts";
import { crash, crashAndComeBack, untilAsked } from "./harness/life.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const runIn = (text: string): Run => JSON.parse(text) as Run;

describe("one key is one run", () => {
  test.concurrent("200 equal starts at once: one run, one message, one model request, one answer", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 200 }, () => starting(talk, key)));
    const [first] = answers.map(unmarked);
    expect(first?.status).toBe(202);
    for (const answer of answers) expect(unmarked(answer)).toEqual(first);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    const run = runIn(first?.text ?? "");
    await talk.ended(run);
    const replay = { ...first, replayed: true };
    expect(await starting(talk, key)).toEqual(replay);
    await talk.evict();
    expect(await starting(talk, key)).toEqual(replay);
    await crash(talk);
    expect(await starting(talk, key)).toEqual(replay);
    await talk.watcher.connect();
    expect(await talk.requests()).toHaveLength(1);
    expect(talk.of("message.created")).toHaveLength(1);
    expect((await talk.person.client.runs(talk.id)).data.map(({ id }) => id)).toEqual([run.id]);
    await agree(talk);
  });

  test.concurrent("the order of a body's members makes no other request of it", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const metadata = { a: "1", b: "2" };
    const first = await send(talk.person, startPath(talk), key, { input: { text: "hi" }, metadata });
    const turned = { metadata: { b: "2", a: "1" }, input: { text: "hi" } };
    expect(await send(talk.person, startPath(talk), key, turned)).toEqual({ ...first, replayed: true });
    await crashAndComeBack(talk);
    expect(await send(talk.person, startPath(talk), key, turned)).toEqual({ ...first, replayed: true });
    await talk.ended(runIn(first.text));
    await agree(talk);
  });

  test.concurrent("a key in quotes is the key", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const first = await starting(talk, key);
    expect(await starting(talk, `"${key}"`)).toEqual({ ...first, replayed: true });
    await talk.ended(runIn(first.text));
    await agree(talk);
  });

  test.concurrent("frames sent again after a reconnect get the same ack, and nothing happens twice", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }, COMMON_TEXT] });
    const frame = { type: "start_run", idempotencyKey: newKey(), input: { text: "go on" } };
    // Cut before the ack: nobody knows whether it arrived.
    talk.watcher.send(JSON.stringify({ id: "m1", ...frame }));
    talk.watcher.cut();
    await talk.watcher.connect();
    const acks = [await talk.watcher.command(frame), await talk.watcher.command(frame)];
    const run = runIn(JSON.stringify("result" in (acks[0] ?? {}) ? (acks[0] as { result: unknown }).result : null));
    expect(acks.map((ack) => ack.type === "ack" && ack.result)).toEqual([run, run]);
    expect(acks[1]).toMatchObject({ replayed: true });
    const { calls } = await talk.asked(run);
    const resume = {
      type: "resume",
      runId: run.id,
      idempotencyKey: newKey(),
      decisions: [{ toolCallId: calls[0]?.id, argsDigest: calls[0]?.argsDigest, decision: "approve" }],
    };
    talk.watcher.send(JSON.stringify({ id: "m2", ...resume }));
    talk.watcher.cut();
    await talk.watcher.connect();
    const decided = [await talk.watcher.command(resume), await talk.watcher.command(resume)];
    expect(decided).toMatchObject([{ type: "ack" }, { type: "ack", replayed: true }]);
    await talk.ended(run);
    const late = await talk.watcher.command(resume);
    expect(late).toMatchObject({ type: "ack", result: decided[1]?.type === "ack" ? decided[1].result : null });
    expect(await talk.bookings()).toHaveLength(1);

    await talk.script({ hang: true });
    const slow = await talk.start("slowly");
    await untilAsked(talk, 3);
    const cancel = { type: "cancel_run", runId: slow.id, idempotencyKey: newKey() };
    const cancelled = [await talk.watcher.command(cancel), await talk.watcher.command(cancel)];
    expect(cancelled).toMatchObject([{ type: "ack" }, { type: "ack", replayed: true }]);
    await talk.ended(slow);
    expect(talk.of("run.cancel_requested", slow)).toHaveLength(1);
    await agree(talk);
  });

  test.concurrent("a command is the same over REST and over the socket", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const first = await starting(talk, key, "one way");
    const again = await talk.watcher.command({ type: "start_run", idempotencyKey: key, input: { text: "one way" } });
    expect(again).toMatchObject({ type: "ack", replayed: true, result: runIn(first.text) });
    await talk.ended(runIn(first.text));
    const back = newKey();
    const started = await talk.watcher.command({
      type: "start_run",
      idempotencyKey: back,
      input: { text: "and back" },
    });
    const result = started.type === "ack" ? started.result : null;
    expect(await starting(talk, back, "and back")).toMatchObject({
      status: 202,
      replayed: true,
      text: JSON.stringify(result),
    });
    await talk.ended(runIn(JSON.stringify(result)));
    expect(await talk.requests()).toHaveLength(2);
    await agree(talk);
  });

  test.concurrent("every POST about a run answers again as it did first", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
    const { run, calls } = await talk.ask();
    const [call] = calls;
    const body = { decisions: [{ toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "reject" }] };
    const resumed = await send(talk.person, `/v1/runs/${run.id}/resume`, "resume-1", body);
    await talk.ended(run);
    await talk.script({ hang: true });
    const slow = await talk.start();
    await untilAsked(talk, 3);
    const cancelled = await send(talk.person, `/v1/runs/${slow.id}/cancel`, "cancel-1", { reason: "enough" });
    await talk.ended(slow);
    const retried = await send(talk.person, `/v1/runs/${slow.id}/retry`, "retry-1", {});
    await talk.ended(runIn(retried.text));
    const before = (await eventsOverRest(talk)).length;
    await crash(talk);
    for (const [path, key, sent, first] of [
      [`/v1/runs/${run.id}/resume`, "resume-1", body, resumed],
      [`/v1/runs/${slow.id}/cancel`, "cancel-1", { reason: "enough" }, cancelled],
      [`/v1/runs/${slow.id}/retry`, "retry-1", {}, retried],
    ] as const) {
      expect(first).toMatchObject({ status: 202, replayed: false });
      expect(await send(talk.person, path, key, sent)).toEqual({ ...first, replayed: true });
    }
    expect(await eventsOverRest(talk)).toHaveLength(before);
    await talk.watcher.connect();
    await agree(talk);
  });
});

describe("whatever instant the object dies at, the retry gets the one run", () => {
  test.concurrent.for(Array.from({ length: 6 }, (_, i) => [i] as const))("instant %d", async ([i]) => {
    const talk = await Talk.open();
    const key = newKey();
    const sent = starting(talk, key).catch(() => null);
    // Turns of the event loop, so that the cut falls before the claim, between claim and commit, and after it.
    for (let turn = 0; turn < i * 3; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    await crash(talk);
    const first = await sent;
    await talk.watcher.connect();
    const retried = await starting(talk, key);
    expect(retried.status).toBe(202);
    expect(unmarked(retried)).toEqual(unmarked(first?.status === 202 ? first : retried));
    await talk.ended(runIn(retried.text));
    expect(talk.of("run.queued")).toHaveLength(1);
    expect(talk.of("message.created")).toHaveLength(1);
    expect(codeIn(await starting(talk, key, "something else"))).toBe("idempotency_key_reused");
    await agree(talk);
  });
});
