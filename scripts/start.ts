/**
 * Runs the service on this machine: `wrangler dev` as a child of this process, on 127.0.0.1.
 *
 * PORT                 the port, 8787 by default
 * HOLDPOINT_STATE_DIR  where Durable Objects and D1 keep their data, .wrangler/state by default
 *
 * The settings in settings.ts reach the Worker through a file that only this user can read, so that a key is never an
 * argument that `ps` shows. No process leaves the group of this one: ending the group ends everything.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { envFile } from "./env-file.ts";
import { PASSED_TO_WORKER, QUIET_WRANGLER, WRANGLER } from "./settings.ts";

const root = join(import.meta.dirname, "..");
const port = process.env["PORT"] || "8787";
const stateDir = resolve(root, process.env["HOLDPOINT_STATE_DIR"] || ".wrangler/state");
if (!/^\d{1,5}$/.test(port)) {
  console.error(`PORT must be a number, not ${JSON.stringify(port)}`);
  process.exit(2);
}

// Before anything is written: a second start must not replace the settings of the first.
await new Promise<void>((free) => {
  const probe = createServer();
  probe.once("error", (error) => {
    console.error(
      `127.0.0.1:${port} cannot be used: ${error.message}. Does one run already? PORT=8788 npm start takes another port.`,
    );
    process.exit(1);
  });
  probe.listen(Number(port), "127.0.0.1", () => probe.close(() => free()));
});

const childEnv: NodeJS.ProcessEnv = {
  ...process.env,
  ...QUIET_WRANGLER,
  // Elsewhere two instances on one machine would find each other by the name they share.
  WRANGLER_REGISTRY_PATH: join(stateDir, "registry"),
};
const settings: Record<string, string> = {};
for (const name of PASSED_TO_WORKER) {
  const value = process.env[name];
  if (value !== undefined && value !== "") settings[name] = value;
  delete childEnv[name];
}

mkdirSync(stateDir, { recursive: true });
const settingsFile = join(stateDir, `settings-${port}.env`);
writeFileSync(settingsFile, envFile(settings), { mode: 0o600 });
// The mode above counts only for a file that is new.
chmodSync(settingsFile, 0o600);
process.on("exit", () => rmSync(settingsFile, { force: true }));

const child = spawn(
  process.execPath,
  [
    join(root, WRANGLER),
    "dev",
    "--ip",
    "127.0.0.1",
    "--port",
    port,
    "--inspector-port",
    "0",
    "--persist-to",
    stateDir,
    "--env-file",
    settingsFile,
    "--show-interactive-dev-session=false",
  ],
  { cwd: root, env: childEnv, stdio: ["ignore", "pipe", "pipe"] },
);

let ready = false;
for (const [stream, sink] of [
  [child.stdout, process.stdout],
  [child.stderr, process.stderr],
] as const) {
  createInterface({ input: stream }).on("line", (line) => {
    sink.write(`${line}\n`);
    const url = ready ? undefined : /Ready on (http:\/\/\S+)/.exec(line)?.[1];
    if (url !== undefined) {
      ready = true;
      process.stdout.write(`holdpoint is ready on ${url}\n`);
    }
  });
}

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), 5_000).unref();
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);

// npm hands a signal to its shell and not to this process, so under npm the end of the shell is the signal.
if (process.env["npm_lifecycle_event"] === "start") {
  const shell = process.ppid;
  setInterval(() => process.ppid !== shell && stop(), 250).unref();
}

child.on("error", (error) => {
  console.error(error);
  process.exitCode = 1;
});
child.on("close", (code) => process.exit(stopping ? 0 : (code ?? 1)));
