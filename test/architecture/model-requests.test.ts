/**
 * One upstream request per attempt, and none by itself after it: no module on the way to the model waits before it asks
 * again, asks in a loop, or lets its client do so. Attempts are the core's, and back-off belongs to `test/live`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const EFFECTS = join(import.meta.dirname, "../../src/effects");
const onTheWay = readdirSync(EFFECTS, { recursive: true, encoding: "utf8" })
  .filter((path) => /^(model-|stream\/|request-|own-deadline)/.test(path) && path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(EFFECTS, path), "utf8") }));

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");

const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a sleep", /\b(?:setTimeout|setInterval|sleep|delay|wait)\s*\(/],
  ["a back-off", /back-?off|jitter|Math\.(?:pow|random)/i],
  ["a client that retries", /maxRetries:(?!\s*0\b)/],
  ["a request in a loop", /\b(?:for|while)\s*\([^{]*\)\s*(?:\{[^}]*)?\b(?:send|post)\s*\(/],
  ["a retry of ours", /\b(?:retry|retrying|retryOnce|withRetry|withRetries|askAgain|tryAgain)\s*\(/],
];

export const wrongIn = (text: string): string[] =>
  FORBIDDEN.filter(([, pattern]) => pattern.test(withoutComments(text))).map(([what]) => what);

describe("between the core and the model", () => {
  test.each(onTheWay)("$path waits for nothing and asks nobody again", ({ text }) => {
    expect(wrongIn(text)).toEqual([]);
  });

  test("there is one place that asks and one that sends, with a client that never retries", () => {
    const places = (pattern: RegExp) =>
      onTheWay.flatMap(
        ({ path, text }) =>
          withoutComments(text)
            .match(pattern)
            ?.map(() => path) ?? [],
      );
    expect(places(/\bclient\.send\(/g)).toEqual(["model-reader.ts"]);
    expect(places(/\bopenai\.\w+\(/g)).toEqual(["model-client.ts"]);
    expect(places(/\bnew OpenAI\(/g)).toEqual(["model-client.ts"]);
    expect(places(/maxRetries: 0,/g)).toEqual(["model-client.ts"]);
  });
});

test.each([
  ["a sleep", "await new Promise((r) => setTimeout(r, 100));"],
  ["a back-off", "const ms = base * 2 ** n + Math.random();"],
  ["a client that retries", "new OpenAI({ maxRetries: 2 });"],
  ["a request in a loop", "for (let n = 0; n < 3; n++) { await client.send(body, signal); }"],
  ["a retry of ours", "return withRetries(body);"],
])("%s is found", (what, text) => {
  expect(wrongIn(text)).toContain(what);
});
