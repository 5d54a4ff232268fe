/**
 * What holds at the end of every case, whatever it was about: one terminal event per run and nothing of the run after
 * it; log, REST, WebSocket and D1 tell the same; the next run works; the strict provider had nothing to complain of.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { historyFor } from "../../../src/history/history-for.ts";
import { readMessages } from "../../../src/history/read-messages.ts";
import type { Read } from "../../../src/history/read-outcome.ts";
import { readRuns } from "../../../src/history/read-runs.ts";
import { isTerminal, type Event } from "../../../src/protocol/events.ts";
import type { Message } from "../../../src/protocol/message.ts";
import type { Run } from "../../../src/protocol/run.ts";
import type { ToolResult } from "../../../src/protocol/tool-result.ts";
import { provider } from "./fakes.ts";
import { loggedErrors } from "./log.ts";
import type { Talk } from "./talk.ts";

const AFTER_THE_END = new Set(["tool_call.late_result", "tool_call.resolved"]);

export async function agree(talk: Talk): Promise<void> {
  await nextStartWorks(talk);
  const events = await eventsOverRest(talk);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  await talk.watcher.until("the head", () => talk.watcher.view.cursor === `${talk.generation}.${events.length}`);
  expect(talk.events).toEqual(events);
  expect(talk.watcher.view).toMatchObject({ gaps: 0, repeats: 0, live: null });
  expect(await eventsInTheLog(talk)).toEqual(events);
  const runs = await runsAgree(talk, events);
  const messages = await messagesAgree(talk, events);
  streamedIsKept(talk, messages);
  await historyAgrees(talk, events, runs, messages);
  await requestsOnlyGrow(talk);
  expect(await provider.stats(talk.scope)).toMatchObject({ violations: [] });
  expect(loggedErrors()).toEqual([]);
}

async function nextStartWorks(talk: Talk): Promise<void> {
  await provider.script({ scope: talk.scope, replace: true, queue: [{ text: "All is well." }] });
  const { run } = await talk.play("Is all well?");
  expect(run).toMatchObject({ status: "completed", stop: { code: "final_answer" } });
}

export async function eventsOverRest(talk: Talk): Promise<Event[]> {
  const all: Event[] = [];
  for (let after: string | null = talk.beginning; after !== null;) {
    const page = await talk.person.client.events(talk.id, { after, limit: 200 });
    all.push(...page.data);
    after = page.nextCursor;
  }
  return all;
}

async function eventsInTheLog(talk: Talk): Promise<unknown[]> {
  return runInDurableObject(await talk.stub(), (_object, { storage }) =>
    storage.sql
      .exec("SELECT seq, v, type, at, run_n, by_kind, by_id, data FROM events ORDER BY seq")
      .toArray()
      .map((row) => ({
        seq: row["seq"],
        v: row["v"],
        type: row["type"],
        at: new Date(Number(row["at"])).toISOString(),
        ...(row["run_n"] === null ? {} : { runId: `${talk.id}.r${Number(row["run_n"])}` }),
        by: { kind: row["by_kind"], ...(row["by_id"] === null ? {} : { id: row["by_id"] }) },
        data: JSON.parse(String(row["data"])) as unknown,
      })),
  );
}

async function runsAgree(talk: Talk, events: readonly Event[]): Promise<Run[]> {
  const { data } = await talk.person.client.runs(talk.id);
  const named = [...new Set(events.flatMap(({ runId }) => runId ?? []))];
  expect(data.map(({ id }) => id).toSorted()).toEqual(named.toSorted());
  for (const run of data) {
    expect(await talk.person.client.run(run.id)).toEqual(run);
    const mine = events.filter(({ runId }) => runId === run.id);
    const ends = mine.filter(({ type }) => isTerminal(type));
    expect(ends).toMatchObject([{ type: `run.${run.status}`, data: { stop: run.stop, usage: run.usage } }]);
    const last = mine.filter(({ type }) => !AFTER_THE_END.has(type)).at(-1);
    expect(last).toEqual(ends[0]);
  }
  return [...data];
}

async function messagesAgree(talk: Talk, events: readonly Event[]): Promise<Message[]> {
  const told = events.flatMap((event) =>
    event.type === "message.created" || event.type === "message.completed" ? [event.data.message] : [],
  );
  const { data } = await talk.person.client.messages(talk.id, { limit: 200 });
  expect(data.map(unrendered)).toEqual(told);
  return told;
}

/** Our own sentences are put into words for each reader; what is kept is what they say. */
const unrendered = (message: Message): Message => ({
  ...message,
  parts: message.parts.map((part) => {
    if (part.type !== "notice") return part;
    const { type, code, params } = part;
    return { type, code, params };
  }),
});

