/** The bad inputs as data: enough of them, each with what it must not cause; the running is `npm run security`. */
import { describe, expect, test } from "vitest";
import { readCases } from "../../rigs/security/case.ts";
import { fill } from "../../rigs/security/fill.ts";

describe("the bad inputs", () => {
  const cases = readCases();

  test("are many, over many threats, and each is said once", () => {
    expect(cases.length).toBeGreaterThanOrEqual(180);
    expect(new Set(cases.map(({ row }) => row)).size).toBeGreaterThanOrEqual(45);
    const said = cases.map(({ row, what }) => `${row} ${what}`);
    expect(said.filter((one, n) => said.indexOf(one) !== n)).toEqual([]);
  });

  test("each has an answer that it must get, and something that must not come of it", () => {
    for (const { id, expect: expected, absent } of cases) {
      const { status, statuses, problem, close, frame, run } = expected;
      expect([id, [status, statuses, problem, close, frame, run].some((part) => part !== undefined)]).toEqual([
        id,
        true,
      ]);
      expect([id, absent.length > 0]).toEqual([id, true]);
    }
  });

  test("are mostly refused: what is answered with a success says what must not stand in it, or what it must not do", () => {
    const well = cases.filter(({ expect: { status = 0 } }) => status >= 200 && status <= 299);
    expect(well.length).toBeLessThan(cases.length / 10);
    for (const { id, expect: expected, absent } of well) {
      expect([id, expected.hasNot !== undefined || absent.includes("backend")]).toEqual([id, true]);
    }
  });
});

describe("a case's names", () => {
  test("are filled everywhere, and one that is not there is an error", () => {
    const names = { run: "r1" };
    expect(fill({ a: ["{{run}}", 1, null], "{{run}}": true }, names)).toEqual({ a: ["r1", 1, null], r1: true });
    expect(() => fill("{{nothing}}", names)).toThrow("nothing is called nothing");
    const fresh = fill(["{{fresh}}", "{{fresh}}"], names);
    expect(new Set(fresh as string[]).size).toBe(2);
  });

  test("stand beside what JSON cannot say", () => {
    expect(fill({ $join: ["<", { $repeat: ["ab", 3] }, "{{run}}>"] }, { run: "r1" })).toBe("<abababr1>");
    expect(fill({ $bytes: [255, 0] }, {})).toEqual(new Uint8Array([255, 0]));
    expect(fill({ $zeros: 3 }, {})).toEqual(new Uint8Array(3));
    expect(() => fill({ $unheard: [1] }, {})).toThrow("nothing is called $unheard");
  });
});
