/** docs/runbook.md against the tests, log entries and tables that it names: each query runs on the history's schema. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/runbook.md"), "utf8");
const symptoms = page
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ title: text.slice(0, text.indexOf("\n")), text: text.split(/^## /m)[0] ?? "" }));

test("has the seven first checks and the ten failures of a confirm flow", () => {
  const [, checks = "", failures = ""] = page.split(/^## /m);
  expect([checks, failures].map((part) => part.match(/^### /gm)?.length)).toEqual([7, 10]);
});

describe.each(symptoms)("$title", ({ text }) => {
  test("says where to look, what the cause is, and what tests it", () => {
    expect([...text.matchAll(/^\*\*(Look|Cause|Test)\.\*\* \S/gm)].map(([, word]) => word)).toEqual([
      "Look",
      "Cause",
      "Test",
    ]);
  });

  test("names tests that exist", () => {
    const line = text.split("\n").find((one) => one.startsWith("**Test.**")) ?? "";
    let file = "";
    const missing: string[] = [];
    for (const [, path, name] of line.matchAll(/`(test\/[\w./-]+)`|“([^”]+)”/g)) {
      if (path !== undefined) file = path;
      const there = existsSync(join(root, file));
      if (!there || (name !== undefined && !readFileSync(join(root, file), "utf8").includes(name))) {
        missing.push(`${file} ${name ?? ""}`);
      }
    }
    expect(file).not.toBe("");
    expect(missing).toEqual([]);
  });
});

test("its queries run on the history", () => {
  const db = new DatabaseSync(":memory:");
  const folder = join(root, "migrations/history");
  for (const name of readdirSync(folder).toSorted()) db.exec(readFileSync(join(folder, name), "utf8"));
  const queries = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = ""]) => sql);
  expect(queries.length).toBeGreaterThan(8);
  for (const sql of queries) {
    const names = [...new Set(sql.match(/:(?:tenant|conversation|user|since)\b/g))];
    // Every key begins with the tenant: no query of support walks another's rows.
    expect(names).toContain(":tenant");
    db.prepare(sql).all(Object.fromEntries(names.map((name) => [name, "1"])));
  }
  db.close();
});

test("its log entries are those of the service", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(root, "src", path), "utf8"))
    .join("\n");
  const entries = [
    ...page.matchAll(
      /`((?:tool|run|limit|history|storage|settings|request|budget|ledger)_(?:failed|unknown|ended|tripped|drain_failed|unavailable|lost|refused))`/g,
    ),
  ].map(([, entry = ""]) => entry);
  expect(new Set(entries).size).toBeGreaterThan(6);
  for (const entry of entries) expect([entry, sources.includes(`"${entry}"`)]).toEqual([entry, true]);
});
