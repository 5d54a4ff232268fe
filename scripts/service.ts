/** The service as a process of its own, for the programs that prove something: started, killed hard, started again. */
import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { owned, signalGroup } from "./process-group.ts";

const root = join(import.meta.dirname, "..");
const READY = /ready on (http:\/\/127\.0\.0\.1:\d+)/;

export interface Service {
  readonly baseUrl: string;
  readonly output: () => string;
  readonly pid: number;
  /** SIGKILL to the whole process group: no handler runs, nothing is flushed. Resolves when the port is free again. */
  readonly kill: () => Promise<void>;
  /** Ends it politely. */
  readonly stop: () => Promise<void>;
}

export interface ServiceOptions {
  readonly port: number;
  readonly stateDir: string;
  readonly env?: Record<string, string>;
  readonly readyMs?: number;
}

export interface RuntimeOptions extends Omit<ServiceOptions, "env"> {
  /** Where `bundleInto` has put the Worker. */
  readonly bundleDir: string;
  readonly vars?: Record<string, string>;
  /** Requests of one user, and of one tenant, in a minute. Absent: the platform counts none. */
  readonly rates?: { readonly user: number; readonly tenant: number };
}

/** A port on 127.0.0.1 that nobody uses now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** As `npm start` does. */
export function startService({ port, stateDir, env = {}, readyMs }: ServiceOptions): Promise<Service> {
  return start("scripts/start.ts", port, { PORT: String(port), HOLDPOINT_STATE_DIR: stateDir, ...env }, readyMs);
}

/** The bundle under a bare runtime: ready in a second, and without anything that would start it again. */
export function startRuntime({ readyMs, ...options }: RuntimeOptions): Promise<Service> {
  const { port } = options;
  const RUNTIME = JSON.stringify({ vars: {}, ...options });
  return start("scripts/runtime/host.ts", port, { RUNTIME }, readyMs);
}

async function start(program: string, port: number, env: Record<string, string>, readyMs = 60_000): Promise<Service> {
  const child = owned(
    spawn(process.execPath, [join(root, program)], {
      cwd: root,
      // A group of its own, so that one signal reaches every process of the service.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    }),
  );
  let output = "";
  const baseUrl = await new Promise<string>((resolve, reject) => {
    const give = (error: Error) => {
      signalGroup(child, "SIGKILL");
      reject(error);
    };
    const timer = setTimeout(() => give(new Error(`not ready after ${readyMs} ms\n${output}`)), readyMs);
    const listen = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-200_000);
      const found = READY.exec(output);
      if (found?.[1] === undefined) return;
      clearTimeout(timer);
      resolve(found[1]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", (code) => give(new Error(`the service ended with ${code}\n${output}`)));
  });
  return {
    baseUrl,
    output: () => output,
    pid: child.pid ?? 0,
    kill: () => end(child, "SIGKILL", port),
    stop: () => end(child, "SIGTERM", port),
  };
}

async function end(child: ChildProcess, name: "SIGKILL" | "SIGTERM", port: number): Promise<void> {
  signalGroup(child, name);
  for (let waited = 0; waited < 20_000; waited += 20) {
    if (await isFree(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`port ${port} is still in use`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
