import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { NO_USAGE } from "../../../src/run/state.ts";
import { answered, payloadOf, read, ready, Story } from "./story.ts";
import { contents, failed, lastResult } from "./told.ts";

test("a conversation is told as user and assistant messages in turn", () => {
  const story = new Story();
  story.start("hello");
  story.says("hi");
  story.start("and now?");
  expect(contents(story)).toEqual([
    ["user", "hello"],
    ["assistant", "hi"],
    ["user", "and now?"],
  ]);
});

test("text and calls of a step are one assistant message, answered in call order whatever order the results came in", () => {
  const story = new Story();
  story.start("look both up");
  story.plans([read({ args: { order_id: "A-17" } }), read({ args: { order_id: "B-22" } })], "Let me check.");
  const [first, second] = story.executing;
  if (!first || !second) throw new Error("both reads run at once");
  story.tool(second, { kind: "ok", payload: payloadOf(second.id, { data: { order: "B" } }) });
  expect(contents(story)).toEqual([["user", "look both up"]]);
  story.tool(first, { kind: "ok", payload: payloadOf(first.id, { data: { order: "A" } }) });
  const [, assistant, a, b] = story.messages();
  expect(assistant).toEqual({
    role: "assistant",
    content: "Let me check.",
    tool_calls: [
      { id: "c00010001", type: "function", function: { name: "lookup_order", arguments: '{"order_id":"A-17"}' } },
      { id: "c00010002", type: "function", function: { name: "lookup_order", arguments: '{"order_id":"B-22"}' } },
    ],
  });
  expect(a).toEqual({ role: "tool", tool_call_id: "c00010001", content: '{"success":true,"data":{"order":"A"}}' });
  expect(b).toEqual({ role: "tool", tool_call_id: "c00010002", content: '{"success":true,"data":{"order":"B"}}' });
});

test("the model sees what it wrote, and in the result what ran instead", () => {
  const story = new Story();
  story.start("pay");
  story.plans([ready({ args: { amount_cents: 500 }, modelArgs: { amount_cents: "500" } })]);
  story.decideOn(story.state.active?.calls[0], "edit", { amount_cents: 300 });
  story.works({ booked: true });
  expect(story.messages()[1]?.tool_calls?.[0]?.function.arguments).toBe('{"amount_cents":"500"}');
  expect(lastResult(story)).toEqual({ success: true, args: { amount_cents: 300 }, data: { booked: true } });
});

test("a rejection is told with its reason, and nothing for people goes to the model", () => {
  const story = new Story();
  story.start("pay");
  story.plans([ready(), ready()]);
  const [first, second] = story.state.active?.calls ?? [];
  const decision = (toolCallId: string, reason?: string) => ({
    toolCallId,
    argsDigest: first?.argsDigest ?? "",
    decision: "reject" as const,
    ...(reason === undefined ? {} : { reason }),
  });
  story.command(
    {
      type: "resume",
      runId: story.state.active?.id ?? "",
      body: { decisions: [decision(first?.id ?? "", "too much"), decision(second?.id ?? "")] },
    },
    {
      resume: {
        toolDigests: Object.fromEntries(story.state.active?.calls.map((call) => [call.id, call.toolDigest]) ?? []),
        edits: {},
        results: {},
      },
    },
  );
  const results = story.messages().filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => JSON.parse(content ?? ""))).toEqual([
    { success: false, error: { code: "rejected", message: "A person rejected this. (too much)" } },
    { success: false, error: { code: "rejected", message: "A person rejected this." } },
  ]);
});

test("a failure is code and sentence, without body, status or text for people", () => {
  const story = new Story();
  story.start("look");
  story.plans([read()]);
  const [effect] = story.executing;
  if (!effect) throw new Error("the read runs");
  const error = {
    layer: "gateway",
    code: "GATEWAY_FORBIDDEN",
    message: "Not allowed.",
    retryable: false,
    http: { status: 403, body: "secret stack trace" },
  } as const;
  story.tool(effect, {
    kind: "failed",
    proof: "definitive",
    payload: payloadOf(effect.id, { success: false, error }),
  });
  expect(lastResult(story)).toEqual({ success: false, error: { code: "GATEWAY_FORBIDDEN", message: "Not allowed." } });
  expect(story.json).not.toMatch(/secret|403|for people/);
});

