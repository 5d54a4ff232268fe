/** Bundles the Worker as a deployment would, into a folder, once per call. Sends nothing. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { QUIET_WRANGLER, WRANGLER } from "../settings.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** @param entry another than the service's own, from the project's root; its file is called index.ts as well */
export async function bundleInto(outdir: string, entry?: string): Promise<string> {
  const args = [join(root, WRANGLER), "deploy", ...(entry ? [entry] : []), "--dry-run", "--outdir", outdir];
  await run(process.execPath, args, { cwd: root, env: { ...process.env, ...QUIET_WRANGLER } });
  return outdir;
}
