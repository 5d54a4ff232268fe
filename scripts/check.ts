/** `npm run check`: everything about the sources that can be told without running the service. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { checkBundleSize } from "./bundle-size.ts";
import { checkNoSecrets } from "./no-secrets.ts";
import { QUIET_WRANGLER } from "./settings.ts";
import { checkStartupTime } from "./startup-time.ts";

const root = join(import.meta.dirname, "..");
const path = [join(root, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
const env = { ...process.env, ...QUIET_WRANGLER, PATH: path };

/** Resolves to a remark for its line, throws with what is wrong. */
type Check = readonly [name: string, run: () => Promise<string>];

function command(name: string, file: string, ...args: string[]): Check {
  return [
    name,
    () =>
      new Promise((resolve, reject) => {
        execFile(file, args, { cwd: root, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
          if (error) reject(new Error(`${stdout}${stderr}`.trim() || error.message));
          else resolve("");
        });
      }),
  ];
}

function types(project: string, ...folders: string[]): Check {
  // tsc calls a project without sources an error, and one that fails for it says nothing about the sources.
  if (folders.some((folder) => existsSync(join(root, folder)))) {
    return command(`types: ${project}`, "tsc", "-p", `tsconfig.${project}.json`);
  }
  return [`types: ${project}`, async () => `no ${folders.join(", no ")} yet`];
}

const checks: readonly Check[] = [
  command("format", "oxfmt", "--check"),
  command("lint", "oxlint", "--deny-warnings"),
  types("core", "src/protocol", "src/run"),
  types("worker", "src"),
  types("node", "test", "scripts"),
  types("console", "src/client", "src/console"),
  command("architecture", "vitest", "run", "--project", "core", "test/architecture.test.ts"),
  command("generated types", "wrangler", "types", "--include-runtime=false", "--check"),
  ["bundle size", () => checkBundleSize(root)],
  ["start-up time", () => checkStartupTime(root)],
  ["no secrets", () => checkNoSecrets(root)],
];

async function report([name, run]: Check): Promise<boolean> {
  const start = performance.now();
  const line = (verdict: string, remark: string): void => {
    const ms = Math.round(performance.now() - start);
    console.log(`${verdict.padEnd(4)}  ${name.padEnd(16)} ${String(ms).padStart(6)} ms  ${remark}`.trimEnd());
  };
  try {
    line("ok", await run());
    return true;
  } catch (error) {
    line("FAIL", "");
    const message = error instanceof Error ? error.message : String(error);
    console.log(stripVTControlCharacters(message).replace(/^/gm, "      "));
    return false;
  }
}

/** No check writes in the tree, so they run side by side, one for each core. */
async function runAll(): Promise<number> {
  const waiting = [...checks];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      if (!(await report(check))) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
  return failed;
}

const failed = await runAll();
console.log(`${checks.length - failed} of ${checks.length} checks passed`);
process.exitCode = failed === 0 ? 0 : 1;
