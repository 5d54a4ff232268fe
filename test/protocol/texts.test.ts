import { describe, expect, test } from "vitest";
import { langOf, textOf, TEXTS } from "../../src/protocol/texts.ts";
import { TOOL_ERROR_CODES } from "../../src/protocol/tool-result.ts";

describe("Our own sentences", () => {
  test("each is one sentence", () => {
    for (const [key, sentence] of Object.entries(TEXTS.en)) expect(sentence, key).toMatch(/^[A-Z][\u0020-\u007e]+[.]$/);
    for (const [key, sentence] of Object.entries(TEXTS.zh)) expect(sentence, key).toMatch(/\p{Script=Han}.*[。]$/u);
  });

  test("parameters are put in where the sentence names them; one that is missing leaves a mark", () => {
    expect(textOf("notice.step_limit", "en", { bound: 25 })).toBe(
      "I stopped: this took more steps than I am allowed (25).",
    );
    expect(textOf("notice.step_limit", "zh", { bound: 25 })).toBe("步骤数超出允许范围（25），我已停止。");
    expect(textOf("notice.step_limit", "en")).toContain("(?)");
    expect(textOf("notice.step_limit", "en", { bound: "{figure} $&" })).toContain("({figure} $&)");
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
