/** What earlier versions have written, as `scripts/golden.ts` has kept it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Run } from "../../src/protocol/run.ts";
import { unpack } from "./archive.ts";

/** A conversation, and what its API told of it. */
export interface GoldenConversation {
  readonly id: string;
  readonly owner: string;
  readonly tenantId: string;
  /** JSON of its events, as they were given to its owner. */
  readonly log: readonly string[];
  /** What its run waits for; absent: it is at rest. */
  readonly waitsFor?: NonNullable<Run["phase"]>;
}

export const GOLDEN = join(import.meta.dirname, "../../test/golden");

export const goldenVersions = (): string[] =>
  readdirSync(GOLDEN, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

export const goldenLogs = (version: string): GoldenConversation[] =>
  JSON.parse(gunzipSync(readFileSync(join(GOLDEN, version, "logs.json.gz"))).toString("utf8")) as GoldenConversation[];

/** The data folder, put into `dir`. @returns its files */
export const goldenStorage = (version: string, dir: string): string[] =>
  unpack(readFileSync(join(GOLDEN, version, "storage.gz")), dir);
