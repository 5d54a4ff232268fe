import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cursorOf, parseCursor } from "../../src/protocol/cursor.ts";
import {
  ConversationId,
  conversationIdOf,
  conversationOf,
  IdempotencyKey,
  MessageId,
  messageIdOf,
  modelCallIdOf,
  numberOf,
  RunId,
  runIdOf,
  runOf,
  ToolCallId,
  toolCallIdOf,
} from "../../src/protocol/ids.ts";

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const n = fc.integer({ min: 1, max: 999_999_999 });
const conversation = bytes.map(conversationIdOf);

describe("A conversation's id", () => {
  test("is 128 bits in 26 characters of Crockford base32", () => {
    expect(conversationIdOf(new Uint8Array(16))).toBe("00000000000000000000000000");
    expect(conversationIdOf(new Uint8Array(16).fill(255))).toBe("7zzzzzzzzzzzzzzzzzzzzzzzzz");
    const one = new Uint8Array(16);
    one[15] = 33;
    expect(conversationIdOf(one)).toBe("00000000000000000000000011");
  });

  test("is always well formed, keeps every bit, and sorts as its bytes do", () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const [left, right] = [conversationIdOf(a), conversationIdOf(b)];
        return (
          ConversationId.safeParse(left).success &&
          Math.sign(Buffer.compare(a, b)) === (left === right ? 0 : left < right ? -1 : 1)
        );
      }),
    );
  });

  test.each([
    "",
    "8".repeat(26),
    "0".repeat(25),
    "0".repeat(27),
    `${"0".repeat(25)}i`,
    `${"0".repeat(25)}U`,
    ` ${"0".repeat(25)}`,
    `${"0".repeat(26)}\n`,
  ])("refuses %j", (id) => {
    expect(ConversationId.safeParse(id).success).toBe(false);
  });
});

describe("Ids of runs, calls and messages", () => {
  test("route themselves: number, run and conversation can be read from them", () => {
    fc.assert(
      fc.property(conversation, n, n, (id, run, call) => {
        const runId = runIdOf(id, run);
        const toolCallId = toolCallIdOf(runId, call);
        const messageId = messageIdOf(id, call);
        return (
          RunId.safeParse(runId).success &&
          ToolCallId.safeParse(toolCallId).success &&
          MessageId.safeParse(messageId).success &&
          runOf(toolCallId) === runId &&
          [numberOf(runId), numberOf(toolCallId), numberOf(messageId)].join() === [run, call, call].join() &&
          [runId, toolCallId, messageId].every((one) => conversationOf(one) === id)
        );
      }),
    );
  });

  test.each([
    `${"0".repeat(26)}.r0`,
    `${"0".repeat(26)}.r01`,
    `${"0".repeat(26)}.r1.`,
    `${"0".repeat(26)}.r1.t1`,
    "r1",
  ])("%j is no run", (id) => {
    expect(RunId.safeParse(id).success).toBe(false);
  });

  test("a text without a number at its end has none", () => {
    expect(numberOf("")).toBe(0);
    expect(numberOf("0".repeat(26))).toBe(0);
    expect(runOf("")).toBe("");
  });
});

describe("The id that the model sees", () => {
  test("is nine characters [a-z0-9], another one for every call of a conversation that is not absurdly long", () => {
    fc.assert(
      fc.property(conversation, fc.tuple(n, n), fc.tuple(n, n), (id, a, b) => {
        const [left, right] = [a, b].map(([run, call]) => modelCallIdOf(toolCallIdOf(runIdOf(id, run), call)));
        const same = a.every((value, at) => (value - (b[at] ?? 0)) % 36 ** 4 === 0);
        return /^c[a-z0-9]{8}$/.test(left ?? "") && (left === right) === same;
      }),
    );
    expect(modelCallIdOf(`${"0".repeat(26)}.r1.t37`)).toBe("c00010011");
  });
});

describe("Event cursors", () => {
  test("say generation and position, and come back as they went", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{8}$/), fc.nat({ max: 2 ** 31 - 1 }), (generation, seq) => {
        expect(parseCursor(cursorOf(generation, seq))).toEqual({ generation, seq });
      }),
    );
  });

  test.each([
    "",
    "0",
    "abcdefgh",
    "abcdefgh.",
    "abcdefgh.-1",
    "abcdefgh.01",
    "abcdefgh.1.0",
    "ABCDEFGH.1",
    "abcdefg.1",
    "abcdefghi.1",
    "abcdefgh.1e3",
    "abcdefgh.9999999999999999",
    " abcdefgh.1",
    "abcdefgh.1\n",
    "%00cdefgh.1",
  ])("%j is malformed", (text) => {
    expect(parseCursor(text)).toBeNull();
  });
});

test("An idempotency key is 1 to 255 visible ASCII characters", () => {
  const ok = (key: string) => IdempotencyKey.safeParse(key).success;
  expect(["a", "~".repeat(255), '"quoted"'].map(ok)).toEqual([true, true, true]);
  expect(["", "a".repeat(256), "a b", "ä", "a\n", "\u0000"].map(ok)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
