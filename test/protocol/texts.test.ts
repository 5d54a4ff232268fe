import { describe, expect, test } from "vitest";
import { langOf, textOf, TEXTS } from "../../src/protocol/texts.ts";
import { TOOL_ERROR_CODES } from "../../src/protocol/tool-result.ts";

describe("Our own sentences", () => {
  test("both languages have the same keys, none empty, none left in the other language", () => {
    expect(Object.keys(TEXTS.zh)).toEqual(Object.keys(TEXTS.en));
    for (const [key, sentence] of Object.entries(TEXTS.en)) expect(sentence, key).toMatch(/^[A-Z][\u0020-\u007e]+[.]$/);
    for (const [key, sentence] of Object.entries(TEXTS.zh)) expect(sentence, key).toMatch(/\p{Script=Han}.*[。]$/u);
  });

  test("every code that a tool result of ours may carry has one", () => {
    for (const code of TOOL_ERROR_CODES) expect(textOf(`call.${code}`, "en"), code).not.toBe("");
  });

  test("every stop of which the user is told has one", () => {
    const told = ["tool_circuit_open", "step_limit", "token_limit", "deadline_exceeded", "budget_exhausted"];
    for (const code of told) expect(textOf(`notice.${code}`, "zh"), code).not.toBe("");
  });

  test("a key that is none has no sentence, inherited names included", () => {
    for (const key of ["call.nonsense", "constructor", "toString", "__proto__"]) expect(textOf(key, "en")).toBe("");
  });

  test.each([
    ["zh", "zh"],
    ["zh-CN", "zh"],
    ["ZH-Hant-TW", "zh"],
    ["en-GB", "en"],
    ["de", "en"],
    [undefined, "en"],
  ])("a locale of %s reads %s", (locale, lang) => {
    expect(langOf(locale)).toBe(lang);
  });
});
