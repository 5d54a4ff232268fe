import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const MODULE = join(import.meta.dirname, "../../scripts/process-group.ts");
/** Owns a process that would never end, says its pid, and waits. */
const OWNER = `
  import { spawn } from "node:child_process";
  import { owned } from ${JSON.stringify(MODULE)};
  const child = owned(spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: ["ignore", 1, "ignore"] }));
  console.log(child.pid);
  setInterval(() => {}, 1000);
`;

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "what a program owns ends when %s ends the program",
  async (name) => {
    // The owned process holds the program's output open, so its end is the end of that output.
    const owner = spawn(process.execPath, ["--input-type=module-typescript", "-e", OWNER], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(owner.stdout, "data");
    const ended = once(owner.stdout, "close");
    owner.kill(name);
    await ended;
    expect(owner.exitCode ?? (await once(owner, "exit"))[0]).toBeGreaterThan(128);
  },
);
