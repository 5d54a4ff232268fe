/** What can end an object in a test is not part of what is deployed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleInto } from "../../scripts/runtime/bundle.ts";
import { DEATHS, POINTS } from "../crash-points/points.ts";

const dir = mkdtempSync(join(tmpdir(), "holdpoint-bundle-"));
let bundle = "";

beforeAll(async () => {
  await bundleInto(dir);
  const scripts = readdirSync(dir).filter((name) => name.endsWith(".js"));
  bundle = scripts.map((name) => readFileSync(join(dir, name), "utf8")).join("\n");
}, 120_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("the bundle is the service", () => {
  for (const known of ["ConversationObject", "woke_with_unfinished_work", "transactionSync"]) {
    expect(bundle).toContain(known);
  }
});

test("it has none of the crash points, and nothing that arms them", () => {
  expect(POINTS.filter((point) => bundle.includes(point))).toEqual([]);
  expect(DEATHS).toHaveLength(3);
  for (const armed of ["Mortal", "armFetch", "armedPlatform", "killed on purpose", "crash-points"]) {
    expect(bundle).not.toContain(armed);
  }
});

test("no source of the service reaches into the tests, or ends an object by itself", () => {
  const sources = readdirSync(join(import.meta.dirname, "../../src"), { recursive: true, encoding: "utf8" });
  const code = sources
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(import.meta.dirname, "../../src", path), "utf8"))
    .join("\n");
  expect(code).not.toMatch(/from "[^"]*test\//);
  expect(code).not.toMatch(/\.abort\(\s*["'`]/);
});
