import * as z from "zod";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { utf8Bytes } from "../../../src/protocol/text.ts";
import { ToolResult } from "../../../src/protocol/tool-result.ts";
import { defineTool, type Execution, type ToolDefinition } from "../../../src/tools/define-tool.ts";
import { AmbiguousOutcome, notSent, ok, refused } from "../../../src/tools/outcome.ts";
import { callOf, house, principal, runOf } from "./house.ts";

const input = z.object({ n: z.int().optional() });
type Definition = ToolDefinition<typeof input, z.ZodType, unknown>;
type Execute = Definition["execute"];

const tool = (execute: Execute, more: Partial<Definition> = {}) =>
  defineTool({
    name: "act",
    title: { en: "Act", zh: "行动" },
    description: "Acts.",
    input,
    output: z.unknown(),
    scope: "acts",
    confirm: "never",
    authorize: () => ({ ok: true }),
    execute,
    ...more,
  } as Definition);
const read = (execute: Execute) => tool(execute, { effect: "read" } as Partial<Definition>);

/** Prepared by the house's own hand, then executed. */
async function run(
  execute: Execute,
  more: Partial<Definition> = {},
  io: Parameters<Awaited<ReturnType<typeof house>>["execute"]>[1] = {},
) {
  const at = await house([tool(execute, more)]);
  const call = callOf(await at.ready("act", {}));
  const answer = await at.execute(call, io);
  const payload = answer.result.kind === "absent" ? null : answer.result.payload;
  expect(ToolResult.parse(payload)).toEqual(payload);
  return { ...answer, logged: at.logged, call };
}

test("a tool is called with the stored identity, the outside key, the attempt and what was expected", async () => {
  const seen: { args: unknown; call: Execution<unknown> }[] = [];
  const execute: Execute = async (args, call) => {
    seen.push({ args, call });
    return ok({ fine: true });
  };
  const { result, call } = await run(
    execute,
    { preview: () => ({ rows: [], expect: { version: 2 } }) },
    { attempt: 3, authHeader: "Bearer abcdefgh" },
  );
  expect(result).toMatchObject({
    kind: "ok",
    payload: { success: true, data: { fine: true }, displayText: "Act: done.", source: "tool" },
  });
  expect(seen).toMatchObject([
    {
      args: {},
      call: {
        ctx: { tenantId: "t1", userId: "user-a", toolCallId: call.id },
        idempotencyKey: call.idempotencyKey,
        attempt: 3,
        expect: { version: 2 },
        authHeader: null,
      },
    },
  ]);
});

test("proof that nothing happened is told as failed, with the tool's code and a clean sentence", async () => {
  expect((await run(async () => notSent("NO_FUNDS", "Not enough money."))).result).toEqual({
    kind: "failed",
    proof: "not_sent",
    payload: expect.objectContaining({
      success: false,
      displayText: "Act failed: Not enough money.",
      error: { layer: "tool", code: "NO_FUNDS", message: "Not enough money.", retryable: false },
    }),
  });
  const body = "x".repeat(5_000);
  const gateway = await run(async () =>
    refused("GATEWAY_FORBIDDEN", "No.", { layer: "gateway", http: { status: 403, body } }),
  );
  expect(gateway.result).toMatchObject({
    kind: "failed",
    proof: "definitive",
    payload: { error: { layer: "gateway", http: { status: 403 } } },
  });
  expect(JSON.stringify(gateway.result).length).toBeLessThan(2_000);
});

test.each<[string, Execute]>([
  ["throws", () => Promise.reject(new Error("socket hang up at Bearer abc.def.ghi"))],
  [
    "throws at once",
    () => {
      throw new TypeError("no promise");
    },
  ],
  [
    "throws no error",
    () =>
      Promise.reject({
        toString() {
          throw new Error("gotcha");
        },
      }),
  ],
  ["throws nothing", () => Promise.reject(undefined)],
])("a tool that %s may have acted, and nothing of what was thrown is told", async (_, execute) => {
  const { result, logged } = await run(execute);
  expect(result).toMatchObject({
    kind: "ambiguous",
    reason: "ambiguous",
    repeatable: true,
    error: { code: "tool_failed", message: "The tool failed." },
  });
  expect(logged.map(({ event }) => event)).toEqual(["tool_threw"]);
});

test("a declared ambiguous outcome keeps its code and its cleaned sentence", async () => {
  const failure = {
    code: "GATEWAY_UNAVAILABLE",
    message: "No answer.\n    at fetch (x.js:1:1)",
    retryable: true,
    layer: "transport",
  } as const;
  const { result } = await run(() => Promise.reject(new AmbiguousOutcome(failure, new Error("cause"))));
  expect(result).toMatchObject({
    kind: "ambiguous",
    error: { layer: "transport", code: "GATEWAY_UNAVAILABLE", message: "No answer.", retryable: true },
  });
});

test("a time-out is ambiguous, even when the tool ignores its signal, and the tool is told", async () => {
  let signal: AbortSignal | undefined;
  const at = await house([tool((_, call) => new Promise(() => void (signal = call.signal)), { timeoutMs: 500 })]);
  const pending = at.execute(callOf(await at.ready("act", {})));
  await expect.poll(() => signal).toBeDefined();
  at.clock.turn(500);
  expect((await pending).result).toMatchObject({ kind: "ambiguous", reason: "timeout", error: { code: "timeout" } });
  expect(signal?.aborted).toBe(true);
  expect(at.clock.standing).toBe(0);
});

