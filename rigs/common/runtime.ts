/**
 * The service as one process that can be killed and is back in a fraction of a second: Miniflare writes the runtime's
 * configuration once, for the built bundle on a data folder; then the runtime itself is started with it, again and
 * again, as the only process of a group of its own. Nothing restarts it and nothing stands before it.
 *
 * The data folder is a symbolic link, so that one configuration serves many folders.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { owned, signalGroup } from "../../scripts/process-group.ts";
import { freePort } from "../../scripts/service.ts";

const HOST = join(import.meta.dirname, "../../scripts/runtime/host.ts");
const CAPTURE_MS = 120_000;
const READY_MS = 60_000;

export interface Installation {
  readonly baseUrl: string;
  /** From now on the service keeps its data there. Only while no process of it lives. */
  readonly use: (dataDir: string) => void;
  readonly start: () => Starting;
}

export interface Starting {
  readonly pid: number;
  readonly spawnedAt: number;
  /** Resolves when the port is open; rejects when the process ended before. */
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  /** SIGKILL to the group: no handler runs, nothing is flushed. */
  readonly kill: () => Promise<void>;
}

/** Has the configuration for a built bundle written. `dir`: for it, and for the link. */
export async function install(
  dir: string,
  bundleDir: string,
  vars: Readonly<Record<string, string>>,
): Promise<Installation> {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const stateDir = join(dir, "state");
  const first = join(dir, "first");
  const use = (dataDir: string) => {
    // The runtime wants the folders that Miniflare has made, and makes none itself.
    for (const name of ["", ...(existsSync(first) ? readdirSync(first) : [])]) {
      mkdirSync(join(dataDir, name), { recursive: true });
    }
    rmSync(`${stateDir}.new`, { force: true });
    symlinkSync(dataDir, `${stateDir}.new`);
    renameSync(`${stateDir}.new`, stateDir);
  };
  use(first);
  const config = await captureConfig(dir, { port, stateDir, bundleDir, vars });
  return { baseUrl: `http://127.0.0.1:${port}`, use, start: () => start(config, join(stateDir, "service.log")) };
}

/** Miniflare starts what it takes for the runtime, which writes down what it was given. */
async function captureConfig(dir: string, options: object): Promise<string> {
  const config = join(dir, "config.bin");
  const writer = join(dir, "write-config.sh");
  writeFileSync(writer, `#!/bin/sh\ncat > '${config}.part' && mv '${config}.part' '${config}'\nexec sleep 600\n`);
  chmodSync(writer, 0o755);
  const host = owned(
    spawn(process.execPath, [HOST], {
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, MINIFLARE_WORKERD_PATH: writer, RUNTIME: JSON.stringify(options) },
    }),
  );
  let errors = "";
  host.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  try {
    for (const until = Date.now() + CAPTURE_MS; !existsSync(config);) {
      if (Date.now() > until || host.exitCode !== null) throw new Error(`no configuration came: ${errors}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    signalGroup(host, "SIGKILL");
  }
  return config;
}

function start(config: string, log: string): Starting {
  const output = openSync(log, "a");
  const child = owned(
    spawn(
      runtimeBinary(),
      [
        "serve",
        "--binary",
        "--experimental",
        "--socket-addr=entry=127.0.0.1:0",
        // Of Miniflare's own conveniences; the Worker has no use for it.
        "--external-addr=loopback=127.0.0.1:1",
        "--control-fd=3",
        config,
      ],
      { detached: true, stdio: ["ignore", output, output, "pipe"], env: { ...process.env, TZ: "UTC" } },
    ),
  );
  closeSync(output);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready after ${READY_MS} ms: ${tail(log)}`)), READY_MS);
    let heard = "";
    child.stdio[3]?.on("data", (chunk: Buffer) => {
      heard += chunk.toString();
      if (!/"socket":"direct:[^}]*\}/.test(heard)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`the runtime ended (${signal ?? code}): ${tail(log)}`));
    });
  });
  // Whoever does not wait for it must not fall over it.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    spawnedAt: performance.now(),
    ready,
    exited,
    kill: () => {
      signalGroup(child, "SIGKILL");
      return exited;
    },
  };
}

const runtimeBinary = (): string => {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const { default: path } = require("workerd") as { default: string };
  return path;
};

const tail = (log: string): string => (existsSync(log) ? readFileSync(log, "utf8").slice(-2_000) : "");
