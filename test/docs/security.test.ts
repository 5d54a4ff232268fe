/** docs/security.md against the bad inputs and the tests that it names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCases } from "../../rigs/security/case.ts";
import { VARIABLES } from "../../src/edge/variables.ts";
import { RATES } from "../../src/protocol/limits.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/security.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => /^\| \d+ +\|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, n = "", threat = "", control = "", tests = ""]) => ({ n: Number(n), threat, control, tests }));
const cases = readCases();
const idsIn = (text: string) => [...text.matchAll(/`([A-G]\d{2})`/g)].map(([, id = ""]) => id);

describe("the threat table", () => {
  test("has every threat once, in order, each with a control and what tests it", () => {
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 71 }, (_, at) => at + 1));
    for (const { n, threat, control, tests } of rows) {
      expect([n, threat.length > 5, control.length > 5, tests.length > 4]).toEqual([n, true, true, true]);
    }
  });

  test("names the bad inputs of each row, and no others", () => {
    const known = new Set(cases.map(({ id }) => id.slice(0, 3)));
    for (const { n, tests } of rows) {
      const own = [...known].filter((id) => Number(id.slice(1)) === n);
      const named = idsIn(tests);
      expect([n, own.filter((id) => !named.includes(id))]).toEqual([n, []]);
      expect([n, named.filter((id) => !known.has(id))]).toEqual([n, []]);
    }
  });
});

test("every test and script that the page names is there", () => {
  const paths = [...page.matchAll(/`((?:test|src|rigs)\/[\w./-]*)`/g)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("says the limits as they are", () => {
  const { commandBurst, commandsPerMinute } = RATES;
  expect(page).toContain(`(${commandBurst.toLocaleString("en")}, ${commandsPerMinute.toLocaleString("en")})`);
  const toml = readFileSync(join(root, "wrangler.toml"), "utf8");
  const production = [...toml.matchAll(/\[\[env\.production\.ratelimits\]\][^[]*limit = (\d+)/g)].map(([, n]) =>
    Number(n),
  );
  expect(page).toContain(`production: ${production.map((n) => n.toLocaleString("en")).join(" and ")} a minute`);
});

test("says of each secret variable how it is rotated", () => {
  const secrets = Object.keys(VARIABLES).filter((name) => /(SECRET|KEY)$/.test(name));
  expect(secrets.filter((name) => !page.includes(`| \`${name}\``) && !page.includes(`\`${name}\` |`))).toEqual([]);
});
