/// <reference types="@cloudflare/vitest-plugin/types" />
import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import projection from "../../migrations/history/0001_projection.sql";
import figures from "../../migrations/history/0002_figures.sql";
import { d1Destination } from "../../src/history/destination.ts";
import { HistoryDrain } from "../../src/history/drain.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readConfirmations } from "../../src/history/read-confirmations.ts";
import { readConversation, readConversations } from "../../src/history/read-conversations.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { readRuns } from "../../src/history/read-runs.ts";
import { migrateD1 } from "../../src/sql/d1-migrations.ts";
import { Lines, Outbox } from "../history/outbox.ts";
import { longStory, Script, START, transfer } from "../history/script.ts";

const ANN = { userId: "ann", roles: [], scopes: ["confirmations:decide", "lab:transfer"] };
const history = historyFor(env.HISTORY, "acme");

beforeAll(async () => {
  await migrateD1(env.HISTORY, [
    { name: "0001_projection.sql", sql: projection },
    { name: "0002_figures.sql", sql: figures },
  ]);
});

async function drain(script: Script): Promise<Outbox> {
  const journal = new Outbox(script);
  const log = new Lines();
  const destination = d1Destination(env.HISTORY);
  const drain = new HistoryDrain({ journal, destination, clock: { now: () => START }, log, random: () => 0.5 });
  expect(await drain.drain()).toBeNull();
  expect(log.names).toEqual([]);
  expect(journal.projectedSeq()).toBe(script.events.length);
  return journal;
}

test("a real D1 takes a log, and gives lists, search, inbox, messages and runs of it", async () => {
  const story = longStory(1);
  await drain(story);
  await drain(story);
  const waiting = new Script({ n: 2, at: START + 1_000_000_000 });
  waiting.say("请重启订单服务 before\u0000after 🚀").plan([transfer(1)]);
  await drain(waiting);

  const list = await readConversations(history, ANN, { limit: 10 });
  expect(list.data.map(({ id, asOfSeq }) => [id, asOfSeq])).toEqual([
    [waiting.id, waiting.events.length],
    [story.id, story.events.length],
  ]);
  for (const [q, expected] of [
    ["重启", [waiting.id]],
    ["启", [waiting.id]],
    ["两笔", [story.id]],
    ['money" OR words : "x', []],
    ["mo", []],
    ["mone", [story.id]],
  ] as const) {
    const { data } = await readConversations(history, ANN, { limit: 10, q });
    expect({ q, ids: data.map(({ id }) => id) }).toEqual({ q, ids: expected });
  }
  const inbox = await readConfirmations(history, ANN, { now: START, limit: 10 });
  expect(inbox.data.map(({ id }) => id)).toContain(waiting.call(1));
  const messages = await readMessages(history, ANN, waiting.id, { after: 0, limit: 10, order: "asc" });
  expect(messages).toMatchObject({
    kind: "found",
    value: { stale: true, data: [{ parts: [{ type: "text", text: "请重启订单服务 before\u0000after 🚀" }] }] },
  });
  const runs = await readRuns(history, ANN, waiting.id, { limit: 10 });
  expect(runs).toMatchObject({
    kind: "found",
    value: { data: [{ status: "interrupted", phase: "awaiting_confirmation", pending: [{ id: waiting.call(1) }] }] },
  });
});

test("a real D1 leaves nothing of an erased conversation to be read", async () => {
  const script = new Script({ n: 3, title: "short-lived" });
  script.say("soon gone").plan([], "bye");
  await drain(script);
  script.command({ type: "delete_conversation", body: {} });
  await drain(script);
  expect(await readConversation(history, ANN, script.id)).toEqual({ kind: "never_written" });
  expect((await readConversations(history, ANN, { limit: 10, q: "gone" })).data).toEqual([]);
  const left = await env.HISTORY.prepare("SELECT count(*) AS n FROM messages WHERE conversation_id = ?1")
    .bind(script.id)
    .first("n");
  expect(left).toBe(0);
});

test("a real D1 uses the indexes that the history was made for", async () => {
  const plan = await env.HISTORY.prepare(
    `EXPLAIN QUERY PLAN SELECT p.conversation_id FROM participants p WHERE p.tenant_id = ?1 AND p.user_id = ?2
      AND (p.conversation_created_at, p.conversation_id) < (?3, ?4)
      ORDER BY p.conversation_created_at DESC, p.conversation_id DESC LIMIT ?5`,
  )
    .bind("acme", "ann", 1, "", 1)
    .all<{ detail: string }>();
  expect(plan.results.map(({ detail }) => detail).join()).toContain("participants_newest");
});