test("an abort is ambiguous soon, unless the tool says in time what it did", async () => {
  const abort = new AbortController();
  let started = false;
  const deaf = await house([tool(() => new Promise(() => void (started = true)))]);
  const pending = deaf.execute(callOf(await deaf.ready("act", {})), { signal: abort.signal });
  await expect.poll(() => started).toBe(true);
  abort.abort();
  deaf.clock.turn(deaf.settings.abortSettleMs);
  expect((await pending).result).toMatchObject({ kind: "ambiguous", reason: "cancelled" });

  const honest: Execute = (_, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve(notSent("cancelled", "Nothing was sent yet."))),
    );
  const second = new AbortController();
  const told = await house([tool(honest)]);
  const answer = told.execute(callOf(await told.ready("act", {})), { signal: second.signal });
  await expect.poll(() => told.clock.standing).toBe(1);
  second.abort();
  expect((await answer).result).toMatchObject({ kind: "failed", proof: "not_sent" });
});

test("before the tool is called, whatever goes wrong is proof that nothing was sent", async () => {
  let calls = 0;
  const execute: Execute = async () => {
    calls++;
    return ok(null);
  };
  const at = await house([tool(execute)]);
  const call = callOf(await at.ready("act", {}));
  const aborted = AbortSignal.abort();
  const cases = [
    [await at.execute(call, { signal: aborted }), "cancelled"],
    [await at.execute({ ...call, toolDigest: "other" }), "changed_since_shown"],
    [await at.execute({ ...call, args: { n: 1 } }), "changed_since_shown"],
    [await at.execute({ ...call, expect: { version: 1 } }), "changed_since_shown"],
    [await at.execute({ ...call, tool: "constructor" }), "unknown_tool"],
    [await at.execute(call, { run: runOf({ principal: principal({ scopes: [] }) }) }), "scope_missing"],
  ] as const;
  for (const [{ result }, code] of cases) {
    expect(result).toMatchObject({ kind: "failed", proof: "not_sent", payload: { error: { code } } });
  }
  expect(calls).toBe(0);
});

test("the tool is asked again whether this user may, right before acting", async () => {
  let allowed = true;
  const authorize = () =>
    allowed ? ({ ok: true } as const) : ({ ok: false, code: "not_yours", message: "Not yours." } as const);
  const at = await house([tool(async () => ok(null), { authorize })]);
  const call = callOf(await at.ready("act", {}));
  allowed = false;
  expect((await at.execute(call)).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "not_yours" } },
  });
});

test("authorising that throws or hangs has sent nothing", async () => {
  let hang = false;
  let weather = false;
  const authorize: Definition["authorize"] = () => {
    if (weather) throw new Error("db down");
    return hang ? new Promise(() => {}) : { ok: true };
  };
  const at = await house([tool(async () => ok(null), { authorize })]);
  const call = callOf(await at.ready("act", {}));
  weather = true;
  expect((await at.execute(call)).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "tool_failed", retryable: true } },
  });
  weather = false;
  hang = true;
  const pending = at.execute(call);
  await expect.poll(() => at.clock.standing).toBe(1);
  at.clock.turn(call.timeoutMs);
  expect((await pending).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "timeout" } },
  });
});

test("a tool that acts as the user gets the user's own header, or is refused", async () => {
  const seen: (string | null)[] = [];
  const execute: Execute = async (_, { authHeader }) => {
    seen.push(authHeader);
    return refused("no", `refused Bearer user-token-1 for user-token-1`);
  };
  const without = await run(execute, { credential: "user" });
  expect(without.result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "credential_expired" } },
  });
  const given = await run(execute, { credential: "user" }, { authHeader: "Bearer user-token-1" });
  expect(seen).toEqual(["Bearer user-token-1"]);
  expect(JSON.stringify(given.result)).not.toContain("user-token-1");
  const vault = await run(execute, { credential: "tenant_secret" }, { authHeader: "Bearer user-token-1" });
  expect(vault.result).toMatchObject({ kind: "failed", payload: { error: { code: "credential_expired" } } });
});

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

const probeable = (probe: unknown) =>
  tool(async () => ok("executed"), { effect: "probeable", probe } as unknown as Partial<Definition>);

test("a probe asks by key, and says what became of it: found, failed, absent, or nothing", async () => {
  const keys: string[] = [];
  const asked: string[] = [];
  const cases: [unknown, object][] = [
    [
      async (key: string) => {
        keys.push(key);
        return { found: true, outcome: ok({ id: 1 }) };
      },
      { kind: "ok", payload: { source: "probe", data: { id: 1 } } },
    ],
    [async () => ({ found: true, outcome: refused("no", "No.") }), { kind: "failed", proof: "definitive" }],
    [async () => ({ found: false }), { kind: "absent" }],
    [async () => ({ found: "perhaps" }), { kind: "ambiguous", repeatable: false }],
    [async () => null, { kind: "ambiguous", repeatable: false }],
    [async () => Promise.reject(new Error("down")), { kind: "ambiguous", repeatable: true }],
  ];
  for (const [probe, expected] of cases) {
    const at = await house([probeable(probe)]);
    const call = callOf(await at.ready("act", {}));
    expect((await at.execute(call, { mode: "probe" })).result).toMatchObject(expected);
    asked.push(call.idempotencyKey);
  }
  expect(keys).toEqual(asked.slice(0, 1));
});

test("a probe works although the tool has changed since; without the tool nobody is left to ask", async () => {
  const at = await house([probeable(async () => ({ found: true, outcome: ok(1) }))]);
  const call = callOf(await at.ready("act", {}));
  expect((await at.execute({ ...call, toolDigest: "older" }, { mode: "probe" })).result).toMatchObject({ kind: "ok" });
  expect((await at.execute({ ...call, tool: "gone" }, { mode: "probe" })).result).toMatchObject({
    kind: "ambiguous",
    repeatable: false,
  });
});
