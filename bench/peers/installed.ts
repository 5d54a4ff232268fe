/**
 * A peer's packages, installed on demand into a cache of the user's: never among the project's dependencies. One folder
 * for each state of the peer's own files; a second run finds it.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const DONE = "installed";

/** @returns the folder with the peer's files and its packages */
export async function installed(name: string): Promise<string> {
  const from = join(import.meta.dirname, name);
  const files = readdirSync(from).toSorted();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(from, file)));
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const to = join(cache, "holdpoint-bench", `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(join(to, DONE))) return to;
  console.log(`installing ${name} into ${to}`);
  mkdirSync(to, { recursive: true });
  for (const file of files) copyFileSync(join(from, file), join(to, file));
  await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: to, maxBuffer: 1 << 26 });
  if (files.includes("build.mjs")) await run(process.execPath, ["build.mjs"], { cwd: to });
  writeFileSync(join(to, DONE), "");
  return to;
}
