import { createHash, createHmac, hkdfSync } from "node:crypto";
import * as z from "zod";
import { expect, test } from "vitest";
import { deriveKey } from "../../../src/effects/derive-key.ts";
import { argsDigest, sha256, toolDigest } from "../../../src/effects/digests.ts";
import { OUTSIDE_KEY_PURPOSE, outsideKey } from "../../../src/effects/outside-key.ts";
import { fingerprintOf } from "../../../src/effects/tool-fingerprint.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { ok } from "../../../src/tools/outcome.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("base64url");

test("a digest is base64url SHA-256 of UTF-8", async () => {
  expect(await sha256("持点 😀")).toBe(hash("持点 😀"));
});

test("argsDigest is over canonical JSON of exactly these members", async () => {
  const bound = {
    toolCallId: "c.r1.t1",
    tool: "pay",
    toolDigest: "td",
    args: { b: 2, a: "é" },
    expect: { version: 3 },
  };
  expect(await argsDigest(bound)).toBe(
    hash('{"args":{"a":"é","b":2},"expect":{"version":3},"tool":"pay","toolCallId":"c.r1.t1","toolDigest":"td","v":1}'),
  );
  expect(await argsDigest({ ...bound, expect: undefined })).toBe(
    hash('{"args":{"a":"é","b":2},"tool":"pay","toolCallId":"c.r1.t1","toolDigest":"td","v":1}'),
  );
});

const pay = (more: object = {}) =>
  defineTool({
    name: "pay",
    title: { en: "Pay", zh: "付款" },
    description: "Pays.",
    input: z.object({ cents: z.int() }),
    output: z.object({ id: z.string() }),
    scope: "pay",
    authorize: () => ({ ok: true }) as const,
    execute: () => Promise.resolve(ok({ id: "1" })),
    ...more,
  });

test("a tool's digest changes with name, schemas, effect, scope and policy, and with nothing else", async () => {
  const before = await toolDigest(pay());
  const changes = [
    { name: "pay2" },
    { input: z.object({ cents: z.int().max(5) }) },
    { output: z.object({ id: z.int() }) },
    { effect: "idempotent" },
    { scope: "other" },
    { confirm: "never" },
    { confirm: () => true },
    { quorum: 2 },
    { approvers: ["boss"] },
    { selfApproval: false },
    { expiresInMs: 1 },
    { version: 2 },
  ];
  const digests = await Promise.all(changes.map((change) => toolDigest(pay(change))));
  expect(new Set([before, ...digests]).size).toBe(changes.length + 1);
  expect(await toolDigest(pay({ description: "Pays money.", execute: () => Promise.reject(new Error("no")) }))).toBe(
    before,
  );
});

test("the outside key is an HMAC under a key of its own, and depends on each of its parts", async () => {
  const call = { tenantId: "t", conversationId: "c", runId: "c.r1", toolCallId: "c.r1.t1" };
  const derived = hkdfSync("sha256", "master", "holdpoint", "holdpoint/outside-key/1", 32);
  const prefixed = Buffer.concat(
    ["t", "c", "c.r1", "c.r1.t1"].map((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return Buffer.concat([length, Buffer.from(part)]);
    }),
  );
  const key = await deriveKey("master", OUTSIDE_KEY_PURPOSE);
  const expected = createHmac("sha256", Buffer.from(derived)).update(prefixed).digest("base64url");
  expect(await outsideKey(key, call)).toBe(expected);
  const others = [
    await outsideKey(key, { ...call, tenantId: "u" }),
    await outsideKey(key, { ...call, tenantId: "tc", conversationId: "" }),
    await outsideKey(key, { ...call, toolCallId: "c.r1.t2" }),
    await outsideKey(await deriveKey("master", "tickets"), call),
    await outsideKey(await deriveKey("other", OUTSIDE_KEY_PURPOSE), call),
  ];
  expect(new Set([expected, ...others]).size).toBe(6);
});

test("an empty master secret gives no key", async () => {
  await expect(deriveKey("", "x")).rejects.toThrow();
});

test("a fingerprint sees through spaces, case, order, request ids and times, and not through meaning", async () => {
  const same = [
    { q: "Find  order A-17", limit: 5 },
    { limit: 5, q: " find order a-17 " },
    { q: "find order A-17", limit: 5, request_id: "9", nonce: 7, timestamp: 1_700_000_000 },
    { q: "find order A-17", limit: 5, cursor: null },
  ];
  expect(new Set(await Promise.all(same.map((args) => fingerprintOf("search", args)))).size).toBe(1);
  const other = [{ q: "find order A-18", limit: 5 }, { q: "find order A-17", limit: 6 }, "not json"];
  const prints = await Promise.all([...other, same[0]].map((args) => fingerprintOf("search", args)));
  expect(new Set([...prints, await fingerprintOf("search2", same[0])]).size).toBe(5);
});
