/** Looks through what is, or could be, committed for keys and for traces of the machine it was written on. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A line with this mark is skipped: for an example that must look real. */
const MARK = "not-a-secret";

// Each pattern is written so that it does not match its own text.
const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["an API key", /\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}/],
  ["an AWS key", /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE [K]EY-----/],
  ["a GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/],
  ["a Slack token", /\bxox[abprs]-[A-Za-z0-9-]{10,}/],
  ["a path of one machine", /(?:^|[\s"'`(=:,])\/(?:wor[k]|roo[t]|hom[e]\/[\w.-]+)\//],
  ["a package registry", /https?:\/\/[^\s"'/]*(?:registr[y]|artifactor[y]|verdacci[o]|nexu[s])[^\s"']*/i],
];

export function findSecrets(path: string, text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      line.includes(MARK)
        ? []
        : PATTERNS.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${path}:${index + 1}: ${what}`),
    );
}

/** Throws with the places, and never with what was found there. */
export async function checkNoSecrets(root: string): Promise<string> {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await run("git", listing, { cwd: root, maxBuffer: 1 << 26 });
  const paths = [...new Set(stdout.split("\0"))].filter((path) => path !== "");
  if (paths.length === 0) throw new Error("git names no files");
  const found = await Promise.all(
    paths.map(async (path) => {
      try {
        return findSecrets(path, await readFile(join(root, path), "utf8"));
      } catch (error) {
        // Tracked, and removed in the work tree.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    }),
  );
  const places = found.flat();
  if (places.length > 0) throw new Error(places.join("\n"));
  return `${paths.length} files`;
}
