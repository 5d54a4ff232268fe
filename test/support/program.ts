/** Lets a module be both a program and importable. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Runs `start` when the module is the program itself: prints the one line that a parent process waits for,
 * `{"ready":true,"port":N}`, and leaves on SIGINT and SIGTERM.
 */
export async function runAsProgram(
  moduleUrl: string,
  start: () => Promise<{ readonly port: number; readonly close: () => Promise<void> }>,
): Promise<void> {
  if (!isProgram(fileURLToPath(moduleUrl))) return;
  try {
    const running = await start();
    const leave = (): void => {
      void running.close().then(() => process.exit(0));
    };
    process.once("SIGINT", leave);
    process.once("SIGTERM", leave);
    process.stdout.write(`${JSON.stringify({ ready: true, port: running.port })}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

function isProgram(file: string): boolean {
  try {
    return realpathSync(process.argv[1] ?? "") === realpathSync(file);
  } catch {
    return false; // Test runners and `node -e` start without a script file.
  }
}
