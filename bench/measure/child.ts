/** Processes of a measurement: started, waited for by a word of theirs or by their port, and ended with their group. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { owned, signalGroup } from "../../scripts/process-group.ts";

const READY_MS = 60_000;

export interface Child {
  readonly pid: number;
  readonly end: (signal?: "SIGTERM" | "SIGKILL") => Promise<void>;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Ready when somebody listens there. */
  readonly port: number;
  readonly log?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export async function startChild({ command, args, port, log, env = {}, cwd }: ChildOptions): Promise<Child> {
  const output = log === undefined ? "ignore" : openSync(log, "a");
  const child = owned(
    spawn(command, args, {
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    }),
  );
  if (typeof output === "number") closeSync(output);
  let ended = false;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      ended = true;
      resolve();
    });
  });
  const until = Date.now() + READY_MS;
  while (!(await listens(port))) {
    if (ended || Date.now() > until) {
      signalGroup(child, "SIGKILL");
      throw new Error(`${command} does not listen on ${port}${log === undefined ? "" : `, see ${log}`}`);
    }
    await setTimeout(10);
  }
  return {
    pid: child.pid ?? 0,
    end: async (name = "SIGTERM") => {
      signalGroup(child, name);
      await exited;
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
