/**
 * Writes the generated parts of README.md, README.zh.md and docs/guarantees.md: features, figures, limits, configuration,
 * the client's example. The sources are readme/*.ts, docs/figures/*.json, src/edge/variables.ts, src/protocol/limits.ts and example.ts; test/docs tells when it is due.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GENERATED, renewed } from "./readme/readmes.ts";

const root = join(import.meta.dirname, "..");

for (const file of Object.keys(GENERATED)) {
  const path = join(root, file);
  writeFileSync(path, renewed(root, file, readFileSync(path, "utf8")));
}
// The formatter is the last: what `check` looks for is its form, not this script's.
execFileSync(join(root, "node_modules/.bin/oxfmt"), Object.keys(GENERATED), { cwd: root, stdio: "inherit" });
