import { expect, test } from "vitest";
import { backOffMs } from "../../src/history/back-off.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { chat, drained, expected } from "./drained.ts";
import { longStory, person, Script, START } from "./script.ts";
import { bring, everything, found, history } from "./support.ts";

test("a drain brings the whole log over and then has nothing left", async () => {
  const script = longStory();
  const { drain, db, journal, log } = drained(script);
  expect(await drain.drain()).toBeNull();
  expect(journal.projectedSeq()).toBe(script.events.length);
  expect(everything(db)).toEqual(await expected(script));
  expect(log.names).toEqual([]);
  const before = db.batches.length;
  expect(await drain.drain()).toBeNull();
  expect(db.batches).toHaveLength(before);
});

test("a batch holds at most 50 statements, whatever piles up", async () => {
  const script = chat(60);
  const { drain, db } = drained(script);
  await drain.drain();
  expect(Math.max(...db.batches.map((batch) => batch.length))).toBeLessThanOrEqual(50);
  expect(Math.max(...db.batches.map((batch) => batch.length))).toBeGreaterThan(30);
  expect(everything(db)).toEqual(await expected(script));
});

test("a conversation that was never initialised has nothing to bring", async () => {
  const { drain, journal, db } = drained(chat(1));
  journal.identity = () => null;
  expect(await drain.drain()).toBeNull();
  expect(db.batches).toEqual([]);
});

test("one drain is in flight, and what is appended meanwhile goes along with it", async () => {
  const script = chat(20);
  const { drain, db, journal } = drained(script);
  let inFlight = 0;
  let most = 0;
  db.before = () => {
    most = Math.max(most, ++inFlight);
    if (db.batches.length === 2) script.say("in between").plan([], "yes");
  };
  db.after = () => void inFlight--;
  const first = drain.drain();
  expect(drain.drain()).toBe(first);
  await first;
  expect(most).toBe(1);
  expect(journal.projectedSeq()).toBe(script.events.length);
  script.say("afterwards").plan([], "too");
  await drain.drain();
  expect(everything(db)).toEqual(await expected(script));
});

test("a commit whose answer is lost does no harm, and is not reported as anything", async () => {
  const script = longStory();
  const { drain, db, clock, journal } = drained(script);
  let lost = 3;
  db.after = (batch) => {
    if (batch.length > 1 && lost-- > 0) throw new Error("network connection lost");
  };
  for (let again = await drain.drain(); again !== null; again = await drain.drain()) clock.at = again;
  expect(lost).toBeLessThan(0);
  expect(journal.parked()).toEqual([]);
  expect(everything(db)).toEqual(await expected(script));
});

test("a drain that is killed between commit and mark starts again from the old mark", async () => {
  const script = longStory();
  const db = history();
  await drained(script, db).drain.drain();
  const reborn = drained(script, db);
  expect(reborn.journal.projectedSeq()).toBe(0);
  expect(await reborn.drain.drain()).toBeNull();
  expect(everything(db)).toEqual(await expected(script));
});

test("while the database is down it backs off and sets nothing aside", async () => {
  const script = chat(10);
  const { drain, db, clock, journal, log } = drained(script);
  db.before = () => {
    throw new Error("D1 is down");
  };
  const waits: number[] = [];
  for (let tries = 0; tries < 12; tries++) {
    const again = await drain.drain();
    expect(again).not.toBeNull();
    waits.push((again ?? 0) - clock.at);
    const batches = db.batches.length;
    // Before its time it does not even ask.
    expect(await drain.drain()).toBe(again);
    expect(db.batches).toHaveLength(batches);
    clock.at = again ?? 0;
  }
  expect(waits[0]).toBeGreaterThanOrEqual(1_000);
  expect(waits.at(-1)).toBeLessThanOrEqual(300_000);
  expect(waits.at(-1)).toBeGreaterThan(150_000);
  expect(journal.parked()).toEqual([]);
  expect(new Set(log.names)).toEqual(new Set(["history_unavailable"]));
  db.before = () => {};
  expect(await drain.drain()).toBeNull();
  expect(everything(db)).toEqual(await expected(script));
});

test("a database that comes and goes in the middle of a log costs time, and no event", async () => {
  const script = chat(30);
  for (const outage of [1, 2, 3, 4, 5, 6, 9]) {
    const { drain, db, clock, journal } = drained(script);
    db.before = () => {
      if (db.batches.length > 3 && db.batches.length <= 3 + outage) throw new Error("overloaded");
    };
    for (let again = await drain.drain(); again !== null; again = await drain.drain()) clock.at = again;
    expect(db.batches.length).toBeGreaterThan(3 + outage);
    expect(journal.parked()).toEqual([]);
    expect(everything(db)).toEqual(await expected(script));
  }
});

