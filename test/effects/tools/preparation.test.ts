import { createHash } from "node:crypto";
import * as z from "zod";
import { expect, test } from "vitest";
import { canonicalJson } from "../../../src/protocol/canonical-json.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { EVENT_DATA } from "../../../src/protocol/events.ts";
import { house, principal, RUN, runOf } from "./house.ts";
import { act, errorOf, tool, type Definition } from "./preparing.ts";

test("a call is prepared with what it will run with, its digest, its key and its gate", async () => {
  const { prepare } = await house([tool({ undo: "do it again", timeoutMs: 5_000 })]);
  const [call] = await prepare([{ ...act({ title: " a plan " }), providerId: "call_1" }]);
  expect(call).toMatchObject({
    kind: "ready",
    tool: "act",
    title: "Act",
    effect: "once",
    args: { title: "a plan" },
    modelArgs: { title: " a plan " },
    gate: { quorum: 1, selfApproval: true, expiresInMs: 24 * 3_600_000 },
    preview: { rows: [{ label: "title", value: "a plan" }] },
    scope: "acts",
    timeoutMs: 5_000,
    undo: "do it again",
    providerId: "call_1",
  });
  if (call?.kind !== "ready") return;
  const bound = { v: 1, toolCallId: `${RUN}.t1`, tool: "act", toolDigest: call.toolDigest, args: { title: "a plan" } };
  expect(call.argsDigest).toBe(createHash("sha256").update(canonicalJson(bound)).digest("base64url"));
  expect(call.idempotencyKey).toMatch(/^[\w-]{43}$/);
  const { kind: _, ...data } = call;
  expect(
    EVENT_DATA["tool_call.proposed"].safeParse({ toolCallId: `${RUN}.t1`, step: 1, ...data }).error,
  ).toBeUndefined();
});

test("names that every object has are names of no tool", async () => {
  const { prepare } = await house([tool()]);
  const names = ["constructor", "__proto__", "toString", "delete_all", "", "act\u0000", "x".repeat(500)];
  const calls = await prepare(names.map((name) => ({ name, arguments: "{}" })));
  expect(calls.map((call) => errorOf(call)?.code)).toEqual(names.map(() => "unknown_tool"));
  expect(calls.every((call) => /^[\w-]{1,64}$/.test(call.tool))).toBe(true);
});

test("a tool outside the caller's scopes is not offered and is refused", async () => {
  const { prepare, catalogue } = await house([tool()]);
  const run = runOf({ principal: principal({ scopes: ["other"] }) });
  expect(errorOf((await prepare([act({ title: "a" })], { run }))[0])?.code).toBe("scope_missing");
  expect(catalogue.agent("test")?.offered(["other"])).toEqual([]);
  expect(catalogue.agent("test")?.offered(["acts"])).toHaveLength(1);
});

test("argument errors are results for the model, with where and what", async () => {
  const { prepare } = await house([tool()]);
  const texts = ['{"title":"cut', '"{\\"title\\":\\"a\\"}"', "", '{"title":7}', '{"title":"a","n":9007199254740993}'];
  const errors = (await prepare(texts.map(act))).map(errorOf);
  expect(errors.map((error) => error?.code)).toEqual(texts.map(() => "invalid_arguments"));
  expect(errors[2]?.message).toMatch(/title: /);
  expect(errors[3]?.message).toMatch(/title: .*string/);
  expect(errors.every((error) => error?.retryable === false && error.layer === "runtime")).toBe(true);
});

test("a call of a tool without parameters may have empty arguments", async () => {
  const ping = {
    ...tool({ effect: "read", confirm: "never" } as Partial<Definition>),
    name: "ping",
    input: z.object({}),
  };
  const { prepare } = await house([ping]);
  expect((await prepare([{ name: "ping", arguments: "" }]))[0]).toMatchObject({ kind: "ready", args: {}, gate: null });
});

test("a refused call keeps the model's own arguments where they are an object, else an empty one", async () => {
  const { prepare } = await house([tool()]);
  const calls = await prepare([act('{"title":7}'), act("[1]"), act('{"a'), act('{"__proto__":1}')]);
  expect(calls.map((call) => (call.kind === "refused" ? call.modelArgs : null))).toEqual([{ title: 7 }, {}, {}, {}]);
});

