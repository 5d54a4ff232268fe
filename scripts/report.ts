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

/** Prints the last line and ends the process: non-zero unless everything held. */
export function finish(ok: boolean, figures: Record<string, unknown>): never {
  console.log(JSON.stringify({ ok, commit: commit(), at: new Date().toISOString(), ...figures }));
  process.exit(ok ? 0 : 1);
}
