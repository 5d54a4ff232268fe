import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Log } from "../../src/actor/ports.ts";
import { createLog, type Fields, type LogOptions } from "../../src/observe/log.ts";
import { CONVERSATION, RUN } from "../storage/talk.ts";

function recorded(options: Partial<LogOptions> = {}, base: Fields = {}) {
  const lines: string[] = [];
  const log: Log = createLog(base, { development: false, now: () => 0, sink: (line) => lines.push(line), ...options });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

describe("an entry", () => {
  test("is one line of JSON with time, level, event, the base fields and its own", () => {
    const { log, lines } = recorded({}, { service: "holdpoint" });
    log.info("run_ended", { runId: RUN, code: "final_answer", steps: 2, provider: { status: 429, code: "2064" } });
    expect(lines).toEqual([
      JSON.stringify({
        at: "1970-01-01T00:00:00.000Z",
        level: "info",
        event: "run_ended",
        service: "holdpoint",
        runId: RUN,
        code: "final_answer",
        steps: 2,
        provider: { status: 429, code: "2064" },
      }),
    ]);
  });

  test("keeps ids whole, which are as long as secrets", () => {
    const { log, last } = recorded();
    const ids = {
      requestId: "0b6f2f0e-9a7f-4a8e-8f57-0c7c1c9f6c11",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      conversationId: CONVERSATION,
      toolCallId: `${RUN}.t12`,
    };
    log.warn("x", ids);
    expect(last()).toMatchObject(ids);
    log.warn("x", { requestId: "f".repeat(48) });
    expect(last()).toMatchObject({ requestId: "[redacted]" });
  });

  test("leaves out what is not on the list, says how much, and writes no name of it", () => {
    const { log, last } = recorded();
    log.info("x", {
      code: "c",
      authHeader: "Bearer abc",
      body: { a: 1 },
      absent: undefined,
      status: "200; DROP",
      ms: Number.NaN,
    });
    expect(last()).toEqual({ at: expect.any(String), level: "info", event: "x", code: "c", omitted: 4 });
  });

  test("cannot be forged into two, nor steer a terminal, nor hide behind its own level", () => {
    const { log, lines, last } = recorded();
    log.info("x\n{}", {
      reason: "a\r\n\u001b[2J\u009b31m\u2028\u202eb",
      level: "error",
      event: "forged",
      at: "never",
    } as Fields);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/[^\x20-\x7e]/);
    expect(last()).toMatchObject({ level: "info", event: "unnamed" });
  });

  test("has bounded fields", () => {
    const { log, lines } = recorded();
    log.error("x", new Error("e ".repeat(1e6)), { reason: "r ".repeat(1e6), reasons: Array(1e4).fill("word") });
    expect(lines[0]?.length).toBeLessThan(5_000);
  });
});

describe("an error", () => {
  test("is told with its causes, and with its stack in development only", () => {
    const error = new TypeError("outer", { cause: new RangeError("inner", { cause: "thrown text" }) });
    const { log, last } = recorded();
    log.error("x", error, { duty: "time" });
    expect(last()).toMatchObject({
      level: "error",
      duty: "time",
      error: {
        name: "TypeError",
        message: "outer",
        cause: { name: "RangeError", message: "inner", cause: { name: "string", message: "thrown text" } },
      },
    });
    expect(last()["error"]).not.toHaveProperty("stack");
    const development = recorded({ development: true });
    development.log.error("x", error);
    expect(development.last()["error"]).toMatchObject({ stack: expect.stringContaining("log.test.ts") });
  });

  test("of the parser is told without the text that it quotes", () => {
    const { log, lines, last } = recorded({ development: true });
    try {
      JSON.parse("my private words");
    } catch (error) {
      log.error("x", error);
    }
    expect(last()["error"]).toMatchObject({ name: "SyntaxError" });
    expect(lines[0]).not.toContain("private");
  });

  test("that fights back is still told of, and a sink that fails harms nobody", () => {
    const { log, lines } = recorded();
    const endless = new Error("round");
    endless.cause = endless;
    const hostile = Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("no");
      },
    });
    const things = [endless, hostile, null, undefined, 1n, Symbol("s"), () => 1, { toString: null }, new Proxy({}, {})];
    for (const thing of things) log.error("x", thing);
    log.info("x", {
      get code() {
        throw new Error("no");
      },
    });
    expect(lines).toHaveLength(things.length + 1);
    const broken = createLog(
      {},
      {
        development: false,
        sink: () => {
          throw new Error("disk full");
        },
      },
    );
    expect(() => broken.error("x", new Error("y"))).not.toThrow();
  });
});

