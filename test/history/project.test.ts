import { expect, test } from "vitest";
import { readRuns } from "../../src/history/read-runs.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readConversation } from "../../src/history/read-conversations.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { EventType } from "../../src/protocol/events.ts";
import { conversationView, runView } from "../../src/run/views.ts";
import { longStory, type Script } from "./script.ts";
import { randomOf, randomStory } from "./random-story.ts";
import { bring, everything, found, history } from "./support.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";

const ANN = { userId: "ann" };
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The history's runs and conversation against the core's own views of the same state. */
async function agrees(db: D1OnNodeSqlite, script: Script): Promise<void> {
  const { state } = script;
  const ours = historyFor(db, "acme");
  const read = await readRuns(ours, ANN, script.id, { limit: 200 });
  const runs = new Map(found(read).data.map((run) => [run.id, run]));
  for (const run of [...state.queue, state.active, state.latest]) {
    if (!run) continue;
    const row = runs.get(run.id);
    expect(plain(row)).toEqual(plain(runView(state, run)));
  }
  const view = conversationView(state, "owner");
  const { activeRun } = view;
  expect(found(await readConversation(ours, ANN, script.id))).toEqual({
    id: view.id,
    agent: view.agent,
    title: view.title,
    role: "owner",
    createdAt: view.createdAt,
    updatedAt: view.updatedAt,
    archived: view.archived,
    asOfSeq: state.seq,
    generation: script.subject.generation,
    activeRun: activeRun && {
      id: activeRun.id,
      status: activeRun.status,
      ...(activeRun.phase === undefined ? {} : { phase: activeRun.phase }),
    },
    needsConfirmation: view.needsConfirmation,
    handover: { state: view.handover.state },
  });
}

test("a log brought over once, twice, cut anywhere and overlapping gives the same rows", async () => {
  const script = longStory();
  const once = history();
  await bring(once, script, () => script.events.length);
  const expected = everything(once);
  await agrees(once, script);

  for (let seed = 1; seed <= 6; seed++) {
    const random = randomOf(seed);
    const db = history();
    await bring(db, script, () => Math.ceil(random() * 9));
    expect(everything(db)).toEqual(expected);
    await bring(db, script, () => Math.ceil(random() * 30));
    await bring(db, script, () => 7, script.events.slice(11));
    expect(everything(db)).toEqual(expected);
  }
});

test("a part that overlaps what is there adds the rest of it", async () => {
  const script = longStory();
  const whole = history();
  await bring(whole, script);
  const db = history();
  await bring(db, script, () => 10, script.events.slice(0, 23));
  await bring(db, script, () => 40, script.events.slice(9));
  expect(everything(db)).toEqual(everything(whole));
});

test("a part that does not join on to what is there changes nothing", async () => {
  const script = longStory();
  const db = history();
  await bring(db, script, () => 10, script.events.slice(0, 20));
  const before = everything(db);
  await bring(db, script, () => 10, script.events.slice(24));
  expect(everything(db)).toEqual(before);
});

test(
  "after every commit of whatever happens, the history agrees with the actor's views",
  { timeout: 60_000 },
  async () => {
    const types = new Set<string>();
    for (let seed = 1; seed <= 25; seed++) {
      const story = randomStory(seed, 150);
      const db = history();
      let from = 0;
      for (const [seq, state] of story.states) {
        const part = story.events.slice(from, seq);
        if (part.length === 0) continue;
        await bring(db, story, () => 50, part);
        await agrees(db, Object.assign(Object.create(story) as Script, { state }));
        from = seq;
      }
      for (const { type } of story.events) types.add(type);
      expect(from).toBe(story.events.length);
    }
    const unseen = EventType.options.filter((type) => !types.has(type));
    expect(unseen).toEqual(["conversation.deleted"]);
  },
);

test("messages stand in the order of the log, as the events have them", async () => {
  const script = longStory();
  const db = history();
  await bring(db, script);
  const read = await readMessages(historyFor(db, "acme"), ANN, script.id, { after: 0, limit: 200, order: "asc" });
  const said = script.events.flatMap((event) =>
    event.type === "message.created" || event.type === "message.completed" ? [event.data.message] : [],
  );
  expect(said.length).toBeGreaterThan(5);
  expect(found(read)).toMatchObject({ stale: true, asOfSeq: script.events.length, next: null });
  expect(found(read).data).toEqual(plain(said));
});

test("a call's result is the payload of its event, equal in every member", async () => {
  const script = longStory();
  const db = history();
  await bring(db, script);
  let compared = 0;
  for (const event of script.events) {
    if (event.type !== "tool_call.finished" || event.data.state !== "succeeded") continue;
    const [, run, call] = /\.r(\d+)\.t(\d+)$/.exec(event.data.toolCallId) ?? [];
    const [row] = db.rows(
      "SELECT result_json FROM tool_calls WHERE run_n = ? AND call_n = ?",
      Number(run),
      Number(call),
    );
    expect(row?.["result_json"]).toBe(JSON.stringify(event.data.payload));
    compared++;
  }
  expect(compared).toBeGreaterThan(0);
});

test("every statement stays within what D1 takes", async () => {
  const script = longStory();
  const db = history();
  await bring(db, script, () => 5);
  for (const { sql, params } of db.batches.flat()) {
    expect(sql).toMatch(/tenant_id/);
    expect(params.length).toBeLessThanOrEqual(100);
    expect(sql.length).toBeLessThan(100_000);
  }
});