test("calls keep their order and their numbers, and those over the bound are refused", async () => {
  const { prepare } = await house([tool()]);
  const calls = await prepare(Array.from({ length: LIMITS.callsPerStep + 3 }, (_, n) => act({ title: `t${n}` })));
  expect(calls).toHaveLength(LIMITS.callsPerStep + 3);
  const ready = calls.slice(0, LIMITS.callsPerStep);
  expect(ready.map((call) => (call.kind === "ready" ? call.args : null))).toEqual(
    ready.map((_, n) => ({ title: `t${n}` })),
  );
  const rest = calls.slice(LIMITS.callsPerStep);
  expect(rest.map((call) => errorOf(call)?.code)).toEqual(rest.map(() => "invalid_arguments"));
  expect(rest.map((call) => (call.kind === "refused" ? call.payload.toolCallId : ""))).toEqual(
    rest.map((_, n) => `${RUN}.t${LIMITS.callsPerStep + n + 1}`),
  );
});

test("policy: a read asks nobody, everything else asks unless it says a clear no", async () => {
  const policies: [Partial<Definition>, boolean][] = [
    [{ effect: "read" } as Partial<Definition>, false],
    [{ effect: "read", confirm: "always" } as Partial<Definition>, true],
    [{}, true],
    [{ confirm: "never" }, false],
    [{ confirm: ({ n }) => (n ?? 0) > 3 }, false],
    [{ confirm: () => true }, true],
    [{ confirm: (() => undefined) as never }, true],
    [{ confirm: (() => Promise.resolve(false)) as never }, true],
    [
      {
        confirm: () => {
          throw new Error("policy");
        },
      },
      true,
    ],
  ];
  for (const [policy, asks] of policies) {
    const { ready } = await house([tool(policy)]);
    expect((await ready("act", { title: "a", n: 1 })).gate !== null, JSON.stringify(Object.keys(policy))).toBe(asks);
  }
});

test("a policy may ask for more by the arguments, and the conversation for another expiry", async () => {
  const confirm: Definition["confirm"] = ({ n = 0 }) =>
    n > 3 ? { quorum: 2, approvers: ["boss"], selfApproval: false } : true;
  const { ready } = await house([tool({ confirm })], {
    confirmationTtlMs: (metadata) => Number(metadata["ttl"]),
    metadata: { ttl: "1234" },
  });
  expect((await ready("act", { title: "a", n: 4 })).gate).toEqual({
    quorum: 2,
    approvers: ["boss"],
    selfApproval: false,
    expiresInMs: 1_234,
  });
  expect((await ready("act", { title: "a", n: 3 })).gate).toEqual({
    quorum: 1,
    selfApproval: true,
    expiresInMs: 1_234,
  });
});

test("what a tool refuses is refused with its code, and what is no clear yes is refused too", async () => {
  const said = {
    ok: false,
    code: "not_found",
    message: "There is no such plan.\n    at secret (/srv/x.js:1:1)",
  } as const;
  const { prepare } = await house([tool({ authorize: () => said })]);
  expect(errorOf((await prepare([act({ title: "a" })]))[0])).toEqual({
    layer: "tool",
    code: "not_found",
    message: "There is no such plan.",
    retryable: false,
  });
  const silent = await house([tool({ authorize: (() => undefined) as never })]);
  expect(errorOf((await silent.prepare([act({ title: "a" })]))[0])?.code).toBe("tool_failed");
});

test("a preview that throws, or takes too long, refuses the call without a word of what was thrown", async () => {
  const secret = new Error("connect postgres://u:hunter2@db failed");
  const throwing = await house([tool({ preview: () => Promise.reject(secret) })]);
  const [thrown] = await throwing.prepare([act({ title: "a" })]);
  expect(errorOf(thrown)?.code).toBe("preview_failed");
  expect(JSON.stringify(thrown)).not.toContain("hunter2");
  expect(throwing.logged).toEqual([expect.objectContaining({ event: "preview_threw", error: secret })]);

  const slow = await house([tool({ preview: () => new Promise(() => {}) })]);
  const pending = slow.prepare([act({ title: "a" })]);
  await expect.poll(() => slow.clock.standing).toBe(1);
  slow.clock.turn(slow.settings.previewMs);
  expect(errorOf((await pending)[0])).toMatchObject({ code: "preview_failed", retryable: true });
});