describe("a secret", () => {
  const letters = (alphabet: string, min: number, max: number) =>
    fc.string({ unit: fc.constantFrom(...alphabet), minLength: min, maxLength: max });
  const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const secret = fc.oneof(
    letters(word, 12, 60).map((text) => ({ said: `Bearer ${text}`, canary: text })),
    letters(`${word}-_`, 10, 60).map((text) => ({ said: `eyJ${text}.eyJ${text}.${text}`, canary: text })),
    letters(`${word}-_`, 10, 48).map((text) => ({ said: `sk-${text}`, canary: text })),
    letters(word, 32, 80).map((text) => ({ said: text, canary: text })),
    letters(word, 12, 40).map((text) => ({ said: `https://user:${text}@db.example/x`, canary: text })),
    letters(word, 12, 31).map((text) => ({ said: `?a=1&access_token=${text}&b=2`, canary: text })),
    letters(word, 12, 31).map((text) => ({ said: `{"apiKey":"${text}"}`, canary: text })),
  );
  const around = fc.string({ unit: fc.constantFrom("a", "Z", "1", " ", ".", ",", "\n", "é", "中"), maxLength: 40 });
  const place = fc.constantFrom<(log: Log, text: string) => void>(
    (log, text) => log.info(text),
    (log, text) => log.info("x", { reason: text, detail: [text], reasons: [text, text], code: text, requestId: text }),
    (log, text) => log.info("x", { [text]: text, authHeader: text, nested: { reason: text } }),
    (log, text) => log.warn("x", { provider: { code: text, [text]: 1, reason: { code: text } }, userId: text }),
    (log, text) => log.error("x", new Error(text)),
    (log, text) => log.error("x", new Error("outer", { cause: new TypeError("middle", { cause: text }) })),
    (log, text) =>
      log.error("x", Object.assign(new Error("x"), { name: text, stack: `Error: ${text}\n    at f (${text})` })),
    (log, text) => log.error("x", text, { route: text }),
    (log, text) => log.error("x", { message: text, toString: () => text }),
  );

  test("of a known form never appears, wherever it is put", () => {
    fc.assert(
      fc.property(secret, around, around, place, fc.boolean(), ({ said, canary }, before, after, put, development) => {
        const { log, lines } = recorded({ development });
        put(log, `${before} ${said} ${after}`);
        expect(lines).toHaveLength(1);
        expect(lines[0]).not.toContain(canary);
        expect(lines[0]).not.toContain("\n");
        JSON.parse(lines[0] ?? "");
      }),
      { numRuns: 1_000 },
    );
  });

  test("that the configuration names never appears, in any form and cut at any place", () => {
    const key = "Tr0ub4dor &3";
    fc.assert(
      fc.property(around, fc.nat(20_000), place, (before, length, put) => {
        const { log, lines } = recorded({ secrets: [key] });
        put(log, `${before}${"x ".repeat(length / 2)}${key}${key}`);
        expect(lines[0]).not.toContain("Tr0ub4dor");
      }),
    );
  });

  test("that a long text hides at the place where it is cut does not appear in part", () => {
    const canary = "Zq9".repeat(40);
    for (let length = 8_000; length < 8_300; length += 7) {
      const { log, lines } = recorded();
      const long = "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ".repeat(length / 45); // not-a-secret
      log.error("x", new Error(`${long}${canary}`));
      expect(lines[0]).not.toContain("Zq9Zq9");
    }
  });
});
