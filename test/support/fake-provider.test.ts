import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatBody, postJson, readSse, user } from "./calls.ts";
import { startFakeProvider, type FakeProvider } from "./fake-provider.ts";

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());
beforeEach(() => provider.reset());

const chat = (body: unknown, headers = {}) => postJson(`${provider.baseUrl}/chat/completions`, body, headers);
const say = async (model: string) => readSse(await (await chat(chatBody(model))).text()).content;
const control = (route: string, body: unknown) => postJson(`${provider.url}/__${route}`, body);

describe("the strict rules refuse", () => {
  const call = (id: unknown, args: unknown = "{}") => ({
    id,
    type: "function",
    function: { name: "ping", arguments: args },
  });
  const asks = (...calls: unknown[]) => ({ role: "assistant", content: null, tool_calls: calls });
  const answers = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
  const history = (...messages: unknown[]) => chatBody("m", [user("go"), ...messages]);
  const ONE_MESSAGE = '{"model":"m","messages":[{"role":"user","content":"@"}]}';
  const spliced = (...bytes: number[]) => {
    const [head = "", tail = ""] = ONE_MESSAGE.split("@");
    return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
  };

  it.each<[what: string, code: string, body: unknown]>([
    ["invalid UTF-8", "invalid_utf8", spliced(0x61, 0xff, 0x62)],
    ["a surrogate encoded as UTF-8 bytes", "invalid_utf8", spliced(0xed, 0xa0, 0x80)],
    ["invalid JSON", "invalid_json", '{"model":"m","messages":['],
    ["a byte order mark", "invalid_json", `\ufeff${ONE_MESSAGE}`],
    ["a lone high surrogate", "lone_surrogate", ONE_MESSAGE.replace("@", String.raw`a\ud800b`)],
    ["a lone low surrogate", "lone_surrogate", ONE_MESSAGE.replace("@", String.raw`\uDE80`)],
    ["one in a member name", "lone_surrogate", ONE_MESSAGE.replace('"content"', String.raw`"\ud83d":1,"content"`)],
    ["a call that is not answered", "tool_call_unanswered", history(asks(call("c1")))],
    [
      "a batch answered in part",
      "tool_call_unanswered",
      history(asks(call("c1"), call("c2")), answers("c1"), user("x")),
    ],
    ["a tool message without a call", "tool_message_without_call", history(answers("c9"))],
    ["the id of another call", "tool_message_without_call", history(asks(call("c1")), answers("c1"), answers("c2"))],
    ["a second answer", "tool_call_answered_twice", history(asks(call("c1")), answers("c1"), answers("c1"))],
    ["duplicate ids", "tool_call_id_duplicate", history(asks(call("c1"), call("c1")), answers("c1"))],
    ["an empty id", "tool_call_id_empty", history(asks(call("")))],
    ["a missing id", "tool_call_id_empty", history(asks(call(undefined)))],
    ...["", '{"a":1', "[1]", '"{}"', "null", { a: 1 }].map((args): [string, string, unknown] => [
      `the arguments ${JSON.stringify(args)}`,
      "tool_arguments_invalid",
      history(asks(call("c1", args)), answers("c1")),
    ]),
    ["an empty list of calls", "invalid_shape", history(asks())],
    ["an empty assistant message", "invalid_shape", history({ role: "assistant", content: null })],
    ["no messages", "invalid_shape", { model: "m", messages: [] }],
  ])("%s: %s", async (_what, code, body) => {
    provider.script({ scope: "m", queue: [{ text: "first" }] });
    const response = await chat(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", code } });
    expect(provider.stats("m").violations.map((violation) => violation.code)).toEqual([code]);
    expect(provider.requests("m")[0]?.answer).toEqual({ kind: "violation", code });
    expect(provider.stats("m").queued).toBe(1);
  });

  it("an answer that is not directly behind its call, and says where", async () => {
    expect((await chat(history(asks(call("c1")), user("wait"), answers("c1")))).status).toBe(400);
    expect(provider.stats("m").violations.map(({ code, param }) => [code, param])).toEqual([
      ["tool_call_unanswered", "messages[1].tool_calls"],
      ["tool_message_without_call", "messages[3].tool_call_id"],
    ]);
  });

  it("nothing of a correct history: answered out of order, ids used again later, emoji in every spelling", async () => {
    const batch = [asks(call("c1", '{"a":{"b":[1]}}'), call("c2")), answers("c2"), answers("c1")];
    await (await chat(history(...batch, { role: "assistant", content: "done" }, user("again"), ...batch))).text();
    await (await chat(ONE_MESSAGE.replace("@", String.raw`\ud83d\ude80 \\ud800 Zażółć`))).text();
    expect(provider.stats().violations).toEqual([]);
  });

  it("nothing where the scope is lenient, but record it", async () => {
    provider.script({ scope: "m", strict: false });
    const response = await chat(history(asks(call("c1"))));
    expect(response.status).toBe(200);
    await response.text();
    expect(provider.stats("m").violations.map(({ code }) => code)).toEqual(["tool_call_unanswered"]);
  });
});

describe("a script", () => {
  it("serves a queue in order, then the defaults in turn; scopes do not mix", async () => {
    await control("script", {
      scope: "a",
      queue: [{ text: "a1" }, { text: "a2" }],
      default: [{ text: "x" }, { text: "y" }],
    });
    await control("script", { scope: "b", queue: [{ text: "b1" }] });
    const heard: string[] = [];
    for (const model of ["a", "b", "a", "b", "a", "a", "a"]) heard.push(await say(model));
    expect(heard).toEqual(["a1", "b1", "a2", "Hello from the fake provider.", "x", "y", "x"]);
    expect(provider.requests("a").map(({ n, answer }) => `${n} ${answer?.from}`)).toEqual([
      "1 queue",
      "2 queue",
      "3 default",
      "4 default",
      "5 default",
    ]);
  });

  it("can be replaced and reset, per scope or all", async () => {
    provider.script({ scope: "r", queue: [{ text: "old" }] });
    provider.script({ scope: "r", queue: [{ text: "new" }], replace: true });
    expect(await say("r")).toBe("new");
    await say("other");
    await control("reset", { scope: "r" });
    expect([provider.requests("r").length, provider.requests("other").length]).toEqual([0, 1]);
    await control("reset", {});
    expect(provider.stats()).toMatchObject({ total: 0 });
  });

  it.each<unknown>([
    { fixture: "S99" },
    { fixture: "common" },
    { text: "x", delay: 5 },
    { text: 5 },
    { status: 42 },
    { waitMs: 5 },
    { toolCalls: [{ arguments: {} }] },
    { raw: "abc", splitAt: [2, 1] },
  ])("with the mistake %j is refused and changes nothing", async (mistake) => {
    const response = await control("script", { scope: "bad", queue: [{ text: "fine" }, mistake] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
    expect(provider.stats("bad").queued).toBe(0);
    expect((await control("script", { scope: "bad", que: [] })).status).toBe(400);
    expect((await control("script", "{")).status).toBe(400);
  });

  it("cuts text into the asked number of deltas, never inside a character", async () => {
    const text = "Zażółć 你好 🚀🚀🚀 fin";
    provider.script({
      scope: "c",
      queue: [{ text, chunks: 7, usage: { prompt_tokens: 7, completion_tokens: 9 } }, { text }],
    });
    const { chunks, content, usage } = readSse(await (await chat(chatBody("c"))).text());
    expect(content).toBe(text);
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.content)).toHaveLength(7);
    expect(chunks.every((chunk) => (chunk.choices[0]?.delta.content ?? "").isWellFormed())).toBe(true);
    expect(usage?.total_tokens).toBe(16);
    expect(await say("c")).toBe(text);
  });

  it("sends usage where it is scripted or asked for", async () => {
    expect(readSse(await (await chat(chatBody("u"))).text()).usage).toBeUndefined();
    const asked = chatBody("u", [user("hi")], { stream_options: { include_usage: true } });
    expect(readSse(await (await chat(asked)).text()).usage?.total_tokens).toBeGreaterThan(0);
  });

  it("sends tool calls as deltas, or whole when nothing is streamed", async () => {
    const toolCalls = [
      { id: "c1", name: "transfer", arguments: { amount_cents: 500 } },
      { name: "ping", arguments: "" },
    ];
    provider.script({ scope: "tc", queue: [{ toolCalls, text: "Well. " }, { toolCalls }] });
    const { chunks, content } = readSse(await (await chat(chatBody("tc"))).text());
    expect(content).toBe("Well. ");
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    const argsOf = (index: number) => deltas.filter((one) => one.index === index).map((one) => one.function.arguments);
    expect(argsOf(0).join("")).toBe('{"amount_cents":500}');
    expect(argsOf(1).join("")).toBe("");
    expect(deltas.filter((one) => one.id).map((one) => one.function.name)).toEqual(["transfer", "ping"]);
    const whole = await (await chat(chatBody("tc", [user("hi")], { stream: false }))).json();
    expect(whole).toMatchObject({
      choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{ id: "c1" }, {}] } }],
    });
  });

  it("answers a status with headers and body, and long requests by a limit that spares the queue", async () => {
    const slow = { status: 429, headers: { "retry-after": "86400" }, body: { error: { code: "slow_down" } } };
    const tooLarge = { status: 413, body: { error: { code: "too_large" } } };
    provider.script({
      scope: "s",
      queue: [slow, { status: 502, body: "<html>" }],
      bodyLimit: { bytes: 1000, answer: tooLarge },
    });
    expect((await chat(chatBody("s", [user("x".repeat(1000))]))).status).toBe(413);
    const first = await chat(chatBody("s"));
    expect([first.status, first.headers.get("retry-after")]).toEqual([429, "86400"]);
    const second = await chat(chatBody("s"));
    expect([second.status, await second.text()]).toEqual([502, "<html>"]);
  });

  it("lists requests with body, times and masked credentials, on both paths", async () => {
    const secret = { authorization: "Bearer sk-secret-12345678" };
    await (await postJson(`${provider.url}/chat/completions`, chatBody("q"), secret)).text();
    await (await chat(chatBody("q"), { authorization: "Bearer abc" })).text();
    const listed = provider.requests("q");
    expect(listed.map(({ path }) => path)).toEqual(["/chat/completions", "/v1/chat/completions"]);
    expect(listed.map(({ headers }) => headers.authorization)).toEqual(["Bearer ***5678", "Bearer ***"]);
    expect(listed[0]?.body).toEqual(chatBody("q"));
    expect(listed[1]).toMatchObject({ endedBy: "server", complete: true, writes: listed[1]?.writesPlanned });
    expect(await (await fetch(`${provider.url}/__requests?scope=q`)).text()).not.toContain("sk-secret");
    expect((await fetch(`${provider.url}/nowhere`)).status).toBe(404);
  });
});
