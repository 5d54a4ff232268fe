import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { checkTree, type Tree } from "./architecture/check.ts";
import { readModule } from "./architecture/imports.ts";
import { checkSql } from "./architecture/sql.ts";
import { FOLDERS, ROOTS } from "./architecture/table.ts";

const SRC = join(import.meta.dirname, "..", "src");

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });
}

const inSrc = (path: string): string =>
  path
    .slice(SRC.length + 1)
    .split(sep)
    .join("/");
const tree: Tree = new Map(walk(SRC).map((path) => [inSrc(path), readFileSync(path, "utf8")]));
// Here and once: parsing everything takes longer than a test may on a busy machine.
const checked = checkTree(tree);

describe("this source tree", () => {
  test("keeps to the table of imports", () => {
    expect(checked.violations).toEqual([]);
  });

  test("was read whole: as many modules as a glob finds by itself", () => {
    const found = globSync("**/*.{ts,tsx}", { cwd: SRC });
    expect(found.length).toBeGreaterThan(1);
    expect([...checked.modules].sort()).toEqual(found.map((path) => path.split(sep).join("/")).sort());
  });

  test("holds no folder that the table does not name, not even an empty one", () => {
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map((entry) => entry.name).filter((name) => !Object.hasOwn(FOLDERS, name))).toEqual([]);
  });

  test("has all its roots", () => {
    expect(ROOTS.filter((root) => !tree.has(root))).toEqual([]);
  });
});

describe("the checker", () => {
  const allowed = new Map([
    ["index.ts", `export { ConversationObject } from "./conversation-object.ts";`],
    ["conversation-object.ts", `import { decide } from "./run/decide.ts"; export const x = decide;`],
    ["protocol/ids.ts", `import * as z from "zod"; export const Id = z.string();`],
    ["run/decide.ts", `import type { Id } from "../protocol/ids.ts"; export const decide = (id: Id) => id;`],
    ["actor/ports.ts", `export type Clock = { now(): number };`],
    ["actor/actor.ts", `import type { Clock } from "./ports.ts"; export const a = (c: Clock) => c;`],
    ["history/read-runs.ts", `export const runs = 1;`],
    ["history/project.ts", `import sql from "./project.sql"; export const project = sql;`],
    ["history/project.sql", `SELECT 1;`],
    [
      "edge/app.ts",
      `import { Hono } from "hono"; import { runs } from "../history/read-runs.ts"; export { Hono, runs }; export const n = 1;`,
    ],
    ["edge/rpc.ts", `import type { Rpc } from "cloudflare:workers"; export type R = Rpc;`],
  ]);
  const planted = (path: string, text: string) => checkTree(new Map([...allowed, [path, text]])).violations;

  test("accepts what the table allows", () => {
    expect(checkTree(allowed).violations).toEqual([]);
  });

  test.each([
    [
      "a folder that may not",
      "run/x.ts",
      `import { a } from "../actor/actor.ts"; export const x = a;`,
      "may not import actor/actor.ts",
    ],
    ["a package that may not", "run/x.ts", `import * as z from "zod"; export const x = z;`, "may not import zod"],
    [
      "a deep path of a package",
      "edge/x.ts",
      `import O from "openai/resources"; export const x = O;`,
      "may not import openai/resources",
    ],
    [
      "a Node module",
      "protocol/x.ts",
      `import { readFile } from "node:fs"; export const x = readFile;`,
      "may not import node:fs",
    ],
    [
      "a file that is no port",
      "storage/x.ts",
      `import { a } from "../actor/actor.ts"; export const x = a;`,
      "may not import actor/actor.ts",
    ],
    [
      "a file that is no reader",
      "edge/x.ts",
      `import { project } from "../history/project.ts"; export const x = project;`,
      "may not import history/project.ts",
    ],
    [
      "a value where only types may",
      "effects/x.ts",
      `import { decide } from "../run/decide.ts"; export const x = decide;`,
      "may not import run/decide.ts",
    ],
    [
      "a runtime value of Cloudflare in edge",
      "edge/x.ts",
      `import { env } from "cloudflare:workers"; export const x = env;`,
      "may not import cloudflare:workers",
    ],
    [
      "through import()",
      "run/x.ts",
      `export const x = () => import("../actor/actor.ts");`,
      "may not import actor/actor.ts",
    ],
    [
      "through a type import()",
      "run/x.ts",
      `export type X = import("../actor/ports.ts").Clock;`,
      "may not import the types of actor/ports.ts",
    ],
    [
      "through export from",
      "run/x.ts",
      `export * from "../actor/ports.ts"; export const x = 1;`,
      "may not import actor/ports.ts",
    ],
    [
      "through require()",
      "run/x.ts",
      `declare const require: any; export const x = require("hono");`,
      "may not import hono",
    ],
    ["a computed path", "run/x.ts", "export const x = (n: string) => import(`../${n}.ts`);", "not a literal"],
    [
      "a root",
      "edge/x.ts",
      `import { x } from "../conversation-object.ts"; export const y = x;`,
      "may not import the root",
    ],
    ["a test", "run/x.ts", `import { f } from "../../test/fake.ts"; export const x = f;`, "leaves src/"],
    [
      "a path without extension",
      "run/x.ts",
      `import { decide } from "./decide"; export const x = decide;`,
      "write the extension",
    ],
  ])("refuses importing %s", (_what, path, text, message) => {
    const violations = planted(path, text);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(message);
  });

  test.each([
    ["a folder that the table does not name", "helpers/x.ts", `export const x = 1;`, "no folder helpers/"],
    ["a root that the table does not name", "x.ts", `export const x = 1;`, "is no root"],
    ["an index file", "run/index.ts", `export const x = 1;`, "is an index file"],
    ["a barrel by another name", "run/all.ts", `export * from "./decide.ts";`, "is a barrel"],
    ["a barrel in two steps", "run/all.ts", `import { decide } from "./decide.ts"; export { decide };`, "is a barrel"],
    ["a file it could not read", "run/x.mjs", `export const x = 1;`, "neither a TypeScript module"],
  ])("refuses %s", (_what, path, text, message) => {
    expect(planted(path, text).join("\n")).toContain(message);
  });

  test("finds a cycle that only types close", () => {
    const cyclic = new Map([
      ["run/a.ts", `import { b } from "./b.ts"; export const a = b; export type A = 1;`],
      ["run/b.ts", `import type { A } from "./a.ts"; export const b: A = 1;`],
    ]);
    expect(checkTree(cyclic).violations).toEqual(["cycle: run/a.ts -> run/b.ts -> run/a.ts"]);
  });

  test("does not take a comment or a string for an import", () => {
    const text = `// import "hono"\nexport const x = 'import "hono"';`;
    expect(readModule("x.ts", text).imports).toEqual([]);
  });

  test("throws at a file that does not parse", () => {
    expect(() => readModule("x.ts", "export const = ;")).toThrow("x.ts");
  });
});