/** For a watcher that was never cut: the pieces that it was shown are the text that is kept. */
function streamedIsKept({ watcher }: Talk, messages: readonly Message[]): void {
  if (watcher.connections > 1) return;
  for (const message of messages) {
    if (message.role !== "assistant" || message.status !== "complete") continue;
    const deltas = watcher.frames.flatMap((frame) =>
      frame.type === "delta" && frame.messageId === message.id ? [frame] : [],
    );
    const attempt = deltas.at(-1)?.attempt;
    if (attempt === undefined) continue;
    const shown = deltas.filter((delta) => delta.attempt === attempt);
    const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    expect(shown.map((delta) => delta.text).join("")).toBe(text);
    expect(shown.map(({ offset }) => offset)).toEqual(
      shown.map((_, i) => shown.slice(0, i).reduce((sum, delta) => sum + delta.text.length, 0)),
    );
  }
}

async function historyAgrees(
  talk: Talk,
  events: readonly Event[],
  runs: readonly Run[],
  messages: readonly Message[],
): Promise<void> {
  const history = historyFor(env.HISTORY, talk.person.tenantId);
  const reader = { userId: talk.person.userId };
  await vi.waitFor(
    async () => {
      const read = await readMessages(history, reader, talk.id, { after: 0, limit: 1_000, order: "asc" });
      expect(valueOf(read).asOfSeq).toBe(events.length);
    },
    { timeout: 10_000, interval: 50 },
  );
  const read = valueOf(await readMessages(history, reader, talk.id, { after: 0, limit: 1_000, order: "asc" }));
  expect(read.data.map(withoutExcerpts)).toEqual(messages.map(withoutExcerpts));
  expect(valueOf(await readRuns(history, reader, talk.id, { limit: 200 })).data).toEqual(runs);
  expect(await resultsInHistory(talk)).toEqual(resultsIn(events));
}

function valueOf<T>(read: Read<T>): T {
  if (read.kind !== "found") throw new Error(`the history says ${read.kind}`);
  return read.value;
}

/** The whole of a long text stands in D1, an excerpt of it in the event. */
const withoutExcerpts = (message: Message): unknown => ({
  ...message,
  parts: message.parts.filter((part) => !("excerptOf" in part)),
});

/** The payload of each call's outcome: equal on every hop. Here from the log, the very text that REST and sockets give. */
export function resultsIn(events: readonly Event[]): Record<string, ToolResult> {
  const results: Record<string, ToolResult> = {};
  for (const event of events) {
    if (!("payload" in event.data) || event.data.payload === undefined) continue;
    if (event.type === "tool_call.late_result") continue;
    results[event.data.toolCallId] = event.data.payload;
  }
  return results;
}

async function resultsInHistory(talk: Talk): Promise<Record<string, unknown>> {
  const { results } = await env.HISTORY.prepare(
    "SELECT run_n, call_n, result_json FROM tool_calls WHERE conversation_id = ? AND result_json IS NOT NULL",
  )
    .bind(talk.id)
    .all();
  return Object.fromEntries(
    results.map((row) => [`${talk.id}.r${row["run_n"]}.t${row["call_n"]}`, JSON.parse(String(row["result_json"]))]),
  );
}

/** What the model was told once it is told again, word for word: ids and arguments of old calls included. */
async function requestsOnlyGrow(talk: Talk): Promise<void> {
  // After a refusal as too long less is told.
  if (talk.of("run.failed").some(({ data }) => data.stop.code === "context_too_long")) return;
  const requests = await talk.requests();
  for (const [i, { messages }] of requests.entries()) {
    const before = requests[i - 1]?.messages ?? [];
    expect(messages.slice(0, before.length)).toEqual(before);
  }
}
