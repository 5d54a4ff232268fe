import * as z from "zod";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { utf8Bytes } from "../../../src/protocol/text.ts";
import { ok } from "../../../src/tools/outcome.ts";
import { callOf, house, principal, runOf } from "./house.ts";
import { read, run, tool, type Definition } from "./acting.ts";

const cycle: Record<string, unknown> = { a: 1 };
cycle["self"] = cycle;
const throwingGetter = {
  get secret(): string {
    throw new Error("hunter2");
  },
};
const hostile: [string, unknown][] = [
  ["undefined", undefined],
  ["a BigInt", 1n],
  ["a BigInt inside", { a: [1n] }],
  ["a cycle", cycle],
  ["an Error", new Error("hunter2")],
  ["a typed array", new Uint8Array(3)],
  ["a Date", new Date(0)],
  ["a Map", new Map()],
  ["a function", () => "x"],
  ["a symbol", Symbol("x")],
  ["NaN", { n: Number.NaN }],
  ["a throwing getter", throwingGetter],
  ["a hole", { length: 1, list: Array(1) }],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("hunter2");
        },
      },
    ),
  ],
  ["a deep nest", JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)],
  ["a wide array", { length: 0, list: Array(4_000_000_000) }],
];

test.each(hostile)(
  "%s as a result is no result: a side effect may have happened, a read has failed",
  async (_, data) => {
    const acted = await run(async () => ok(data));
    expect(acted.result).toMatchObject({ kind: "ambiguous", repeatable: false, error: { code: "output_invalid" } });
    const at = await house([read(async () => ok(data))]);
    const { result } = await at.execute(callOf(await at.ready("act", {})));
    expect(result).toMatchObject({ kind: "failed", payload: { error: { code: "output_invalid" } } });
    expect(JSON.stringify([acted.result, result])).not.toContain("hunter2");
  },
);

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a text", "done"],
  ["plain data", { id: 1 }],
  ["an unknown kind", { kind: "maybe" }],
  ["an inherited kind", Object.create({ kind: "ok", data: 1 })],
  ["a failure without proof", { kind: "failed", error: { code: "x", message: "y", retryable: false } }],
  [
    "a kind that throws",
    {
      get kind(): string {
        throw new Error("hunter2");
      },
    },
  ],
])("returning %s is a broken contract", async (_, value) => {
  const { result } = await run((async () => value) as never);
  expect(result).toMatchObject({ kind: "ambiguous", repeatable: false, error: { code: "tool_contract_violated" } });
  const at = await house([read((async () => value) as never)]);
  expect((await at.execute(callOf(await at.ready("act", {})))).result).toMatchObject({
    kind: "failed",
    payload: { error: { code: "tool_contract_violated" } },
  });
});

test("null, members without a value and lone surrogates become plain data", async () => {
  const { result } = await run(async () => ok({ a: null, b: undefined, c: "x\ud800", "\udc00": -0 }));
  expect(result).toMatchObject({ kind: "ok", payload: { data: { a: null, c: "x\ufffd", "\ufffd": 0 } } });
  expect(JSON.parse('{"__proto__":1}')).toEqual(
    (await run(async () => ok(JSON.parse('{"__proto__":1}')))).result.kind === "ok"
      ? JSON.parse('{"__proto__":1}')
      : null,
  );
});

test("output that the schema refuses is not passed on", async () => {
  const output = z.object({ id: z.string() });
  expect((await run(async () => ok({ id: 7 }), { output })).result).toMatchObject({
    kind: "ambiguous",
    repeatable: false,
    error: { code: "output_invalid" },
  });
  expect((await run(async () => ok({ id: "7", secret: "hunter2" }), { output })).result).toMatchObject({
    kind: "ok",
    payload: { data: { id: "7" } },
  });
  const throwing = z.unknown().transform(() => {
    throw new Error("boom");
  });
  expect((await run(async () => ok(1), { output: throwing })).result).toMatchObject({
    error: { code: "output_invalid" },
  });
});

test("a failure that lies about its own shape is still a clean one", async () => {
  const error = {
    code: "bad code\n" + "x".repeat(99),
    message: { not: "text" },
    retryable: "yes",
    layer: "runtime",
    http: { status: "200" },
  };
  const { result } = await run((async () => ({ kind: "failed", sent: "definitive", error })) as never);
  expect(result).toMatchObject({
    kind: "failed",
    payload: { error: { layer: "tool", code: "tool_failed", message: "The tool failed.", retryable: false } },
  });
  const none = await run((async () => ({ kind: "failed", sent: false })) as never);
  expect(none.result).toMatchObject({ kind: "failed", payload: { error: { code: "tool_failed" } } });
});

test.each([
  ["three megabytes of one character", "😀".repeat(786_432)],
  ["a long list", Array.from({ length: 60_000 }, (_, n) => ({ n, text: "持点" }))],
  ["what JSON escapes", "\u0001".repeat(200_000)],
])("%s is cut without splitting a character, says so, and stands once beside the event", async (_, data) => {
  const { result, payloads } = await run(async () => ok(data));
  if (result.kind !== "ok") throw new Error(result.kind);
  const [payload] = payloads;
  expect(payloads).toHaveLength(1);
  expect(result.payload.excerptOf).toEqual({ digest: payload?.digest, bytes: utf8Bytes(payload?.body ?? "") });
  expect(payload?.body.length).toBeGreaterThan(LIMITS.payloadInlineBytes / 4);
  expect(utf8Bytes(payload?.body ?? "")).toBeLessThanOrEqual(LIMITS.toolResultBytes);
  expect(JSON.parse(payload?.body ?? "")).toMatch(/… \[cut: \d+ bytes in all\]$/);
  expect(payload?.body.isWellFormed()).toBe(true);
  expect(String(JSON.parse(payload?.body ?? "")).isWellFormed()).toBe(true);
  expect(String(result.payload.data).isWellFormed()).toBe(true);
  expect(utf8Bytes(JSON.stringify(result.payload))).toBeLessThan(LIMITS.payloadInlineBytes);
});

test("data between the bounds is kept whole beside the event", async () => {
  const data = { list: Array.from({ length: 2_000 }, (_, n) => `item ${n}`) };
  const { result, payloads } = await run(async () => ok(data));
  expect(JSON.parse(payloads[0]?.body ?? "")).toEqual(data);
  expect(result).toMatchObject({ kind: "ok", payload: { data: expect.stringContaining('{"list":["item 0"') } });
});

test("people read the tool's own sentence in their language, or that it is done", async () => {
  const display: Definition["display"] = (data, lang) =>
    lang === "zh" ? `共 ${String(data)}` : `${String(data)} in all`;
  const at = await house([tool(async () => ok(3, "three"), { display })]);
  const call = callOf(await at.ready("act", {}));
  const zh = runOf({ principal: principal({ locale: "zh" }) });
  expect((await at.execute(call, { run: zh })).result).toMatchObject({
    payload: { displayText: "共 3", displayLang: "zh" },
  });
  expect((await run(async () => ok(3, "three"))).result).toMatchObject({ payload: { displayText: "three" } });
  const throwing = () => {
    throw new Error("boom");
  };
  expect((await run(async () => ok(3), { display: throwing })).result).toMatchObject({
    payload: { displayText: "Act: done." },
  });
});