describe("the SQL of this source tree", () => {
  const { violations, statements } = checkSql(tree);

  test("is narrowed to a tenant wherever tenants share a table", () => {
    expect(violations).toEqual([]);
  });

  test("was found, in both folders", () => {
    expect(statements.filter(({ path }) => path.startsWith("history/")).length).toBeGreaterThan(20);
    expect(statements.filter(({ path }) => path.startsWith("tenant/")).length).toBeGreaterThan(5);
  });

  test("in tenant/ reaches no database that tenants share", () => {
    const shared = [...tree].filter(
      ([path, text]) => path.startsWith("tenant/") && /\bD1Database\b|\.prepare\(/.test(text),
    );
    expect(shared.map(([path]) => path)).toEqual([]);
  });
});

describe("the checker of SQL", () => {
  const found = (path: string, text: string) => checkSql(new Map([[path, text]])).violations;

  test.each([
    ["a read of everybody's rows", "history/x.ts", 'db.prepare("SELECT * FROM messages WHERE conversation_id = ?");'],
    ["a write to anybody's rows", "history/x.ts", "run(`UPDATE runs SET status = ?1 WHERE run_n = ?2`);"],
    ["a deletion", "history/x.ts", 'const GONE = "DELETE FROM participants WHERE user_id = ?";'],
    [
      "a join that widens it",
      "history/x.ts",
      "x(`SELECT 1 FROM runs r JOIN messages m ON m.run_n = r.run_n WHERE r.tenant_id = ?`);",
    ],
    [
      "a subselect that widens it",
      "history/x.ts",
      "x(`SELECT 1 FROM runs WHERE tenant_id = ? AND run_n IN (SELECT run_n FROM messages)`);",
    ],
    [
      "a part by name that narrows nothing",
      "history/x.ts",
      "const MINE = `user_id = ?1`; x(`SELECT 1 FROM runs WHERE ${MINE}`);",
    ],
    ["a table of the history in a tenant's object", "tenant/x.ts", 'sql.exec("SELECT * FROM conversations");'],
  ])("refuses %s", (_, path, text) => {
    expect(found(path, text)).toHaveLength(1);
  });

  test.each([
    [
      "a part by name that narrows it",
      "history/x.ts",
      "const MINE = `tenant_id = ?1`; x(`SELECT 1 FROM runs WHERE ${MINE}`);",
    ],
    [
      "a tenant's object's own table",
      "tenant/x.ts",
      'const M = "CREATE TABLE claims (key TEXT)"; sql.exec("SELECT * FROM claims");',
    ],
    ["text that is no statement", "history/x.ts", 'throw new Error("Selected nothing from runs");'],
    ["what other folders do", "storage/x.ts", 'sql.exec("SELECT * FROM events");'],
  ])("accepts %s", (_, path, text) => {
    expect(found(path, text)).toEqual([]);
  });
});
