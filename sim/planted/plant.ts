/**
 * Plants a bug: sources of the service are changed as they are loaded, in this process only. Each change must fit its
 * file exactly once, or the bug is not the one that it says; a change that does not fit ends the process.
 */
import { registerHooks } from "node:module";
import { BUGS } from "./bugs.ts";

export function plant(name: string): void {
  if (name === "") return;
  const bug = BUGS.find((one) => one.name === name);
  if (!bug) throw new Error(`there is no planted bug ${name}`);
  const left = new Set(bug.changes);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const mine = bug.changes.filter(({ file }) => url.endsWith(`/src/${file}`));
      if (mine.length === 0) return loaded;
      let source = String(loaded.source);
      for (const change of mine) {
        const parts = source.split(change.find);
        if (parts.length !== 2) throw new Error(`${name}: ${change.file} has ${parts.length - 1} of: ${change.find}`);
        source = parts.join(change.replace);
        left.delete(change);
      }
      return { ...loaded, source };
    },
  });
  process.on("exit", () => {
    for (const { file } of left) console.error(`${name}: ${file} was never loaded`);
    if (left.size > 0) process.exitCode = 1;
  });
}
