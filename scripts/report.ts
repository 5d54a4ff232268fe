/** What a proving command prints: its steps on stderr-like lines, and as the last line of stdout one JSON object. */
import { execFileSync } from "node:child_process";

/** The commit that is checked out, with a mark where the tree has been changed since. */
export function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  try {
    const head = git("rev-parse", "--short=12", "HEAD");
    return git("status", "--porcelain", "--untracked-files=no") === "" ? head : `${head}+changes`;
  } catch {
    return "unknown";
  }
}

/**
 * Prints the last line and ends the process: non-zero unless everything held.
 *
 * @param keep given the same object, before it is printed
 */
export function finish(
  ok: boolean,
  figures: Record<string, unknown>,
  keep: (report: object) => void = () => undefined,
): never {
  const report = { ok, commit: commit(), at: new Date().toISOString(), ...figures };
  keep(report);
  console.log(JSON.stringify(report));
  process.exit(ok ? 0 : 1);
}