test("the back-off doubles from about a second to five minutes, and never in step", () => {
  expect([1, 2, 3].map((failures) => backOffMs(failures, 0))).toEqual([1_000, 2_000, 4_000]);
  expect(backOffMs(1, 0.999)).toBeGreaterThan(backOffMs(1, 0.5));
  expect(backOffMs(1_000, 0.999)).toBeLessThanOrEqual(300_000);
  expect(backOffMs(1, 0)).toBeGreaterThanOrEqual(1_000);
});

test("a history that lost rows it had gets them again from the log", async () => {
  const script = chat(30);
  const db = history();
  const { drain, log } = drained(script, db);
  await drain.drain();
  // As restored from a backup: shorter, or without the conversation.
  for (const seq of [17, 0]) {
    const older = history();
    await bring(older, script, () => 10, script.events.slice(0, seq));
    const { drain, journal, log } = drained(script, older);
    journal.markProjected(script.events.length - 4);
    expect(await drain.drain()).toBeNull();
    expect(everything(older)).toEqual(await expected(script));
    expect(log.names).toContain("history_lost");
  }
  expect(log.names).toEqual([]);
});

test("an erased conversation leaves nothing but its tombstone, and late rows do not bring it back", async () => {
  const script = longStory();
  const db = history();
  const other = longStory(2);
  await bring(db, other);
  const neighbour = everything(db);
  const late = [...script.events];
  script.command({ type: "delete_conversation", body: {} });
  const { drain, journal } = drained(script, db);
  await drain.drain();
  expect(journal.projectedSeq()).toBe(script.events.length);
  await bring(db, { subject: script.subject, events: late });
  const { tombstones, ...rest } = everything(db);
  const { tombstones: _none, ...before } = neighbour;
  expect(rest).toEqual(before);
  expect(tombstones).toHaveLength(1);
  expect(JSON.stringify(tombstones)).not.toContain("ann");
});

test("rows of an older generation change nothing, and a younger one takes the conversation over", async () => {
  const older = longStory();
  const younger = new Script({ at: START + 86_400_000, title: "Restored" });
  younger.say("hello again").plan([], "hello");
  const renamed = { ...younger.subject, generation: "younger0" };
  const events = younger.events.map((event) =>
    event.type === "conversation.created" ? { ...event, data: { ...event.data, generation: "younger0" } } : event,
  );
  const db = history();
  await bring(db, older);
  await bring(db, { subject: renamed, events });
  const row = () => db.rows("SELECT generation, title, seq FROM conversations");
  expect(row()).toEqual([{ generation: "younger0", title: "Restored", seq: events.length }]);
  const before = everything(db);
  const { drain, journal, log } = drained(older, db);
  expect(await drain.drain()).toBeNull();
  expect(everything(db)).toEqual(before);
  expect(journal.projectedSeq()).toBe(older.events.length);
  expect(log.names).toContain("history_superseded");
  const read = await readMessages(historyFor(db, "acme"), { userId: "ann" }, older.id, {
    after: 0,
    limit: 9,
    order: "asc",
  });
  expect(found(read).data).toHaveLength(2);
});

test("a long text stands whole in the history; one beyond a row's size stays the excerpt and says so", async () => {
  const script = new Script();
  script.say("write");
  const long = "长文 text ".repeat(20_000);
  const huge = "\u0000".repeat(400_000);
  const text = (digest: string, bytes: number) => ({ text: "excerpt", excerptOf: { digest, bytes } });
  const answered = {
    kind: "answered",
    finishReason: "stop",
    calls: [],
    usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: null, estimated: true, model: null },
    request: { digest: "d", model: "m", parameters: {} },
  } as const;
  script.model({ ...answered, verdict: "final", text: text("long", long.length) });
  script.say("more").model({ ...answered, verdict: "final", text: text("huge", huge.length) });
  const { drain, db, journal } = drained(script);
  journal.payloads.set("long", long).set("huge", huge);
  expect(await drain.drain()).toBeNull();
  expect(journal.parked()).toEqual([]);
  const read = await readMessages(historyFor(db, "acme"), { userId: "ann" }, script.id, {
    after: 0,
    limit: 9,
    order: "asc",
  });
  const parts = found(read).data.map((message) => message.parts[0]);
  expect(parts[1]).toEqual({ type: "text", text: long });
  expect(parts[3]).toEqual({ type: "text", ...text("huge", huge.length) });
});

test("characters that break others stay as they are: NUL, emoji, combining marks, line separators", async () => {
  const script = new Script();
  const odd = "before\u0000after Zażółć 你好 🚀 e\u0301 \u2028 ' \" ; -- $1 ?1";
  script.say(odd, person("ann"));
  const { drain, db, journal } = drained(script);
  await drain.drain();
  expect(journal.parked()).toEqual([]);
  const read = await readMessages(historyFor(db, "acme"), { userId: "ann" }, script.id, {
    after: 0,
    limit: 9,
    order: "asc",
  });
  expect(found(read).data[0]?.parts).toEqual([{ type: "text", text: odd }]);
});
