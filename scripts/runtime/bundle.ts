/** Bundles the Worker as a deployment would, into a folder, once per call. Sends nothing. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { QUIET_WRANGLER, WRANGLER } from "../settings.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

export async function bundleInto(outdir: string): Promise<string> {
  const args = [join(root, WRANGLER), "deploy", "--dry-run", "--outdir", outdir];
  await run(process.execPath, args, { cwd: root, env: { ...process.env, ...QUIET_WRANGLER } });
  return outdir;
}
