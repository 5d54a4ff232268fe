/** Cases S13, S17 to S23, S34: text through every framing, foreign bytes, and much of it. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { agree } from "./harness/agreement.ts";
import { backend, provider } from "./harness/fakes.ts";
import { resultsOf, toldCalls } from "./harness/calls.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

async function lastText(talk: Talk): Promise<string> {
  const { data } = await talk.person.client.messages(talk.id, { order: "desc", limit: 1 });
  return data[0]?.parts.map((part) => ("text" in part ? part.text : "")).join("") ?? "";
}

describe("text arrives as it was said, whatever way its bytes came", () => {
  test.concurrent.for(
    (
      [
        ["S13", "Hi there"],
        ["S17", "Hello"],
        ["S19", "one two"],
        ["S20", "alpha beta"],
        ["S21", "Zażółć 你好 🚀 fin"],
        ["S22", "ok � end"],
        ["common_text", "Hello world"],
      ] as const
    ).flatMap(([fixture, text]) =>
      (["planned", "single", "bytewise"] as const).map((writes) => ({ fixture, text, writes })),
    ),
  )("$fixture, in $writes writes", async ({ fixture, text, writes }) => {
    const talk = await Talk.open({ answers: [{ fixture, writes }] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "completed", steps: 1 });
    expect(await lastText(talk)).toBe(text);
    expect(await talk.requests()).toHaveLength(1);
    await agree(talk);
  });

  test.concurrent("usage that comes in a chunk without choices is booked once", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S13" }] });
    const { run } = await talk.play();
    expect(run.usage).toMatchObject({ inputTokens: 12, outputTokens: 3, estimated: false });
    expect(talk.of("step.finished", run)).toHaveLength(1);
    await agree(talk);
  });

  test.concurrent("[DONE] ends the answer; a connection that stays open is closed by us", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S18" }] });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(await lastText(talk)).toBe("Done");
    // Had we waited for its end, the provider would have closed it.
    await vi.waitFor(async () => expect(await provider.requests(talk.scope)).toMatchObject([{ endedBy: "client" }]));
    await agree(talk);
  });
});

describe("characters that databases and JSON trip over", () => {
  test.concurrent("a NUL from the model, from a person and from a tool is kept or replaced, the same everywhere", async () => {
    const order = { name: "lookup_order", arguments: { order_id: "before\u0000after" } };
    const talk = await Talk.open({ answers: [{ toolCalls: [order] }, { fixture: "S23" }, COMMON_TEXT] });
    const { run } = await talk.play("before\u0000after");
    expect(run.status).toBe("completed");
    const { data } = await talk.person.client.messages(talk.id);
    for (const { parts } of data) expect(JSON.stringify(parts)).toMatch(/before.*after/);
    expect(JSON.stringify(resultsOf(talk, run))).toMatch(/before.*after/);
    const second = await talk.play("and again");
    expect(second.run.status).toBe("completed");
    await agree(talk);
  });

  test.concurrent("half a character in a call's arguments reaches neither tool nor provider", async () => {
    const half = { name: "lookup_order", arguments: String.raw`{"order_id":"A-\ud83d"}` };
    const talk = await Talk.open({ answers: [{ toolCalls: [half] }, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { code: "invalid_arguments" } }]);
    expect(await backend.requests(talk.person.userId)).toEqual([]);
    await agree(talk);
  });

  test.concurrent("text in every script comes back as it went in", async () => {
    const text = '\u202Eمرحبا \u{1F469}\u200D\u{1F4BB} 漢字 \u0007 "quoted" \\u0000 </script> \r\n\u2028 e\u0301';
    const talk = await Talk.open({ answers: [{ text }] });
    await talk.play(text);
    const { data } = await talk.person.client.messages(talk.id);
    expect(data.map(({ parts }) => parts)).toEqual([[{ type: "text", text }], [{ type: "text", text }]]);
    const [request] = await talk.requests();
    expect(request?.messages.at(-1)).toEqual({ role: "user", content: text });
    await agree(talk);
  });
});

describe("a very large result of a tool", () => {
  test.concurrent("is cut between characters, bounded in every row, event, frame and request, and the talk goes on", async () => {
    const big = (bytes: number) => ({ name: "lookup_order", arguments: { order_id: `big:${bytes}` } });
    const many = Array.from({ length: 20 }, () => big(100_000));
    const answers = [{ toolCalls: [big(3_000_000)] }, { toolCalls: many }, COMMON_TEXT];
    const talk = await Talk.open({ answers, limits: { maxRunTokens: 100_000_000 } });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    const results = resultsOf(talk, run);
    expect(results).toHaveLength(21);
    expect(results.every(({ success }) => success)).toBe(true);
    expect(results.every((result) => JSON.stringify(result).isWellFormed())).toBe(true);
    expect(results[0]).toMatchObject({ excerptOf: { bytes: expect.any(Number) } });
    for (const { result } of toldCalls((await talk.requests())[1])) {
      expect(result).toMatchObject({ success: true, truncated: true });
    }
    expect(Math.max(...talk.watcher.heard.map(bytesOf))).toBeLessThan(512 * 1024);
    expect(Math.max(...talk.events.map((event) => bytesOf(JSON.stringify(event))))).toBeLessThan(65 * 1024);
    await agree(talk);
    expect(await largestCell(talk)).toBeLessThan(2_000_000);
    expect(await largestRow()).toBeLessThan(2_000_000);
  });
});

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'";
const sizes = (columns: readonly string[]) => columns.map((name) => `coalesce(octet_length("${name}"), 0)`);

/** Of any table of the object, in bytes. */
async function largestCell(talk: Talk): Promise<number> {
  return runInDurableObject(await talk.stub(), (_object, { storage: { sql } }) => {
    const tables = sql
      .exec(NAMES)
      .toArray()
      .map((row) => String(row["name"]));
    return Math.max(
      ...tables.map((table) => {
        const columns = sql
          .exec(`PRAGMA table_info("${table}")`)
          .toArray()
          .map((row) => String(row["name"]));
        const largest = columns.length === 1 ? sizes(columns).join() : `max(${sizes(columns).join()})`;
        return Number(sql.exec(`SELECT max(${largest}) AS bytes FROM "${table}"`).one()["bytes"] ?? 0);
      }),
    );
  });
}

/** Of the history's tables that hold what tools and people said. */
async function largestRow(): Promise<number> {
  const rows = await Promise.all([
    env.HISTORY.prepare("SELECT max(octet_length(parts_json)) AS bytes FROM messages").first<{ bytes: number }>(),
    env.HISTORY.prepare(
      "SELECT max(octet_length(args_json) + coalesce(octet_length(result_json), 0)) AS bytes FROM tool_calls",
    ).first<{ bytes: number }>(),
  ]);
  return Math.max(...rows.map((row) => row?.bytes ?? 0));
}
