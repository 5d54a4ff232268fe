/** Cases S57 and S58: a confirmation expires once and at its time, whatever the alarm and the databases do. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { agree } from "./harness/agreement.ts";
import { breakHistory, breakLog, untilPast } from "./harness/clockwork.ts";
import { alarmAt, crash, eventCount, fireAlarm, loseAlarm, orderedErrors } from "./harness/life.ts";
import { calledOf } from "./harness/sockets-to.ts";
import { Talk } from "./harness/talk.ts";

const PROPOSE = { fixture: "common_propose_transfer" };
const SLACK_MS = 1_000;

describe("a confirmation that nobody decides", () => {
  const asking = async (confirmationTtlMs: number) => {
    const talk = await Talk.open({ answers: [PROPOSE], confirmationTtlMs });
    const { run, calls } = await talk.ask();
    return { talk, run, call: calls[0], expiresAt: Date.parse(calls[0]?.expiresAt ?? "") };
  };
  type Asking = Awaited<ReturnType<typeof asking>>;

  /** It expired once, in time, and its run was cancelled for that; nothing was sent. */
  async function expired({ talk, run, expiresAt }: Asking, slackMs = SLACK_MS): Promise<void> {
    expect(await talk.ended(run)).toMatchObject({
      type: "run.cancelled",
      data: { stop: { code: "confirmation_expired" }, sideEffects: [] },
    });
    const events = talk.of("confirmation.expired", run);
    expect(events).toHaveLength(1);
    const late = Date.parse(events[0]?.at ?? "") - expiresAt;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(slackMs);
    await agree(talk);
    expect(await calledOf(talk)).toEqual([]);
  }

  test.concurrent("expires at its time, with nobody there", async () => {
    const it = await asking(700);
    await it.talk.evict();
    await expired(it);
  });

  const yesAfterLostAlarm = async () => {
    const it = await asking(500);
    await loseAlarm(it.talk);
    await crash(it.talk);
    await untilPast(it.expiresAt);
    const decisions = [{ toolCallId: it.call?.id, argsDigest: it.call?.argsDigest, decision: "approve" }];
    return { it, decisions };
  };

  test.concurrent("has expired for the yes that comes after a lost alarm", async () => {
    const { it, decisions } = await yesAfterLostAlarm();
    const answer = await it.talk.answer(it.run, { decisions });
    expect(answer).toMatchObject({ status: 409, body: { code: "confirmation_expired" } });
    await it.talk.watcher.connect();
    await expired(it, 10_000);
  });

  test.concurrent("has expired for the yes that comes over a socket after a lost alarm", async () => {
    const { it, decisions } = await yesAfterLostAlarm();
    await it.talk.watcher.connect();
    const frame = await it.talk.watcher.command({ type: "resume", runId: it.run.id, decisions });
    expect(frame).toMatchObject({ type: "problem", problem: { code: "confirmation_expired" } });
    await expired(it, 10_000);
  });

  test.concurrent("expires after a lost alarm as soon as anybody looks, although looking decides nothing", async () => {
    const it = await asking(500);
    await loseAlarm(it.talk);
    await crash(it.talk);
    await untilPast(it.expiresAt);
    await it.talk.watcher.connect();
    await expired(it, 10_000);
  });

  test.concurrent("is not expired by an alarm that comes early; that alarm stands again", async () => {
    const it = await asking(1_500);
    const events = await eventCount(it.talk);
    for (let n = 0; n < 3; n++) await fireAlarm(it.talk);
    expect(await eventCount(it.talk)).toBe(events);
    await vi.waitFor(async () => expect(await alarmAt(it.talk)).toBe(it.expiresAt), 5_000);
    await expired(it);
  });

  test.concurrent("is expired once by an alarm that comes three times", async () => {
    const it = await asking(600);
    await loseAlarm(it.talk);
    await untilPast(it.expiresAt);
    const { talk } = it;
    const stub = await talk.stub();
    await Promise.all(Array.from({ length: 3 }, () => runAlarm(stub)));
    await expired(it, 10_000);
  });

  test.concurrent("expires at its time while the history is down, and the history hears of it later", async () => {
    const it = await asking(1_000);
    const mend = await breakHistory(it.talk);
    // Something that the history should know: its try fails, and another is planned.
    await it.talk.person.ask("PATCH", `/v1/conversations/${it.talk.id}`, { body: { title: "In the dark" } });
    await it.talk.ended(it.run);
    await mend();
    await expired(it);
  });

  test.concurrent("the other way round: asked while the history is already down", async () => {
    const talk = await Talk.open({ answers: [PROPOSE], confirmationTtlMs: 1_000 });
    const mend = await breakHistory(talk);
    await talk.person.ask("PATCH", `/v1/conversations/${talk.id}`, { body: { title: "In the dark" } });
    const { run, calls } = await talk.ask();
    await talk.evict();
    await talk.ended(run);
    await mend();
    await expired({ talk, run, call: calls[0], expiresAt: Date.parse(calls[0]?.expiresAt ?? "") });
  });

  test("that could not be written expires with a later alarm; the other duties are done, and nothing spins", async () => {
    const it = await asking(600);
    const { talk } = it;
    const path = `/v1/conversations/${talk.id}`;
    const unheard = await breakHistory(talk);
    expect((await talk.person.ask("PATCH", path, { body: { title: "Renamed" } })).status).toBe(200);
    const failed = () => orderedErrors().filter((line) => line.includes("alarm_duty_failed")).length;
    const before = failed();
    const mend = await breakLog(talk);
    await unheard();
    await untilPast(it.expiresAt + 1_500);
    expect((await talk.person.ask("PATCH", path, { body: { title: "Again" } })).status).toBe(500);
    // The history heard of the first name, from the alarm whose other duty had failed.
    const row = await env.HISTORY.prepare("SELECT title FROM conversations WHERE conversation_id = ?")
      .bind(talk.id)
      .first();
    expect(row).toEqual({ title: "Renamed" });
    expect(failed() - before).toBeGreaterThan(0);
    expect(failed() - before).toBeLessThan(10);
    await mend();
    await expired(it, 10_000);
  });
});

const runAlarm = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (object) => void (object as unknown as { alarm: () => void }).alarm());