test("a refused call is shown with an object as arguments, whatever the model wrote", () => {
  const story = new Story();
  story.start("go");
  const refused = (tool: string, modelArgs: unknown) =>
    ({
      kind: "refused",
      tool,
      modelArgs,
      fingerprint: tool,
      payload: payloadOf("x", {
        success: false,
        error: { layer: "runtime", code: "unknown_tool", message: "There is no such tool.", retryable: false },
      }),
    }) as const;
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  story.plans([
    refused("__proto__", '{"a":1}'),
    refused("", "{cut"),
    refused("déjà vu!", [1]),
    refused("deep", deep),
    refused("nothing", undefined),
  ]);
  const called = story.messages()[1]?.tool_calls?.map(({ function: { name, arguments: args } }) => [name, args]);
  expect(called).toEqual([
    ["__proto__", '{"a":1}'],
    ["unnamed", "{}"],
    ["d_j__vu_", "{}"],
    ["deep", "{}"],
    ["nothing", "{}"],
  ]);
  expect(story.violations()).toEqual([]);
});

test("a call left unknown by a cancel is told as unknown, and its later resolution adds nothing", () => {
  const story = new Story();
  story.start("pay");
  story.plans([ready({ gate: null })]);
  story.cancel();
  story.pass(10_000);
  expect(story.state.active).toBeNull();
  story.start("what happened?");
  expect(lastResult(story)).toMatchObject({ success: false, error: { code: "outcome_unknown" } });
  expect(lastResult(story).error.message).toMatch(/may or may not have happened.*do not repeat/i);
  const before = story.json;
  story.resolve(story.state.latest?.calls[0], "happened");
  expect(story.json).toBe(before);
  expect(story.violations()).toEqual([]);
});

test("an unknown call that a person resolves in a living run has the resolution as its result", () => {
  const story = new Story();
  story.start("pay");
  story.plans([ready({ gate: null })]);
  story.crash();
  story.resolve(story.state.active?.calls[0], "happened");
  expect(lastResult(story)).toEqual({ success: true, note: "A person says that this happened." });
});

test("a call that somebody gave up on is told as unknown, with what not to do", () => {
  const story = new Story();
  story.start("pay");
  story.plans([ready({ gate: null })]);
  story.crash();
  story.resolve(story.state.active?.calls[0], "give_up");
  expect(lastResult(story).error.message).toMatch(/Assume neither/);
});

test("the partial text of a cancelled run stays, for the next message", () => {
  const story = new Story();
  story.start("a story");
  const { id: effectId, attempt } = story.asking ?? { id: "", attempt: 1 };
  story.cancel();
  const { incarnation } = story.state;
  const result = { kind: "aborted", text: { text: "Once upon" }, usage: NO_USAGE } as const;
  story.input({ type: "model_answered", effectId, attempt, incarnation, result });
  story.start("go on");
  expect(contents(story)).toEqual([
    ["user", "a story"],
    ["assistant", "Once upon"],
    ["user", "go on"],
  ]);
});

