/** docs/state-table.md against the code: every phase with every input, whether the page writes the cell out or not. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { INPUTS, outcomeOf, PHASES } from "./cells.ts";

const ELSEWHERE = "Everywhere else";

/** Phase → input → what follows, as the page has it. */
function parse(page: string): Map<string, Map<string, string>> {
  const phases = new Map<string, Map<string, string>>();
  for (const section of page.split(/^## /m).slice(1)) {
    const [name = "", ...lines] = section.split("\n");
    const rows = lines.filter((line) => line.startsWith("| ")).slice(2);
    const cells = new Map<string, string>();
    for (const row of rows) {
      const [, inputs = "", follows = ""] = row.split("|").map((cell) => cell.trim());
      for (const input of inputs.split(" · ")) {
        if (cells.has(input)) throw new Error(`${name} names "${input}" twice`);
        cells.set(input, follows);
      }
    }
    phases.set(name, cells);
  }
  return phases;
}

const page = parse(readFileSync(join(import.meta.dirname, "../../docs/state-table.md"), "utf8"));

test("The page names exactly the phases and inputs that there are", () => {
  expect([...page.keys()].toSorted()).toEqual([ELSEWHERE, ...Object.keys(PHASES)].toSorted());
  expect([...(page.get(ELSEWHERE)?.keys() ?? [])].toSorted()).toEqual(Object.keys(INPUTS).toSorted());
  for (const cells of page.values()) expect(Object.keys(INPUTS)).toEqual(expect.arrayContaining([...cells.keys()]));
});

test("No row says what Everywhere else says already", () => {
  const idle = [...page].flatMap(([phase, cells]) =>
    phase === ELSEWHERE
      ? []
      : [...cells]
          .filter(([input, follows]) => page.get(ELSEWHERE)?.get(input) === follows)
          .map(([input]) => `${phase}: ${input}`),
  );
  expect(idle).toEqual([]);
});

describe.each(Object.entries(PHASES))("%s", (name, phase) => {
  test.each(Object.entries(INPUTS))("%s", (input, act) => {
    const follows = page.get(name)?.get(input) ?? page.get(ELSEWHERE)?.get(input);
    expect(outcomeOf(phase, act)).toBe(follows);
  });
});
