import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { FEATURES } from "../../scripts/readme/features.ts";
import { READMES, renewed } from "../../scripts/readme/readmes.ts";
import { filled, namesIn, unpadded } from "../../scripts/readme/sections.ts";
import { PARTS } from "../../scripts/readme/tables.ts";
import { PAGES } from "../../scripts/transcript/pages.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const readmes = Object.keys(READMES);
const pages = [...globSync("*.md", { cwd: root }), ...globSync("docs/**/*.md", { cwd: root })];
const withoutCode = (text: string) => text.replaceAll(/```[^]*?```/g, "").replaceAll(/`[^`\n]*`/g, "");

describe.each(readmes)("%s", (file) => {
  test("has each generated part, as the code makes it now: npm run readme", () => {
    expect(namesIn(read(file)).toSorted()).toEqual([...Object.keys(PARTS), "example"].toSorted());
    expect(unpadded(read(file))).toBe(unpadded(renewed(root, file, read(file))));
  });

  test("says set-up, shell and configuration exactly as the other one", () => {
    const blocks = (text: string) => text.match(/^ *```(?:sh|bash|toml|ts)\n[^]*?^ *```$/gm) ?? [];
    expect(blocks(read(file)).length).toBeGreaterThan(10);
    expect(blocks(read(file))).toEqual(blocks(read("README.md")));
  });

  test("a part that has aged is noticed", () => {
    const aged = filled(read(file), (name) => (name === "limits" ? "| what | bound |" : "as it was"));
    expect(unpadded(aged)).not.toBe(unpadded(renewed(root, file, aged)));
  });
});

describe("the feature table", () => {
  test("has every row of the requirements once, in order", () => {
    expect(FEATURES.map(({ n }) => n)).toEqual(Array.from({ length: 39 }, (_, at) => at + 1));
  });

  test.each(FEATURES)("row $n says what is missing, or where it is tested", ({ status, gap, tests }) => {
    const told = { works: gap === undefined && tests.length > 0, partly: gap !== undefined, next: true };
    expect(told[status]).toBe(true);
    expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe.each(pages)("%s", (file) => {
  const text = withoutCode(read(file));

  test("links to what is there", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.split("#", 2);
        const target = path === "" ? file : join(dirname(file), path);
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  test("names only scripts that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...read(file).matchAll(/\bnpm run (?:-s )?([a-z][a-z0-9:-]*)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

test("the page of guarantees has its figures as the rigs have kept them: npm run readme", () => {
  const text = read("docs/guarantees.md");
  expect(namesIn(text)).toEqual(["reliability"]);
  expect(unpadded(renewed(root, "docs/guarantees.md", text))).toBe(unpadded(text));
  for (const report of ["sim", "crash", "crash-points", "soak", "outage"])
    expect(text).toContain(`npm run ${report}\`, \``);
});

/** As GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
      .replaceAll(" ", "-"),
  );

describe("the transcript", () => {
  test.each(PAGES)("in $lang shows every scene whose agent it has", ({ file, scenes }) => {
    const text = read(`docs/${file}`);
    const shown = scenes.filter(({ title }) => text.includes(`## ${title}\n`));
    expect(shown.length).toBe(scenes.length);
    for (const { lines } of shown) for (const line of lines) expect(text).toContain(`> ${line}\n`);
  });

  test("says the same in both languages: as many scenes, as many lines", () => {
    const [en, zh] = PAGES.map(({ scenes }) => scenes.map(({ agent, lines }) => [agent, lines.length]));
    expect(zh).toEqual(en);
  });
});
