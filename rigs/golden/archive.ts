/** A folder as one gzipped file: a line of JSON that names the files with their lengths, and then their bytes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

interface Entry {
  readonly path: string;
  readonly bytes: number;
}

export const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .toSorted();

export function pack(dir: string, paths: readonly string[]): Buffer {
  const files = paths.map((path) => readFileSync(join(dir, path)));
  const entries: Entry[] = files.map(({ length }, n) => ({ path: paths[n] ?? "", bytes: length }));
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...files]), { level: 9 });
}

/** @returns the paths, in order */
export function unpack(archive: Buffer, dir: string): string[] {
  const all = gunzipSync(archive);
  let at = all.indexOf("\n") + 1;
  const entries = JSON.parse(all.subarray(0, at).toString("utf8")) as readonly Entry[];
  for (const { path, bytes } of entries) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), all.subarray(at, at + bytes));
    at += bytes;
  }
  return entries.map(({ path }) => path);
}
