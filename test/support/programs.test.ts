import { spawn } from "node:child_process";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url).href);

function start(name: string, ...args: string[]) {
  const child = spawn(process.execPath, [fileOf(name), ...args], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ready = new Promise<string>((resolve) => child.stdout.once("data", (data: Buffer) => resolve(String(data))));
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { ready, exit, stop: () => child.kill("SIGTERM") };
}

function connects(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => resolve(true));
    socket.once("error", () => resolve(false)).once("close", () => socket.destroy());
    socket.setTimeout(2_000, () => socket.destroy());
  });
}

describe.each([
  ["./fake-provider.ts", ["--lenient", "--time-scale", "0.1"]],
  ["./fake-backend.ts", ["--no-dedup", "--api-key", "k"]],
])("%s as a program", (name, args) => {
  it("announces its port, listens on loopback only, and leaves on a signal", async () => {
    const program = start(name, ...args);
    const ready: { ready: boolean; port: number } = JSON.parse(await program.ready);
    expect(ready).toEqual({ ready: true, port: expect.any(Number) });
    expect((await fetch(`http://127.0.0.1:${ready.port}/__stats`)).status).toBe(200);
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4");
    const reachable = outside !== undefined && (await connects(ready.port, outside.address));
    expect(reachable).toBe(false);
    program.stop();
    expect(await program.exit).toBe(0);
  });

  it("refuses an unknown option", async () => {
    expect(await start(name, "--bogus").exit).toBe(2);
  });
});
