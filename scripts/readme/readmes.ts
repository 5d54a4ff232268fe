/** The pages with generated parts, their languages, and their text with every such part made anew. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filled } from "./sections.ts";
import { PARTS, type Lang } from "./tables.ts";

export const READMES: Readonly<Record<string, Lang>> = { "README.md": "en", "README.zh.md": "zh" };
export const GENERATED: Readonly<Record<string, Lang>> = { ...READMES, "docs/guarantees.md": "en" };

/** @param root the repository's folder */
export function renewed(root: string, file: string, text: string): string {
  const lang = GENERATED[file] ?? "en";
  return filled(text, (name) => {
    if (name === "example") return example(root);
    const make = PARTS[name];
    if (!make) throw new Error(`${file}: nobody makes the part ${name}`);
    return make(lang);
  });
}

/** The example as a reader needs it: without its header. */
function example(root: string): string {
  const source = readFileSync(join(root, "scripts/example.ts"), "utf8");
  return `\`\`\`ts\n${source.replace(/^\/\*\*[^]*?\*\/\n/, "").trim()}\n\`\`\``;
}
