/** The size of what a deployment uploads, against budgets.json. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { QUIET_WRANGLER, WRANGLER } from "./settings.ts";

const run = promisify(execFile);

async function budget(root: string): Promise<number> {
  const budgets: unknown = JSON.parse(await readFile(join(root, "budgets.json"), "utf8"));
  const bytes = (budgets as { worker?: { gzipBytes?: unknown } }).worker?.gzipBytes;
  if (typeof bytes !== "number") throw new Error("budgets.json holds no number worker.gzipBytes");
  return bytes;
}

/** Bundles as a deployment would, sends nothing, and counts every module but not source maps. Throws over budget. */
export async function checkBundleSize(root: string): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), "holdpoint-bundle-"));
  try {
    await run(
      process.execPath,
      [join(root, WRANGLER), "deploy", "--dry-run", "--env", "production", "--outdir", outdir],
      { cwd: root, env: { ...process.env, ...QUIET_WRANGLER } },
    );
    const names = (await readdir(outdir)).filter((name) => !name.endsWith(".map") && name !== "README.md");
    if (!names.includes("index.js")) throw new Error(`the bundle has no index.js, only ${names.join(", ")}`);
    const sizes = await Promise.all(names.map(async (name) => gzipSync(await readFile(join(outdir, name))).length));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const limit = await budget(root);
    const summary = `${bytes} of ${limit} bytes after gzip`;
    if (bytes > limit) throw new Error(`the Worker is too large: ${summary}`);
    return summary;
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}