test("an abort ends a preparation soon", async () => {
  const abort = new AbortController();
  const slow = await house([tool({ preview: () => new Promise(() => {}) })]);
  const pending = slow.prepare([act({ title: "a" })], { signal: abort.signal });
  await expect.poll(() => slow.clock.standing).toBe(1);
  abort.abort();
  slow.clock.turn(slow.settings.abortSettleMs);
  expect(errorOf((await pending)[0])?.code).toBe("cancelled");
});

test("what people see has no character that hides or reorders, and is bounded", async () => {
  const rows = [
    { label: "file\u200b", value: "invoice_\u202efdp.exe" },
    { label: "nul", before: "a\u0000b\r\n", after: "\ud800" },
    { label: "tags", value: "ok\u{e0041}❤️" },
    ...Array.from({ length: 100 }, (_, n) => ({ label: `row ${n}`, value: "😀".repeat(2_000) })),
  ];
  const { ready } = await house([tool({ preview: () => ({ rows, expect: { version: 3 }, costMicroUsd: 12 }) })]);
  const call = await ready("act", { title: "a" });
  expect(call.preview?.rows.slice(0, 3)).toEqual([
    { label: "file⟨U+200B⟩", value: "invoice_⟨U+202E⟩fdp.exe" },
    { label: "nul", before: "a␀b␍␊", after: "\ufffd" },
    { label: "tags", value: "ok⟨U+E0041⟩❤️" },
  ]);
  expect(call.preview?.rows.at(-1)).toEqual({ label: "…", value: expect.stringMatching(/^\+\d+$/) });
  expect(JSON.stringify(call.preview).length).toBeLessThan(16_384);
  expect(JSON.stringify(call.preview).isWellFormed()).toBe(true);
  expect(call).toMatchObject({ expect: { version: 3 }, preview: { costMicroUsd: 12 } });
});

test("what is expected is part of the digest", async () => {
  let version = 1;
  const { ready } = await house([tool({ preview: () => ({ rows: [], expect: { version } }) })]);
  const before = await ready("act", { title: "a" });
  version = 2;
  expect((await ready("act", { title: "a" })).argsDigest).not.toBe(before.argsDigest);
});

test("a hostile normaliser or schema is a refusal, and cannot change what the model is said to have written", async () => {
  const normalize = (args: unknown) => Object.assign(args as object, { title: "changed" });
  const changing = await house([tool({ normalize })]);
  expect(await changing.ready("act", { title: "a" })).toMatchObject({
    args: { title: "changed" },
    modelArgs: { title: "a" },
  });
  for (const bad of [
    tool({
      normalize: () => {
        throw new Error("boom");
      },
    }),
    { ...tool(), input: z.object({ title: z.string() }).transform(() => 1n) },
    { ...tool(), input: z.object({ title: z.string().refine(() => Promise.resolve(true)) }) },
  ]) {
    const { prepare } = await house([bad]);
    expect(errorOf((await prepare([act({ title: "a" })]))[0])?.code).toBe("invalid_arguments");
  }
});

test("a proposal fits into one event, whatever the model writes", async () => {
  const wide = {
    ...tool({ normalize: (args) => ({ ...(args as object), n: 1 }) }),
    input: z.object({ title: z.string(), n: z.int() }),
  };
  const { prepare } = await house([wide]);
  const sizes = [20_000, 21_000, 30_000, 40_000];
  const calls = await prepare(sizes.map((size) => act({ title: "x".repeat(size) })));
  expect(calls.map(({ kind }) => kind)).toEqual(["ready", "ready", "refused", "refused"]);
  for (const call of calls) expect(JSON.stringify(call).length).toBeLessThan(LIMITS.eventBytes - 2_048);
});

test("sentences come in the language of the run's user", async () => {
  const { prepare } = await house([tool()]);
  const run = runOf({ principal: principal({ locale: "zh-CN" }) });
  const [bad, good] = await prepare([act("nothing"), act({ title: "a" })], { run });
  expect(bad).toMatchObject({ payload: { displayText: "参数未被接受。", displayLang: "zh" } });
  expect(good).toMatchObject({ title: "行动" });
});