test("a retry goes on from the last committed step, without the text that broke off", () => {
  const story = new Story();
  story.start("look and tell");
  story.plans([read()]);
  story.works("A");
  story.model(failed("The order is"));
  story.retry();
  expect(story.messages().map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  story.says("The order is A.");
  expect(story.messages().at(-1)).toEqual({ role: "assistant", content: "The order is A." });
});

test("without a retry the text that broke off stays", () => {
  const story = new Story();
  story.start("tell");
  story.model(failed("The order is"));
  story.start("is what?");
  expect(contents(story)[1]).toEqual(["assistant", "The order is"]);
});

test("the sentence of a tripped limit is told as the user was told it", () => {
  const story = new Story();
  story.start("失败", { locale: "zh-CN" });
  for (let n = 0; n < 3; n++)
    story.plans([ready({ kind: "ready", scope: "missing:scope", gate: null, fingerprint: `f${n}` })]);
  expect(story.state.latest?.stop?.code).toBe("tool_circuit_open");
  story.start("还有呢");
  expect(contents(story).at(-2)).toEqual(["assistant", "某个工具反复失败（3 次），我已停止。"]);
});

test("an operator's words are the service's, and come after the results of calls that were open", () => {
  const story = new Story();
  story.start("look");
  story.plans([read()]);
  story.operator("take_over");
  story.operator({ say: "I am Olga, one moment." });
  expect(contents(story)).toEqual([["user", "look"]]);
  story.works("A");
  story.operator({ say: "It is A." });
  story.operator("release_handover");
  const [, assistant, tool, ...rest] = story.messages();
  expect([assistant?.role, tool?.role]).toEqual(["assistant", "tool"]);
  expect(rest.map(({ role, content }) => [role, content])).toEqual([
    ["assistant", "I am Olga, one moment."],
    ["assistant", "It is A."],
    ["user", expect.stringContaining("handed the conversation back")],
  ]);
  expect(story.asking).toBeDefined();
});

test("excerpts are told whole, from their payloads", () => {
  const story = new Story();
  story.payloads.set("t", "the whole text").set("d", JSON.stringify({ rows: [1, 2, 3] }));
  story.start("look");
  story.model({
    ...(answered("plan", "", [read()]) as Extract<ReturnType<typeof answered>, { kind: "answered" }>),
    text: { text: "the wh", excerptOf: { digest: "t", bytes: 14 } },
  });
  const [effect] = story.executing;
  if (!effect) throw new Error("the read runs");
  const payload = payloadOf(effect.id, { data: "[1", excerptOf: { digest: "d", bytes: 16 } });
  story.tool(effect, { kind: "ok", payload });
  expect(story.messages()[1]?.content).toBe("the whole text");
  expect(lastResult(story)).toEqual({ success: true, data: { rows: [1, 2, 3] } });
});

test("a result over the bound is cut, marked and valid, also in the middle of emoji and quotes", () => {
  for (const unit of ["😀", '"', "\\", "a", "\u0000"]) {
    const story = new Story();
    story.start("look");
    story.plans([read()]);
    story.works({ rows: unit.repeat(200_000) });
    const content = story.messages().at(-1)?.content ?? "";
    expect(content.length).toBeLessThanOrEqual(LIMITS.toolResultModelChars);
    expect(content.length).toBeGreaterThan(LIMITS.toolResultModelChars / 4);
    expect(content.isWellFormed()).toBe(true);
    expect(JSON.parse(content)).toMatchObject({ success: true, truncated: true });
    expect(story.violations()).toEqual([]);
  }
});

test("lone surrogates and NUL do not reach a request, and an escaped backslash is not taken for one", () => {
  const story = new Story();
  story.start("a\u0000b");
  story.plans([read({ args: { "k\ud800": ["\udc00x", "\\ud800"] } })], "c\ud800");
  story.works({ bad: "\ud800", nul: "\u0000", fine: "\\ud800 \\u0000 🚀" });
  expect(story.violations()).toEqual([]);
  expect(story.json).not.toContain("\\u0000\\");
  expect(story.messages()[0]?.content).toBe("a\ufffdb");
  expect(lastResult(story).data).toEqual({ bad: "\ufffd", nul: "\ufffd", fine: "\\ud800 \\u0000 🚀" });
  expect(JSON.parse(story.messages()[1]?.tool_calls?.[0]?.function.arguments ?? "")).toEqual({
    "k\ufffd": ["\ufffdx", "\\ud800"],
  });
});
